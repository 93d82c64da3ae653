"""One vocabulary: Model, CRF and CRFCV predict, save and load by the same names, with the same results."""

from __future__ import annotations

import inspect
import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

from fastcrf import CRF, CRFCV, Model
from fastcrf.exceptions import DataError, ModelFileError
from fastcrf.model.label_sequences import LabelSequences
from fastcrf.model.predictor import Predictor
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(30)
VOCABULARY = [
    "attributes_", "classes_", "constraint_proba", "entropy", "explain", "from_bytes", "load", "log_proba",
    "ngram_features_", "pair_proba", "predict", "predict_marginals", "predict_marginals_single", "predict_nbest",
    "predict_proba", "predict_single", "predict_spans", "rank", "sample", "save", "span_proba", "state_features_",
    "to_bytes", "transition_features_",
]  # fmt: skip
OF_ESTIMATORS = {"fit", "score", "model_", "get_params", "set_params", "get_metadata_routing", "set_fit_request"}
OF_ESTIMATORS |= {"set_predict_request", "set_predict_proba_request"}
OF_MODELS = {"labels", "attributes", "features", "weights", "options", "input", "constraints"}
OF_STREAMS = {"partial_fit", "save_stream", "load_stream", "set_partial_fit_request"}
CLASSES = [Model, CRF, CRFCV]


@pytest.fixture(scope="module")
def fitted():
    search = CRFCV(CRF(order=2, n_jobs=1), c2_values=[0.1], cv=2).fit(X, Y)
    return [search.model_, search.best_estimator_, search]


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_classes_have_the_vocabulary_and_little_else(fitted):
    assert sorted(public(Predictor)) == VOCABULARY
    assert public(fitted[0]) - set(VOCABULARY) == OF_MODELS
    assert public(CRF) - set(VOCABULARY) == OF_ESTIMATORS | OF_STREAMS
    assert public(CRFCV) - set(VOCABULARY) == OF_ESTIMATORS


def signature_of(cls, name):
    """Parameters, defaults and annotations of a method, or the annotation of a property."""
    member = inspect.getattr_static(cls, name)
    if isinstance(member, property):
        return "property", inspect.signature(member.fget)
    return type(member).__name__, inspect.signature(getattr(cls, name))


@pytest.mark.parametrize("name", VOCABULARY)
def test_each_name_has_one_signature_and_a_docstring_in_all_classes(name):
    signatures = [signature_of(cls, name) for cls in CLASSES]
    assert signatures[1:] == signatures[:-1]
    assert signatures[0][1].return_annotation is not inspect.Signature.empty
    for cls in CLASSES:
        assert inspect.getdoc(inspect.getattr_static(cls, name))


def test_each_name_has_the_same_result_in_all_classes(fitted, tmp_path):
    for ask in (
        lambda crf: crf.predict(X),
        lambda crf: crf.predict_single(X[0]),
        lambda crf: crf.predict_marginals(X),
        lambda crf: crf.predict_marginals_single(X[0]),
        lambda crf: [array.tolist() for array in crf.predict_proba(X)],
        lambda crf: crf.log_proba(X, Y).tolist(),
        lambda crf: crf.predict_nbest(X, 3),
        lambda crf: crf.sample(X, 2, random_state=1),
        lambda crf: [array.tolist() for array in crf.pair_proba(X)],
        lambda crf: crf.entropy(X).tolist(),
        lambda crf: crf.explain(X[0], 0),
        lambda crf: [array.tolist() for array in crf.rank(X, "margin")],
        lambda crf: crf.span_proba(X, Y, [[(0, 1)]] * len(X)),
        lambda crf: (crf.classes_, crf.attributes_, Model.from_bytes(crf.to_bytes()).weights.tolist()),
        lambda crf: (crf.state_features_, crf.transition_features_, crf.ngram_features_),
    ):
        answers = [ask(crf) for crf in fitted]
        assert answers[1:] == answers[:-1]
        assert len({type(answer) for answer in answers}) == 1
    for cls, crf in zip(CLASSES, fitted, strict=True):
        crf.save(tmp_path / "model.crf")
        for again in (cls.load(tmp_path / "model.crf"), cls.from_bytes(crf.to_bytes())):
            assert type(again) is cls
            assert again.predict_marginals(X) == crf.predict_marginals(X)


def test_predict_returns_label_sequences(fitted):
    predicted = fitted[0].predict([X[0], X[0]])
    assert type(predicted) is LabelSequences
    assert np.asarray(predicted).shape == (2,)
    assert type(predicted[:1]) is list


def test_probabilities_are_views_of_one_array_with_a_column_per_class(fitted):
    some = [X[0], [], *X[1:3]]
    arrays = fitted[0].predict_proba(some)
    assert [array.shape for array in arrays] == [(len(x), len(fitted[0].classes_)) for x in some]
    assert all(array.base is arrays[0].base is not None for array in arrays)
    assert {array.dtype for array in arrays} == {np.dtype(np.float64)}
    for array, rows in zip(arrays, fitted[0].predict_marginals(some), strict=True):
        assert [dict(zip(fitted[0].classes_, row, strict=True)) for row in array.tolist()] == rows
    assert fitted[0].predict_proba([]) == []


def test_probabilities_of_all_label_sequences_sum_to_one(fitted):
    crf, xseq = fitted[0], X[0][:4]
    every = list(itertools.product(crf.classes_, repeat=len(xseq)))
    chances = np.exp(crf.log_proba([xseq] * len(every), every))
    assert chances.sum() == pytest.approx(1.0)
    assert every[chances.argmax()] == tuple(crf.predict_single(xseq))
    inside = [chance for labels, chance in zip(every, chances.tolist(), strict=True) if labels[1:3] == every[5][1:3]]
    assert crf.span_proba([xseq], [every[5]], [[(1, 3)]])[0] == pytest.approx([sum(inside)])


def test_an_unknown_label_has_probability_zero_and_leaves_the_rest_as_it_is(fitted):
    crf = fitted[0]
    strange = [Y[0], ["never seen", *Y[1][1:]], []]
    some = [X[0], X[1], []]
    found = crf.log_proba(some, strange)
    assert found.dtype == np.float64
    assert found.tolist() == [crf.log_proba(X[:1], Y[:1])[0], -math.inf, 0.0]
    whole = (0, len(X[1]))
    spans = crf.span_proba(some, strange, [[(0, 1)], [(0, 1), (1, 2), whole], []])
    assert spans[1][0] == spans[1][2] == 0.0
    assert spans[1][1] == crf.span_proba(X[1:2], Y[1:2], [[(1, 2)]])[0][0]


def test_what_does_not_fit_together_is_a_data_error(fitted):
    crf = fitted[0]
    with pytest.raises(DataError, match="X has 30 sequences and y has 29"):
        crf.log_proba(X, Y[:-1])
    with pytest.raises(DataError, match=r"X\[1\] has \d items and y\[1\] has 0 labels"):
        crf.log_proba(X[:2], [Y[0], []])
    with pytest.raises(DataError, match="X has 30 sequences and spans has 1; give one list of spans per sequence"):
        crf.span_proba(X, Y, [[]])
    for span in ((0, 99), (-1, 1), (1, 1), (2, 1)):
        with pytest.raises(DataError, match=r"spans\[0\] has the span"):
            crf.span_proba(X[:1], Y[:1], [[span]])


def test_to_bytes_writes_two_formats():
    crf = CRF(n_jobs=1).fit(X, Y)
    assert crf.to_bytes(format="crfsuite").startswith(b"lCRF")
    assert Model.from_bytes(crf.to_bytes("crfsuite")).predict(X) == crf.predict(X)
    with pytest.raises(ValueError, match="format must be one of fastcrf, crfsuite; got format='crfpp'"):
        crf.to_bytes("crfpp")
    with pytest.raises(ModelFileError, match="order 2"):
        CRF(order=2, n_jobs=1).fit(X, Y).to_bytes("crfsuite")


def test_the_vocabulary_of_a_model_needs_neither_scikit_learn_nor_numba(fitted, tmp_path):
    fitted[0].save(tmp_path / "model.crf")
    code = f"""
import sys, fastcrf
model, X, y = fastcrf.load({str(tmp_path / "model.crf")!r}), {X[:2]!r}, {Y[:2]!r}
model.predict(X), model.predict_single(X[0]), model.predict_marginals(X), model.predict_proba(X), model.log_proba(X, y)
model.span_proba(X, y, [[(0, 1)], []]), model.predict_nbest(X, 3), model.sample(X), model.pair_proba(X)
model.entropy(X), model.rank(X), model.explain(X[0], 0)
model.state_features_, model.ngram_features_, model.classes_, model.to_bytes()
sys.exit(str({{"numba", "sklearn", "scipy"}} & set(sys.modules)) if {{"numba", "sklearn"}} & set(sys.modules) else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
