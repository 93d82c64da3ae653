"""A model as prior: matched by names, and whatever the new data do not speak about stays."""

from __future__ import annotations

import pytest

from fastcrf import CRF
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.fit import fit_corpus, fit_model
from fastcrf.fitting.plan import make_plan
from fastcrf.fitting.warm_start import starting_weights
from fastcrf.model.model import Model

X_OLD = [[["a", "b"], ["c"]], [["b"], ["a"]], [["c", "old"], ["a"]]]
Y_OLD = [["x", "y"], ["y", "x"], ["gone", "x"]]
X_NEW = [[["b", "new"], ["a"]], [["a"], ["b"]], [["new"], ["new", "a"]]]
Y_NEW = [["y", "y"], ["x", "fresh"], ["fresh", "y"]]


def old_crf():
    return CRF(c2=0.1, tol=1e-8, n_jobs=1).fit(X_OLD, Y_OLD)


def adapted(prior, c2=0.5, **options):
    return CRF(c2=c2, tol=1e-8, n_jobs=1, **options).fit(X_NEW, Y_NEW, prior=prior)


@pytest.mark.parametrize("algorithm", ["auto", "sag", "sdca"])
def test_features_that_new_data_do_not_mention_keep_their_weights(algorithm):
    old, new = old_crf(), adapted(old_crf(), algorithm=algorithm)
    for pair, weight in old.state_features_.items():
        if pair[0] in ("c", "old"):
            assert new.state_features_[pair] == weight
    assert new.state_features_["a", "x"] != old.state_features_["a", "x"]
    assert set(new.classes_) == {"x", "y", "gone", "fresh"}
    assert ("new", "y") in new.state_features_
    assert set(old.transition_features_) <= set(new.transition_features_)


def test_a_strong_penalty_gives_the_prior_back_and_a_weak_one_does_not():
    old = old_crf()
    strong, weak = (adapted(old, c2) for c2 in (1e7, 1e-2))
    for pair, weight in old.state_features_.items():
        assert strong.state_features_[pair] == pytest.approx(weight, abs=1e-5)
    assert strong.predict(X_OLD) == old.predict(X_OLD)
    assert weak.predict(X_NEW) == Y_NEW != strong.predict(X_NEW)


def test_a_path_a_crf_and_its_model_are_the_same_prior(tmp_path):
    old = old_crf()
    old.save(tmp_path / "old.crf")
    models = [adapted(prior) for prior in (old, old.model_, tmp_path / "old.crf", str(tmp_path / "old.crf"))]
    for model in models[1:]:
        assert model.state_features_ == models[0].state_features_


def test_the_order_of_names_does_not_matter():
    """The same prior with attributes and labels numbered from the other end."""
    old = old_crf().model_
    corpus, attributes, labels = encode_training(X_OLD[::-1], Y_OLD[::-1])
    states, transitions = old.state_features_, old.transition_features_
    features = build_feature_map(corpus, len(attributes), len(labels))
    again = Model(labels, attributes, features, starting_weights(old, attributes, labels, features))
    assert (again.state_features_, again.transition_features_) == (states, transitions)
    assert again.labels != old.labels
    one, other = adapted(old).state_features_, adapted(again).state_features_
    assert one.keys() == other.keys()
    assert all(one[pair] == pytest.approx(other[pair], abs=1e-4) for pair in one)


def test_the_goal_does_not_depend_on_the_start():
    old, crf = old_crf(), CRF(c2=0.5, tol=1e-10, n_jobs=1)
    warm = crf.fit(X_NEW, Y_NEW, init=crf.fit(X_NEW, Y_NEW).model_, prior=old)
    cold = adapted(old)
    for pair, weight in cold.state_features_.items():
        assert warm.state_features_[pair] == pytest.approx(weight, abs=1e-3)


def test_held_out_accuracy_is_that_of_the_whole_model():
    old = old_crf()
    crf = CRF(c2=1e7, tol=1e-8, n_jobs=1).fit(X_NEW, Y_NEW, X_dev=X_OLD, y_dev=Y_OLD, prior=old)
    assert crf.history_[0]["dev_accuracy"] == old.score(X_OLD, Y_OLD) == 1.0


def test_templates_may_have_a_prior_of_the_same_template():
    rows, labels = [[["the", "DT"], ["cat", "NN"]], [["a", "DT"], ["dog", "NN"]]], [["B", "I"], ["B", "I"]]
    template = "U00:%x[0,0]\nU01:%x[0,1]\nB\n"
    old = CRF(template=template, c2=0.1, n_jobs=1).fit(rows[:1], labels[:1])
    new = CRF(template=template, c2=0.1, n_jobs=1).fit(rows[1:], labels[1:], prior=old)
    assert new.state_features_["U00:cat", "I"] == old.state_features_["U00:cat", "I"]
    assert ("U00:dog", "I") in new.state_features_
    with pytest.raises(ValueError, match=r"The prior makes its attributes of other data .template, here items."):
        CRF(n_jobs=1).fit(X_NEW, Y_NEW, prior=old)


def test_a_corpus_that_was_encoded_without_the_prior_raises_an_error():
    plan, old = make_plan(algorithm="lbfgs"), old_crf().model_
    with pytest.raises(ValueError, match="A prior needs data that are encoded with its attributes"):
        fit_corpus(*encode_training(X_NEW, Y_NEW), plan, prior=old)
    known = encode_training(X_NEW, Y_NEW, known=old.attributes, labels=old.labels)
    assert fit_corpus(*known, plan, prior=old).model.labels[:3] == old.labels


def test_rare_attributes_of_the_prior_stay():
    old = old_crf().model_
    model = fit_model(X_NEW, Y_NEW, make_plan(algorithm="lbfgs"), prior=old, min_count=3).model
    assert {"c", "old"} <= set(model.attributes.names())
    assert model.state_features_["c", "y"] == old.state_features_["c", "y"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"algorithm": "ap", "c2": 0.0},
            "A prior is the mean of an L2 penalty alone, which ap does not have; use",
        ),
        ({"algorithm": "lbfgs", "c1": 0.5}, "A prior is the mean of an L2 penalty alone, which owlqn does not have"),
        ({"c1": 0.5}, "A prior is the mean of an L2 penalty alone, but c1=0.5; set c1=0"),
        ({"c2": 0.0}, "A prior is the mean of an L2 penalty, but c2=0"),
        ({}, "prior must be the path of a model, a fitted CRF or a Model; got prior=3"),
    ],
)
def test_what_cannot_be_is_a_sentence(options, sentence):
    prior = old_crf() if options else 3
    with pytest.raises(ValueError, match=sentence):
        CRF(n_jobs=1, **options).fit(X_NEW, Y_NEW, prior=prior)
