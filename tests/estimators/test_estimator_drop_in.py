"""The same data and parameters in `sklearn_crfsuite.CRF` and in ours: the same optimum, model and predictions."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn_crfsuite

from fastcrf import CRF
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(60)
NEW, _ = toy_sequences(20, seed=9)

SETTINGS = [
    {},
    {"c2": 0.05},
    {"c1": 0.2, "c2": 0.1},
    {"c1": 0.5, "c2": 0.0},
    {"all_possible_states": True, "all_possible_transitions": True},
    {"min_freq": 3, "all_possible_transitions": True},
]


def both(**parameters):
    """Ours and the peer, both trained as far as double precision goes."""
    tight = {"algorithm": "lbfgs", "delta": 1e-12, "period": 20, "epsilon": 1e-9, "max_iterations": 3000}
    peer = sklearn_crfsuite.CRF(**tight, **parameters).fit(X, Y)
    return CRF(**tight, **parameters, n_jobs=1, crfsuite_compat=True).fit(X, Y), peer


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_the_optimum_is_that_of_sklearn_crfsuite(parameters):
    ours, peer = both(**parameters)
    loss = peer.training_log_.last_iteration["loss"]
    assert ours.certificate_.objective == pytest.approx(loss, rel=1e-6)
    assert ours.certificate_.lower_bound <= loss + 1e-6  # CRFsuite's figure has six decimals
    assert ours.classes_ == peer.classes_
    assert ours.predict(NEW) == list(peer.predict(NEW))
    assert ours.predict_single(NEW[0]) == peer.predict_single(NEW[0])
    for a, b in zip(ours.predict_marginals(NEW), peer.predict_marginals(NEW), strict=True):
        for row, expected in zip(a, b, strict=True):
            assert row == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("parameters", SETTINGS[:2], ids=str)
def test_the_model_is_that_of_sklearn_crfsuite(parameters):
    """With an L2 penalty the optimum is one point, so weights agree, too."""
    ours, peer = both(**parameters)
    assert ours.state_features_ == pytest.approx(peer.state_features_, abs=1e-3)
    assert ours.transition_features_ == pytest.approx(peer.transition_features_, abs=1e-3)
    assert ours.attributes_ == peer.attributes_
    assert ours.num_attributes_ == peer.num_attributes_
    assert ours.score(X, Y) == peer.score(X, Y)


def test_both_stop_at_about_the_same_iteration():
    """The same rules on nearly the same path: line searches differ, so the paths do, a little."""
    parameters = {"algorithm": "lbfgs", "c2": 0.1}
    peer = sklearn_crfsuite.CRF(**parameters).fit(X, Y)
    ours = CRF(**parameters, n_jobs=1).fit(X, Y)
    assert len(peer.training_log_.iterations) / 2 < ours.n_iter_ < len(peer.training_log_.iterations) * 2
    assert ours.certificate_.objective == pytest.approx(peer.training_log_.last_iteration["loss"], rel=1e-4)


@pytest.mark.parametrize(
    "parameters",
    [
        {"calibration_eta": 0.1},
        {"algorithm": "lbfgs", "pa_type": 1},
        {"algorithm": "ap", "c1": 0.1},
        {"algorithm": "x"},
    ],
    ids=str,
)
def test_what_sklearn_crfsuite_refuses_at_fit_is_refused_at_fit(parameters):
    for estimator in (sklearn_crfsuite.CRF(**parameters), CRF(**parameters)):
        with pytest.raises(ValueError, match=r"."):
            estimator.fit(X, Y)


def test_every_parameter_of_sklearn_crfsuite_is_accepted_by_keyword():
    names = sklearn_crfsuite.CRF().get_params()
    assert CRF(**dict.fromkeys(names)).fit(X, Y).converged_


def test_predictions_can_be_read_as_either_version_of_sklearn_crfsuite_gave_them():
    """0.3 returned lists of lists, 0.5 returns an array of objects."""
    predicted = CRF(n_jobs=1).fit(X, Y).predict(NEW)
    assert predicted == [list(labels) for labels in predicted]
    assert np.array(predicted, dtype=object).shape == (len(NEW),)
