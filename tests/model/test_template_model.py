"""Models that read raw columns: they tag as models of the same attributes as text do, and come back from a file."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from fastcrf import CRF
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.model_file import container, content
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import parse_template
from fastcrf.exceptions import ModelFileError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.fit import fit_model
from fastcrf.fitting.plan import make_plan
from fastcrf.model.model import Model
from fastcrf.model.scored import scored
from reference import brute_force, plain_templates

TEMPLATE = 'u:%x[0,0]\nu:%x[-1,0]\nu:pair=%x[0,0]/%x[1,1]\nu:three=%x[0,1]/%x[-1,1]/%x[@1,0]\nu:up=%t[0,0,"^\\u"]\nb'
LINES = TEMPLATE.split("\n")
X = [[["The", "D"], ["cat", "N"], ["sat", "V"]], [["A", "D"], ["dog", "N"]], [["cats", "N"]]]
Y = [["B", "I", "O"], ["B", "I"], ["B"]]
UNSEEN = [[["New", "D"], ["cat", "?"]], [], [["sat", "V"]] * 3]


NOTHING_YET = TemplateAttributes.empty(parse_template(TEMPLATE, "wapiti"))


def model_of(seed=0):
    """A model with the features of a corpus and random weights."""
    corpus, attributes, labels = encode_training(
        X, Y, known=TemplateAttributes.empty(parse_template(TEMPLATE, "wapiti"))
    )
    features = build_feature_map(corpus, len(attributes), len(labels))
    return Model(labels, attributes, features, np.random.default_rng(seed).normal(size=features.n_weights))


MODEL = model_of()


def as_text(sentences):
    return [[plain_templates.wapiti(LINES, rows, t) for t in range(len(rows))] for rows in sentences]


def test_raw_columns_are_tagged_like_the_same_attributes_as_text():
    names = MODEL.attributes.names()
    _, attributes, labels = encode_training(as_text(X), Y)
    text = Model(labels, attributes, MODEL.features, MODEL.weights)
    assert attributes.names() == names
    assert MODEL.state_features_ == text.state_features_
    assert MODEL.predict(X + UNSEEN) == text.predict(as_text(X + UNSEEN))
    assert MODEL.predict_marginals(UNSEEN) == text.predict_marginals(as_text(UNSEEN))
    assert MODEL.predict_single(UNSEEN[0]) == MODEL.predict(UNSEEN)[0]


def test_scores_are_those_of_enumeration():
    corpus = Encoder(MODEL.attributes).encode(UNSEEN)
    transitions = brute_force.transition_scores(MODEL.features, MODEL.weights)
    found = scored(MODEL, UNSEEN)
    assert [each.labels for each in found] == MODEL.predict(UNSEEN)
    assert [each.marginals for each in found] == MODEL.predict_marginals(UNSEEN)
    assert found[1] == ([], 1.0, [], [])
    for i in (0, 2):
        scores = brute_force.label_scores(corpus, MODEL.features, MODEL.weights, i)
        path = [MODEL.labels.index(label) for label in found[i].labels]
        expected = brute_force.path_score(scores, transitions, path) - brute_force.log_partition(scores, transitions)
        assert np.log(found[i].probability) == pytest.approx(expected, abs=1e-9)


def test_a_model_comes_back_from_bytes_file_and_pickle(tmp_path):
    MODEL.save(tmp_path / "model")
    for other in (
        Model.load(tmp_path / "model"),
        Model.from_bytes(MODEL.to_bytes()),
        pickle.loads(pickle.dumps(MODEL)),
    ):
        assert other.attributes.names() == MODEL.attributes.names()
        assert other.predict(X + UNSEEN) == MODEL.predict(X + UNSEEN)
        assert other.predict_marginals(UNSEEN) == MODEL.predict_marginals(UNSEEN)


@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_a_trained_model_is_small_and_tags_the_same_after_loading(c1):
    fit = fit_model(X * 5, Y * 5, make_plan(c1=c1, c2=0.1), attributes=NOTHING_YET)
    model = Model.from_bytes(fit.model.to_bytes())
    assert model.predict(X) == fit.model.predict(X) == Y
    assert model.state_features_ == fit.model.state_features_
    if c1:
        assert len(model.attributes) < len(MODEL.attributes)
        assert sum(model.attributes.tables.sizes()) < sum(MODEL.attributes.tables.sizes())


def test_rare_attributes_can_be_left_out():
    fit = fit_model(X, Y, make_plan(), attributes=NOTHING_YET, min_count=2)
    counts = {}
    for name in (name for sentence in as_text(X) for names in sentence for name in names):
        counts[name] = counts.get(name, 0) + 1
    assert set(fit.model.attributes.names()) == {name for name, count in counts.items() if count > 1}


def longs(*numbers):
    return np.array(numbers, np.int64)


def template_header(kind, text):
    return {"kind": "template", "template_kind": kind, "template": text}


FORGERIES = [
    ("attributes", None, "it has attributes of no known kind"),
    ("attributes", {"kind": "magic"}, "it has attributes of no known kind"),
    ("attributes", {"kind": "template"}, "it has no template"),
    (
        "attributes",
        {"kind": "template", "template_kind": "crfpp", "template": "x"},
        "its template cannot be read (temp",
    ),
    (
        "attributes",
        {"kind": "template", "template_kind": "x", "template": "U"},
        "its template cannot be read (There is",
    ),
    (
        "attributes",
        {"kind": "template", "template_kind": "crfpp", "template": "U"},
        "it has text_counts that do not fit",
    ),
    ("text_names", np.zeros(3, np.uint8), "it has text names that overlap"),
    ("text_counts", longs(1, 2), "it has text_counts that do not fit"),
    ("pair_counts", longs(), "it has pair_counts that do not fit"),
    ("pair_keys", longs(), "it has pair_counts that do not fit"),
]


@pytest.mark.parametrize(("part", "forgery", "fault"), FORGERIES)
def test_a_forged_part_raises_an_error(part, forgery, fault):
    arrays, header = content.pack(MODEL._content())
    (header if part in header else arrays)[part] = forgery
    with pytest.raises(ModelFileError) as caught:
        Model.from_bytes(container.to_bytes(arrays, header))
    assert str(caught.value).startswith(f"Cannot load the model: the model is damaged: {fault}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "forge", "fault"),
    [
        ("pair_keys", lambda keys: np.where(np.arange(len(keys)) == 0, 1 << 40, keys), "a pair out of range"),
        ("pair_keys", lambda keys: np.where(np.arange(len(keys)) == 0, -1, keys), "a pair out of range"),
        ("pair_keys", lambda keys: np.where(np.arange(len(keys)) == 1, keys[0], keys), "a pair twice"),
        ("attribute_keys", lambda keys: keys + (99 << 32), "an attribute out of range"),
        ("attribute_keys", lambda keys: keys + 1000, "an attribute out of range"),
        ("attribute_keys", lambda keys: np.full_like(keys, keys[0]), "an attribute twice"),
    ],
)
def test_keys_that_point_nowhere_raise_an_error(name, forge, fault):
    arrays, header = content.pack(MODEL._content())
    arrays[name] = forge(arrays[name])
    with pytest.raises(ModelFileError, match=f"it has {fault}"):
        Model.from_bytes(container.to_bytes(arrays, header))


@given(st.data())
def test_a_file_with_any_numbers_in_it_raises_an_error_or_tags(data):
    arrays, header = content.pack(MODEL._content())
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    place = data.draw(st.integers(0, len(array) - 1))
    array[place] = data.draw(
        st.integers(0, 200) | st.sampled_from([-1, 1 << 32, 3 << 32] if array.itemsize == 8 else [0])
    )
    arrays[name] = array
    try:
        model = Model.from_bytes(container.to_bytes(arrays, header))
    except ModelFileError:
        return
    assert set(model.predict_single(X[0])) <= {"B", "I", "O"}


def test_a_crf_takes_a_template_as_a_file_or_as_text(tmp_path):
    (tmp_path / "template.txt").write_text(TEMPLATE)
    expected = fit_model(X, Y, make_plan(), attributes=NOTHING_YET, features={"transitions": True}).model
    for template in (TEMPLATE, tmp_path / "template.txt", str(tmp_path / "template.txt")):
        crf = clone(CRF(template=template, n_jobs=1)).fit(X, Y)
        assert crf.predict(UNSEEN) == expected.predict(UNSEEN)
        assert crf.state_features_ == expected.state_features_
    again = CRF.from_bytes(crf.to_bytes())
    assert again.fit(X, Y).predict_marginals(UNSEEN) == crf.predict_marginals(UNSEEN)
    assert again.model_.input == {"kind": "template", "n_columns": 2}


def test_a_template_without_a_bigram_has_no_transitions():
    assert CRF(template="U0:%x[0,0]", n_jobs=1).fit(X, Y).transition_features_ == {}
    with pytest.raises(ValueError, match=r"Cannot read nowhere\.txt"):
        CRF(template="nowhere.txt").fit(X, Y)
