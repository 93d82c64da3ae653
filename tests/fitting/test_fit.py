"""Training from data to model: held-out scores, early stops, callbacks, starts, and what the model remembers."""

from __future__ import annotations

import logging
import os
import re
import signal

import numpy as np
import pytest

from fastcrf.certificates.certificate import Certificate
from fastcrf.exceptions import DataError
from fastcrf.fitting.fit import fit_model, has_converged
from fastcrf.fitting.plan import make_plan
from fastcrf.metrics import segment_f1_score
from fastcrf.stopping import EarlyStopping
from fastcrf.training.driver import Result
from fastcrf.training.progress import Silent
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
DEV = toy_sequences(15, seed=1)


def train(dev=None, **parameters):
    own = {name: parameters.pop(name) for name in ("callbacks", "start", "features", "progress") if name in parameters}
    return fit_model(X, Y, make_plan(**parameters), dev=dev, **own)


def test_a_run_that_meets_its_goal_has_converged():
    fit = train(tol=1e-4)
    assert fit.converged
    assert not fit.ended_early
    assert fit.result.certificate.relative_gap <= 1e-4


def test_a_run_cut_short_has_not_converged():
    fit = train(max_iterations=6)
    assert (fit.converged, fit.ended_early, fit.result.n_steps) == (False, True, 6)
    assert re.fullmatch(r"Reached max_iterations=6; the certified relative gap is \d\.\de[-+]\d+\.", fit.result.reason)


def test_a_limit_is_the_plan_where_there_is_no_goal():
    fit = train(max_iterations=2, tol=None)
    assert (fit.converged, fit.ended_early) == (False, False)


def test_a_limit_at_a_certified_optimum_is_convergence():
    """The goal is met although the rule that ended the run is a limit."""
    steps = train(tol=1e-2, c1=0.5, c2=0.0).result.n_steps
    assert train(tol=1e-2, c1=0.5, c2=0.0, max_iterations=steps + 1).converged


@pytest.mark.parametrize(
    ("status", "gap", "tol", "converged"),
    [
        ("converged", 1.0, 0.0, True),
        ("stopped", 1e-4, 1e-3, True),
        ("stopped", 1e-4, 1e-5, False),
        ("finished", 1e-7, 0.0, True),
        ("finished", 1e-4, 0.0, False),
        ("diverged", 1.0, 1e-3, False),
        ("diverged", 0.0, 1e-3, False),
        ("requested", 1e-4, 1e-3, True),
        ("interrupted", 1e-2, 1e-3, False),
    ],
)
def test_convergence_is_a_rule_that_fired_or_a_certified_gap(status, gap, tol, converged):
    """A solver that finds nothing left to gain is believed if the gap is negligible, whatever the goal."""
    result = Result(np.zeros(1), [], status, "", Certificate(1.0 + gap, 1.0), 3, {})
    assert has_converged(result, tol) == converged


def test_one_label_is_certain_and_converges_at_once():
    fit = fit_model(X, [["only"] * len(x) for x in X], make_plan())
    assert fit.converged
    assert fit.result.n_steps == 0
    assert fit.model.predict_marginals_single(X[0])[0] == {"only": 1.0}


def test_held_out_accuracy_is_in_every_row():
    fit = train(dev=DEV)
    predicted = fit.model.predict(DEV[0])
    right = [a == b for gold, guess in zip(DEV[1], predicted, strict=True) for a, b in zip(gold, guess, strict=True)]
    assert all("dev_accuracy" in row for row in fit.result.trace)
    assert fit.result.trace[-1]["dev_accuracy"] == pytest.approx(np.mean(right))


def test_held_out_segment_f1_is_in_every_row():
    fit = train(dev=DEV)
    assert all("dev_segment_f1" in row for row in fit.result.trace)
    expected = segment_f1_score(DEV[1], fit.model.predict(DEV[0]))
    assert 0.0 < expected == pytest.approx(fit.result.trace[-1]["dev_segment_f1"])


def test_training_can_end_by_the_f1_of_segments():
    fit = train(dev=DEV, tol=1e-9, stopping=[EarlyStopping(patience=2, score="segment_f1")])
    scores = [row["dev_segment_f1"] for row in fit.result.trace]
    assert fit.result.reason.startswith("The held-out segment_f1 has not improved for 2 iterations")
    assert scores[-1] == max(scores)


def test_labels_that_training_never_saw_count_as_wrong():
    unknown = [["?"] * len(labels) for labels in DEV[1]]
    assert train(dev=(DEV[0], unknown)).result.trace[-1]["dev_accuracy"] == 0.0


def test_patience_ends_training_early_and_returns_the_best_weights():
    patient = train(dev=DEV, tol=1e-9)
    hasty = train(dev=DEV, tol=1e-9, stopping=[EarlyStopping(patience=2)])
    scores = [row["dev_accuracy"] for row in hasty.result.trace]
    assert hasty.result.n_steps < patient.result.n_steps
    assert not hasty.ended_early
    assert scores[-1] == max(scores)


def test_early_stopping_without_held_out_data_is_an_error_before_data_are_read():
    with pytest.raises(ValueError, match="requires held-out data"):
        fit_model(None, None, make_plan(stopping=[EarlyStopping(patience=3)]))


def test_empty_held_out_data_raise_an_error():
    with pytest.raises(DataError, match="held-out data contain no sequence"):
        train(dev=([[]], [[]]))


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_that_says_true_ends_training(answer):
    rows = []
    fit = train(callbacks=[rows.append, lambda row: answer if row["step"] == 3 else None])
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert (fit.result.n_steps, fit.ended_early, fit.converged) == (3, False, False)


def test_other_answers_of_a_callback_do_not_end_training():
    assert train(callbacks=[lambda row: 1, lambda row: "stop", lambda row: [row]]).converged


def test_ctrl_c_keeps_the_model_and_says_so(caplog):
    def press_ctrl_c(row):
        if row["step"] == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with caplog.at_level(logging.WARNING, logger="fastcrf"):
        fit = train(callbacks=[press_ctrl_c])
    assert (fit.result.status, fit.ended_early) == ("interrupted", False)
    assert fit.result.n_steps <= 3
    assert "The model of that step is kept" in caplog.text
    caplog.clear()
    train(callbacks=[press_ctrl_c], progress=Silent())
    assert not caplog.text  # a display has said it
    assert len(fit.model.predict(X)) == len(X)


@pytest.mark.parametrize("penalty", [{"c2": 0.3}, {"c1": 0.3, "c2": 0.1}], ids=str)
def test_a_start_shortens_the_way_and_not_where_it_leads(penalty):
    cold = train(tol=1e-9, **penalty)
    warm = train(tol=1e-9, start=train(tol=1e-3, c2=1.0).model, **penalty)
    assert warm.result.certificate.objective == pytest.approx(cold.result.certificate.objective, rel=1e-8)
    again = train(tol=1e-6, start=cold.model, **penalty)
    assert again.result.n_steps == 0


def test_a_model_remembers_how_it_was_made():
    fit = fit_model(X, Y, make_plan(), options={"parameters": {"c2": 1.0}})
    assert fit.model.options["parameters"] == {"c2": 1.0}
    training = fit.model.options["training"]
    assert training["stop_reason"] == fit.result.reason
    assert training["objective"] == fit.result.certificate.objective
    assert training["step"] == fit.result.n_steps


def test_an_l1_model_is_pruned():
    fit = train(c1=1.0, c2=0.0)
    assert len(fit.model.weights) == np.count_nonzero(fit.result.weights) < len(fit.result.weights)
    assert len(fit.model.attributes) < len({name for x in X for item in x for name in item}) * 5
