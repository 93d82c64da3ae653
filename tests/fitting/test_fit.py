"""Training from data to model: held-out scores, early stops, callbacks, starts, and what the model remembers."""

from __future__ import annotations

import logging
import os
import signal

import numpy as np
import pytest

from fastcrf.certificates.certificate import Certificate
from fastcrf.exceptions import DataError
from fastcrf.fitting.crfsuite_log import training_log
from fastcrf.fitting.fit import fit_model, has_converged
from fastcrf.fitting.plan import make_plan
from fastcrf.training.driver import Result
from fastcrf.training.progress import Silent
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
DEV = toy_sequences(15, seed=1)


def train(dev=None, **parameters):
    own = {
        name: parameters.pop(name)
        for name in ("patience", "callbacks", "start", "features", "progress")
        if name in parameters
    }
    return fit_model(X, Y, make_plan(parameters), dev=dev, **own)


def test_a_run_that_meets_its_goal_has_converged():
    fit = train(tol=1e-4)
    assert fit.converged
    assert not fit.asked
    assert fit.result.certificate.relative_gap <= 1e-4


def test_a_run_cut_short_has_not_converged():
    fit = train(max_iterations=2)
    assert (fit.converged, fit.asked, fit.result.n_steps) == (False, False, 2)


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
    ],
)
def test_convergence_is_a_rule_that_fired_or_a_certified_gap(status, gap, tol, converged):
    """A solver that finds nothing left to gain is believed if the gap is negligible, whatever the goal."""
    result = Result(np.zeros(1), [], status, "", Certificate(1.0 + gap, 1.0), 3, {})
    assert has_converged(result, tol) == converged


def test_one_label_is_certain_and_converges_at_once():
    fit = fit_model(X, [["only"] * len(x) for x in X], make_plan({}))
    assert fit.converged
    assert fit.result.n_steps == 0
    assert fit.model.marginals_one(X[0])[0] == {"only": 1.0}


def test_held_out_accuracy_is_in_every_row():
    fit = train(dev=DEV)
    predicted = fit.model.tag(DEV[0])
    right = [a == b for gold, guess in zip(DEV[1], predicted, strict=True) for a, b in zip(gold, guess, strict=True)]
    assert all("dev_accuracy" in row for row in fit.result.trace)
    assert fit.result.trace[-1]["dev_accuracy"] == pytest.approx(np.mean(right))


def test_labels_that_training_never_saw_count_as_wrong():
    unknown = [["?"] * len(labels) for labels in DEV[1]]
    assert train(dev=(DEV[0], unknown)).result.trace[-1]["dev_accuracy"] == 0.0


def test_patience_ends_training_early_and_returns_the_best_weights():
    patient = train(dev=DEV, tol=1e-9)
    hasty = train(dev=DEV, tol=1e-9, patience=2)
    scores = [row["dev_accuracy"] for row in hasty.result.trace]
    assert hasty.result.n_steps < patient.result.n_steps
    assert hasty.asked
    assert scores[-1] == max(scores)


def test_patience_without_held_out_data_is_refused_before_anything_runs():
    with pytest.raises(ValueError, match="patience=3 needs held-out data"):
        train(patience=3)
    with pytest.raises(ValueError, match="patience must be a whole number of at least 1"):
        train(patience=0, dev=DEV)


def test_empty_held_out_data_are_refused():
    with pytest.raises(DataError, match="held-out data contain no sequence"):
        train(dev=([[]], [[]]))


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_that_says_true_ends_training(answer):
    rows = []
    fit = train(callbacks=[rows.append, lambda row: answer if row["step"] == 3 else None])
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert (fit.result.n_steps, fit.asked, fit.converged) == (3, True, False)


def test_other_answers_of_a_callback_do_not_end_training():
    assert not train(callbacks=[lambda row: 1, lambda row: "stop", lambda row: [row]]).asked


def test_ctrl_c_keeps_the_model_and_says_so(caplog):
    def press_ctrl_c(row):
        if row["step"] == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with caplog.at_level(logging.WARNING, logger="fastcrf"):
        fit = train(callbacks=[press_ctrl_c])
    assert (fit.result.status, fit.asked) == ("interrupted", True)
    assert fit.result.n_steps <= 3
    assert "The model of that step is kept" in caplog.text
    caplog.clear()
    train(callbacks=[press_ctrl_c], progress=Silent())
    assert not caplog.text  # a display has said it
    assert len(fit.model.tag(X)) == len(X)


@pytest.mark.parametrize("penalty", [{"c2": 0.3}, {"c1": 0.3, "c2": 0.1}], ids=str)
def test_a_start_shortens_the_way_and_not_where_it_leads(penalty):
    cold = train(tol=1e-9, **penalty)
    warm = train(tol=1e-9, start=train(tol=1e-3, c2=1.0).model, **penalty)
    assert warm.result.certificate.objective == pytest.approx(cold.result.certificate.objective, rel=1e-8)
    again = train(tol=1e-6, start=cold.model, **penalty)
    assert again.result.n_steps == 0


def test_a_model_remembers_how_it_was_made():
    fit = fit_model(X, Y, make_plan({}), options={"parameters": {"c2": 1.0}})
    assert fit.model.options["parameters"] == {"c2": 1.0}
    training = fit.model.options["training"]
    assert training["stop_reason"] == fit.result.reason
    assert training["objective"] == fit.result.certificate.objective
    assert training["step"] == fit.result.n_steps


def test_an_l1_model_is_pruned():
    fit = train(c1=1.0, c2=0.0)
    assert len(fit.model.weights) == np.count_nonzero(fit.result.weights) < len(fit.result.weights)
    assert len(fit.model.attributes) < len({name for x in X for item in x for name in item}) * 5


def test_the_log_reads_as_python_crfsuites():
    fit = train(dev=DEV)
    log = training_log(fit.result.trace, len(fit.result.weights))
    assert [iteration["num"] for iteration in log.iterations] == list(range(1, fit.result.n_steps + 1))
    assert log.last_iteration is log.iterations[-1]
    assert log.last_iteration["loss"] == fit.result.trace[-1]["objective"]
    assert log.last_iteration["error_norm"] == fit.result.trace[-1]["gradient_norm"]
    assert {"linesearch_trials", "linesearch_step", "item_accuracy_float", "time"} <= log.last_iteration.keys()
    assert sum(iteration["time"] for iteration in log.iterations) <= log.training_seconds
    assert log.featgen_num_features == len(fit.result.weights)


def test_the_log_of_rough_steps_has_their_estimates():
    rows = train().result.trace
    rough = [row | {"objective": None, "objective_estimate": 10.0 - k} for k, row in enumerate(rows[:-1])]
    losses = [iteration["loss"] for iteration in training_log([*rough, rows[-1]], 1).iterations]
    assert losses == [10.0 - k for k in range(1, len(rough))] + [rows[-1]["objective"]]


def test_going_back_to_the_best_weights_is_no_iteration_of_the_log():
    fit = train(dev=DEV, tol=1e-9, patience=2)
    log = training_log(fit.result.trace, len(fit.result.weights))
    assert len(log.iterations) == fit.result.n_steps


def test_a_log_without_iterations_has_no_last_one():
    fit = fit_model(X, [["only"] * len(x) for x in X], make_plan({}))
    assert training_log(fit.result.trace, 1).last_iteration is None
