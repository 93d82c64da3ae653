"""The same data and parameters in `sklearn_crfsuite.CRF` and in ours: the same optimum, model and predictions."""

from __future__ import annotations

import pytest
import sklearn_crfsuite as theirs

from fastcrf.compat import sklearn_crfsuite as ours
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(60)
NEW, _ = toy_sequences(20, seed=9)

TIGHT = {"algorithm": "lbfgs", "delta": 1e-12, "period": 20, "epsilon": 1e-9, "max_iterations": 3000}
SETTINGS = [
    {},
    {"c2": 0.05},
    {"c1": 0.2, "c2": 0.1},
    {"c1": 0.5, "c2": 0.0},
    {"all_possible_states": True, "all_possible_transitions": True},
    {"min_freq": 3, "all_possible_transitions": True},
]


def both(**parameters):
    return [module.CRF(**parameters).fit(X, Y) for module in (ours, theirs)]


def loss(crf):
    return crf.training_log_.last_iteration["loss"]


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_the_optimum_is_that_of_sklearn_crfsuite(parameters):
    """Trained as far as double precision goes."""
    crf, peer = both(**TIGHT, **parameters)
    assert loss(crf) == pytest.approx(loss(peer), rel=1e-6)
    assert crf.classes_ == peer.classes_
    assert crf.predict(NEW).tolist() == peer.predict(NEW).tolist()
    assert crf.predict_single(NEW[0]) == peer.predict_single(NEW[0])
    for a, b in zip(crf.predict_marginals(NEW), peer.predict_marginals(NEW), strict=True):
        for row, expected in zip(a, b, strict=True):
            assert row == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("parameters", SETTINGS[:2], ids=str)
def test_the_model_is_that_of_sklearn_crfsuite(parameters):
    """With an L2 penalty the optimum is one point, so weights agree, too."""
    crf, peer = both(**TIGHT, **parameters)
    assert crf.state_features_ == pytest.approx(peer.state_features_, abs=1e-3)
    assert crf.transition_features_ == pytest.approx(peer.transition_features_, abs=1e-3)
    assert crf.attributes_ == peer.attributes_
    assert crf.num_attributes_ == peer.num_attributes_
    assert crf.score(X, Y) == peer.score(X, Y)


def test_both_stop_at_about_the_same_iteration():
    """The same rules on nearly the same path: line searches differ, so the paths do, a little."""
    crf, peer = both(algorithm="lbfgs", c2=0.1)
    ours_took, they_took = len(crf.training_log_.iterations), len(peer.training_log_.iterations)
    assert they_took / 2 < ours_took < they_took * 2
    assert loss(crf) == pytest.approx(loss(peer), rel=1e-4)


def test_every_parameter_of_sklearn_crfsuite_may_be_none():
    assert loss(ours.CRF(**dict.fromkeys(theirs.CRF().get_params())).fit(X, Y)) > 0.0
