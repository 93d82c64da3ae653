"""The model: it tags what enumeration and CRFsuite tag, and comes back from a file as it was."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.model_file import container, content
from fastcrf.exceptions import DataError, ModelFileError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.model.model import Model
from reference import brute_force
from reference.raw_corpora import few_items, labeled_corpora


def model_of(X, y, seed=0, **options):
    """A model with the features of a corpus and random weights."""
    corpus, ids, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(ids), len(labels))
    weights = np.random.default_rng(seed).normal(size=features.n_weights)
    return Model(labels, ids, features, weights, **options)


SENTENCE = [{"w": "the", "cap": True}, {"w": "cat", "length": 0.5}, ["w:sat"], {}]
MODEL = model_of([SENTENCE, SENTENCE[:2]], [["D", "N", "V", "D"], ["N", "N"]], options={"c2": 1.0})
CONTENT = MODEL.to_bytes()


@settings(max_examples=40)
@given(labeled_corpora(), st.lists(st.lists(few_items, max_size=4), max_size=3))
def test_tags_and_marginals_are_those_of_enumeration(data, X):
    model = model_of(*data)
    corpus = Encoder(model.attributes).encode(X)
    transitions = brute_force.transition_scores(model.features, model.weights)
    for i, (tags, marginals) in enumerate(zip(model.predict(X), model.predict_marginals(X), strict=True)):
        if not X[i]:
            assert tags == marginals == []
            continue
        scores = brute_force.label_scores(corpus, model.features, model.weights, i)
        assert tags == [model.labels[k] for k in brute_force.best_path(scores, transitions)]
        nodes, _ = brute_force.marginals(scores, transitions)
        for row, expected in zip(marginals, nodes, strict=True):
            assert row == pytest.approx(dict(zip(model.labels, expected, strict=True)), abs=1e-9)


def test_one_sequence_is_tagged_like_many():
    X = [SENTENCE, [], SENTENCE[1:], [["never", "seen"]]]
    assert MODEL.predict(X) == [MODEL.predict_single(sequence) for sequence in X]
    assert MODEL.predict_marginals(X) == [MODEL.predict_marginals_single(sequence) for sequence in X]
    assert MODEL.predict([]) == MODEL.predict_marginals([]) == []
    assert MODEL.predict_single(item for item in SENTENCE) == MODEL.predict_single(SENTENCE)


def test_a_model_with_one_label_tags():
    model = model_of([[["a"], ["b"]]], [["X", "X"]])
    assert model.predict([[["b"], ["z"]], []]) == [["X", "X"], []]
    assert model.predict_marginals_single([["a"]]) == [pytest.approx({"X": 1.0})]


def test_the_same_weights_give_the_labels_and_marginals_of_crfsuite(tmp_path):
    rng = np.random.default_rng(3)
    X = [[{"w": str(rng.integers(9)), "x": rng.normal(), "in": ["a", "a"]} for _ in range(5)] for _ in range(40)]
    y = [["BIO"[rng.integers(3)] for _ in sequence] for sequence in X]
    path = str(tmp_path / "model.crfsuite")
    trainer = pycrfsuite.Trainer(verbose=False, params={"c2": 0.01, "max_iterations": 20, "feature.minfreq": -1e9})
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    info = tagger.info()

    model = model_of(X, y)
    model.weights[:] = 1.0  # so that every feature has a name in the dictionaries
    known = [info.state_features[pair] for pair in model.state_features_]
    known += [info.transitions[pair] for pair in model.transition_features_]
    model.weights[:] = known
    assert model.labels == tagger.labels()
    assert model.predict(X) == [tagger.tag(sequence) for sequence in X]
    for sequence, rows in zip(X, model.predict_marginals(X), strict=True):
        tagger.set(sequence)
        for t, row in enumerate(rows):
            assert row == pytest.approx({label: tagger.marginal(label, t) for label in "BIO"}, abs=1e-4)


def test_weights_are_listed_by_name_without_zeros():
    model = model_of([[["a"], ["b"]]], [["X", "Y"]])
    model.weights[:] = [1.5, 0.0, -2.0]
    assert model.state_features_ == {("a", "X"): 1.5}
    assert model.transition_features_ == {("X", "Y"): -2.0}


def test_many_threads_may_tag_with_one_model():
    expected = MODEL.predict_single(SENTENCE)
    with ThreadPoolExecutor(4) as pool:
        assert all(tags == expected for tags in pool.map(MODEL.predict_single, [SENTENCE] * 200))


def test_errors_name_the_sequence():
    with pytest.raises(DataError, match=r"^X\[1\], item 0, key 'w' has the value None; "):
        MODEL.predict([SENTENCE, [{"w": None}]])


def test_parts_that_do_not_fit_make_no_model():
    with pytest.raises(ValueError, match="labels, attributes and weights"):
        Model(["X"], MODEL.attributes, MODEL.features, MODEL.weights)


def assert_same(model, other):
    assert [(type(label), label) for label in model.labels] == [(type(label), label) for label in other.labels]
    assert model.attributes == other.attributes
    assert (model.options, model.input) == (other.options, other.input)
    for array, again in zip((*model.features, model.weights), (*other.features, other.weights), strict=True):
        np.testing.assert_array_equal(array, again)


def test_a_model_comes_back_from_bytes_file_and_pickle(tmp_path):
    path = tmp_path / "model"
    MODEL.save(path)
    for again in (
        Model.load(path),
        Model.load(str(path)),
        Model.from_bytes(CONTENT),
        pickle.loads(pickle.dumps(MODEL)),
    ):
        assert_same(MODEL, again)
        assert again.predict([SENTENCE]) == MODEL.predict([SENTENCE])


def test_names_of_every_kind_survive():
    model = model_of([[["ü", "\ud800", b"\xff", "a\0b", ""]]], [["\udcff ü"]])
    assert_same(model, Model.from_bytes(model.to_bytes()))


def test_labels_keep_their_types():
    labels = ["1", 1, 2.5, 2, "true", 0.0, 10**30, float("inf")]
    model = model_of([[["a"]] * len(labels)], [labels])
    assert_same(model, Model.from_bytes(model.to_bytes()))
    model = model_of([[["a"]] * 2], [[True, False]])
    assert_same(model, Model.from_bytes(model.to_bytes()))


def test_labels_from_numpy_are_saved_as_plain_ones():
    model = model_of([[["a"], ["b"]]], [np.array([3, 4])])
    assert [type(label) for label in Model.from_bytes(model.to_bytes()).labels] == [int, int]


@pytest.mark.parametrize("label", [("a", 1), frozenset("a"), b"a"])
def test_other_labels_tag_but_cannot_be_saved(label, tmp_path):
    model = model_of([[["a"]]], [[label]])
    assert model.predict_single([["a"]]) == [label]
    with pytest.raises(
        ModelFileError, match="only str, int, float and bool labels can be saved; train with such labels"
    ):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_loading_names_the_file_and_the_fault(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(ModelFileError) as caught:
        Model.load(path)
    assert str(caught.value).startswith(f"Cannot load {path}: this is not a fastcrf model, or it is truncated (")
    with pytest.raises(FileNotFoundError):
        Model.load(tmp_path / "nowhere")


def longs(*numbers):
    return np.array(numbers, np.int64)


def ints(*numbers):
    return np.array(numbers, np.int32)


def small_content():
    """Arrays and header of a model with attributes a, b and labels X, Y."""
    model = model_of([[["a"], ["b"], ["a"]]], [["X", "Y", "Y"]])
    return content.pack(model._content())


FORGERIES = [
    ("labels", [], "no labels"),
    ("labels", {"X": 0}, "no labels"),
    ("labels", ["X", None], "a label that is neither a string nor a number"),
    ("labels", ["X", ["Y"]], "a label that is neither a string nor a number"),
    ("labels", ["X", "X"], "the same label twice"),
    ("labels", ["X"], "a label id out of range"),
    ("options", None, "no options"),
    ("input", ["items"], "no input"),
    ("weights", None, "no array 'weights' of type float64"),
    ("weights", longs(1, 2, 3, 4, 5), "no array 'weights' of type float64"),
    ("weights", np.zeros(4), "4 weights for 5 features"),
    ("weights", np.array([0, 0, np.nan, 0, 0]), "a weight that is not finite"),
    ("weights", np.array([0, 0, np.inf, 0, 0]), "a weight that is not finite"),
    ("attribute_names", np.zeros(3, np.uint8), "attribute names that overlap"),
    ("attribute_names", np.array([97, 97], np.uint8), "the same attribute twice"),
    ("attribute_name_offsets", longs(0, 3, 2), "attribute names that overlap"),
    ("attribute_name_offsets", longs(-1, 1, 2), "attribute names that overlap"),
    ("attribute_name_offsets", longs(), "attribute names that overlap"),
    ("attribute_name_offsets", longs(0, 2), "2 attributes with features and 1 names"),
    ("feature_offsets", longs(0, 4, 3), "features that overlap"),
    ("feature_offsets", longs(0, 2, 2), "features that overlap"),
    ("feature_offsets", longs(), "-1 attributes with features and 2 names"),
    ("feature_labels", ints(0, 2, 1), "a label id out of range"),
    ("feature_labels", ints(0, -1, 1), "a label id out of range"),
    ("feature_labels", ints(1, 0, 1), "state features out of order"),
    ("feature_labels", ints(1, 1, 1), "state features out of order"),
    ("transition_sources", ints(0), "transitions without an end"),
    ("transition_sources", ints(1, 0), "transitions out of order"),
    ("transition_targets", ints(1, 7), "a label id out of range"),
]


@pytest.mark.parametrize(("part", "forgery", "fault"), FORGERIES)
def test_a_forged_part_raises_an_error(part, forgery, fault):
    arrays, header = small_content()
    (header if part in header else arrays)[part] = forgery
    arrays = {name: array for name, array in arrays.items() if array is not None}
    with pytest.raises(ModelFileError) as caught:
        Model.from_bytes(container.to_bytes(arrays, header))
    assert str(caught.value) == f"Cannot load the model: the model is damaged: it has {fault}."


def test_attribute_names_that_are_no_utf8_raise_an_error():
    arrays, header = small_content()
    arrays["attribute_names"] = np.array([255, 98], np.uint8)
    with pytest.raises(ModelFileError, match="an attribute name that is not UTF-8"):
        Model.from_bytes(container.to_bytes(arrays, header))


@given(st.data())
def test_a_file_with_any_numbers_in_it_raises_an_error_or_tags(data):
    arrays, header = small_content()
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    bounds = (0, 255) if array.dtype == np.uint8 else (-3, 6)
    array = np.resize(array, data.draw(st.sampled_from([len(array), len(array) + 1, len(array) - 1, 0])))
    for place in data.draw(st.sets(st.integers(0, max(len(array) - 1, 0)), max_size=2)) if len(array) else ():
        array[place] = data.draw(st.integers(*bounds))
    arrays[name] = array
    try:
        model = Model.from_bytes(container.to_bytes(arrays, header))
    except ModelFileError:
        return
    assert set(model.predict_single([["a", "b"], ["b"]])) <= {"X", "Y"}


def test_tagging_never_imports_scikit_learn():
    code = "import sys, fastcrf.model.model; sys.exit(any(name.split('.')[0] == 'sklearn' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
