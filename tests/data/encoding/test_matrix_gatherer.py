"""Arrays as sequences: the same model as of dicts with the names of columns, and errors with row and column."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf import CRF, Model
from fastcrf.exceptions import DataError

RNG = np.random.default_rng(0)
X = [RNG.normal(size=(n, 3)) for n in (4, 1, 6, 3)]
Y = [["a" if row[0] > 0 else "b" for row in x] for x in X]


def as_dicts(arrays):
    return [[{f"f{d}": float(value) for d, value in enumerate(row)} for row in array] for array in arrays]


def fitted(sequences, labels=Y, **parameters):
    return CRF(c2=0.1, n_jobs=1, **parameters).fit(sequences, labels)


@pytest.mark.parametrize("algorithm", ["auto", "sag"])
def test_arrays_train_the_model_that_dicts_train(algorithm):
    arrays, dicts = fitted(X, algorithm=algorithm), fitted(as_dicts(X), algorithm=algorithm)
    assert arrays.attributes_ == ["f0", "f1", "f2"]
    np.testing.assert_array_equal(arrays.model_.weights, dicts.model_.weights)
    assert arrays.certificate_ == dicts.certificate_
    assert arrays.predict(X) == arrays.predict(as_dicts(X)) == dicts.predict(X)


VALUES = st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=2, max_size=2)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(VALUES, min_size=1), min_size=1, max_size=4))
def test_sparse_and_dense_matrices_mean_the_same(sequences):
    arrays = [np.insert(np.array(each), 0, 1.0, axis=1) for each in sequences]  # a constant: no model without weights
    labels = [["x"] * len(each) for each in arrays]
    labels[0] = ["y", *labels[0][1:]]
    sparse = [scipy.sparse.csr_matrix(each) for each in arrays]
    how = {"all_possible_states": True, "tol": 1e-9}
    dense = fitted(arrays, labels, **how)
    np.testing.assert_allclose(dense.predict_proba(arrays)[0], dense.predict_proba(sparse)[0], atol=1e-12)
    assert fitted([*sparse, scipy.sparse.csc_matrix(arrays[0])], [*labels, labels[0]], **how).classes_ == dense.classes_


def test_numbers_of_every_kind_and_labels_in_arrays():
    for dtype in (np.float32, np.int64, np.bool_):
        arrays = [x > 0 if dtype is np.bool_ else (4 * x).astype(dtype) for x in X]
        crf = fitted(arrays, [np.array(labels) for labels in Y])
        assert crf.classes_ == ["a", "b"] or crf.classes_ == ["b", "a"]
    numbers = fitted(X, [np.array([int(label == "a") for label in labels]) for labels in Y])
    assert Model.from_bytes(numbers.to_bytes()).predict(X) == numbers.predict(X)


def test_streams_and_files_know_arrays(tmp_path):
    crf = CRF(n_jobs=1).partial_fit(X[:2], Y[:2]).partial_fit(X[2:], Y[2:])
    crf.save(tmp_path / "model.crf")
    assert Model.load(tmp_path / "model.crf").predict(X) == crf.predict(X)
    assert crf.predict_single(X[0]) == crf.predict(X)[0]
    assert crf.predict([X[0], np.empty((0, 3))])[1] == []


FAULTS = [
    ([X[0], np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0]])], r"X\[1\], row 1, column 1 is nan; give finite numbers"),
    ([scipy.sparse.csr_matrix([[0.0, 0.0, 1.0], [0.0, np.inf, 0.0]])], r"X\[0\], row 1, column 1 is inf"),
    ([X[0], X[1][:, :2]], r"X\[1\] has 2 columns and earlier arrays have 3"),
    ([X[0], np.zeros(3)], r"X\[1\] is an array of shape \(3,\); give a row for each token"),
    ([X[0].astype(complex)], r"X\[0\] holds complex128; give an array of float32 or float64"),
    ([X[0], [["a"]]], r"X\[1\] is a list, and earlier sequences are arrays"),
    ([[["a"]], X[0]], r"X\[1\] is an array of shape \(4, 3\), and earlier sequences are not"),
]


@pytest.mark.parametrize(("sequences", "message"), FAULTS)
def test_faults_have_their_place(sequences, message):
    with pytest.raises(DataError, match=message):
        fitted(sequences, [["a"] * (x.shape[0] if hasattr(x, "shape") else len(x)) for x in sequences])


def test_a_row_without_label_is_an_error():
    with pytest.raises(DataError, match=r"X\[0\] has 4 items and y\[0\] has 1 labels"):
        fitted(X[:1], [["a"]])


def test_arrays_with_fewer_columns_than_the_model_are_errors():
    with pytest.raises(DataError, match=r"X\[0\] has 2 columns, but the model has weights for more"):
        fitted(X).predict([X[0][:, :2]])
