"""ASG and Pegasos against the dense updates of SGD: means of all iterates, steps eta / (lambda t), whole runs."""

from __future__ import annotations

import math
import re
from itertools import islice

import numpy as np
import pytest

from fastcrf.feature_space import layout
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.sgd.calibration import POWERS_OF_TEN
from fastcrf.stochastic.sampling import epoch_permutation
from reference import dense_sgd
from reference.dense_sag import SequenceLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED, EPOCHS = len(LENGTHS), 7, 5
RATES = {
    "constant": lambda eta, lam, t: eta,
    "sqrt": lambda eta, lam, t: eta / math.sqrt(t),
    "inverse": lambda eta, lam, t: eta / (2.5 + t),
    "pegasos": lambda eta, lam, t: eta / (lam * t),
}


@pytest.fixture(params=[1, 2], ids=["rows", "rows and cells"])
def problem(request, monkeypatch):
    monkeypatch.setattr(layout, "dense_threshold", lambda padded: request.param)
    return Problem(learnable_corpus(3, lengths=LENGTHS, values=True), random_features(3), c2=0.7)


def iterates(problem, schedule, eta, epochs=EPOCHS):
    """w after each update, from dense vectors."""
    loss, lam = SequenceLoss(problem.corpus, problem.features), 2 * problem.c2 / N
    order = np.concatenate([epoch_permutation(SEED, epoch + 1, N) for epoch in range(epochs)])
    steps = [RATES[schedule](eta, lam, t) for t in range(1, len(order) + 1)]
    return [w for w, _ in dense_sgd.sgd(loss, np.zeros(problem.n_weights), order, steps, lam)]


def epochs_of(problem, name, **options):
    steps = registry.make(name, seed=SEED, **options).iterate(problem, np.zeros(problem.n_weights))
    return list(islice(copied(steps), 1, EPOCHS + 1))


def copied(steps):
    for step in steps:
        state = {item: np.array(value) for item, value in step.state.items()}
        yield step._replace(weights=step.weights.copy(), state=state)


@pytest.mark.parametrize("schedule", ["constant", "sqrt", "inverse"])
@pytest.mark.parametrize("eta", [0.4, 5.0, 60.0])
def test_the_mean_of_asg_is_that_of_all_iterates(problem, schedule, eta):
    """5 = 1 / lambda: a factor of 0; with 60, factors are below -1, and grow until they are multiplied out."""
    dense = iterates(problem, schedule, eta)
    for epoch, step in enumerate(epochs_of(problem, "asg", schedule=schedule, eta=eta, offset=2.5), 1):
        mean = np.mean(dense[: epoch * N], axis=0)
        scale = np.abs(dense[: epoch * N]).max()
        np.testing.assert_allclose(step.weights, mean, rtol=1e-12, atol=1e-12 * scale)
        np.testing.assert_allclose(step.state["weights"], dense[epoch * N - 1], rtol=1e-12, atol=1e-12 * scale)
        assert step.state["summed"] == epoch * N
        assert step.passes == 1


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("eta", [0.1, 1.0, 3.0])
def test_pegasos_takes_steps_of_eta_over_lambda_t(problem, eta, average):
    dense = iterates(problem, "pegasos", eta)
    scale = np.abs(dense).max()
    for epoch, step in enumerate(epochs_of(problem, "pegasos", eta=eta, average=average), 1):
        expected = np.mean(dense[: epoch * N], axis=0) if average else dense[epoch * N - 1]
        np.testing.assert_allclose(step.weights, expected, rtol=1e-12, atol=1e-12 * scale)


def test_the_full_recipe_takes_the_power_of_ten_with_the_lowest_objective_after_whole_runs(problem):
    scores = {}
    for eta in POWERS_OF_TEN:
        scores[eta] = problem.value(np.mean(iterates(problem, "constant", eta, epochs=2), axis=0))
    solver = registry.make("asg", calibration="full", calibration_passes=2, seed=SEED)
    start, first = islice(copied(solver.iterate(problem, np.zeros(problem.n_weights))), 2)
    assert not start.weights.any()
    np.testing.assert_allclose(first.state["calibration_scores"], list(scores.values()), rtol=1e-10)
    assert first.state["eta"] == min(scores, key=scores.get)
    assert first.passes == pytest.approx(3 * len(scores) + 1)  # two epochs and the objective for each, and the epoch
    known = registry.make("asg", eta=float(first.state["eta"]), seed=SEED)
    expected = next(islice(copied(known.iterate(problem, np.zeros(problem.n_weights))), 1, None))
    np.testing.assert_array_equal(first.weights, expected.weights)  # trials begin at the start and leave the run there


def test_tsuruokas_recipe_tries_step_sizes_and_then_decays(problem):
    sparse = Problem(problem.corpus, problem.features, c1=0.5)
    solver = registry.make("sgd-l1", eta=None, calibration="tsuruoka", calibration_passes=2, seed=SEED)
    steps = list(islice(solver.iterate(sparse, np.zeros(sparse.n_weights)), 2))
    scores = steps[1].state["calibration_scores"]
    eta, decay = (1.0, 0.5, 0.2, 0.1)[np.argmin(scores[:4])], (0.9, 0.85, 0.8)[np.argmin(scores[4:])]
    assert scores[:4].min() == scores[4 + 1]  # the decay of 0.85, where it began
    chosen = registry.make("sgd-l1", eta=eta, decay=decay, seed=SEED).iterate(sparse, np.zeros(sparse.n_weights))
    expected = [step.weights.copy() for step in islice(chosen, 2)]
    np.testing.assert_array_equal(steps[1].weights, expected[1])
    assert scores[np.argmin(scores)] == sparse.value(
        [
            step.weights.copy()
            for step in islice(
                registry.make("sgd-l1", eta=eta, decay=decay, seed=SEED).iterate(sparse, np.zeros(sparse.n_weights)), 3
            )
        ][-1]
    )


def test_whole_runs_that_are_stopped_go_on_with_the_next_trial(problem):
    solver = registry.make("pegasos", calibration="full", calibration_passes=2, seed=SEED)
    whole = [step.weights.copy() for step in islice(solver.iterate(problem, np.zeros(problem.n_weights)), 4)]
    asked = iter([False] * 5 + [True])  # within a trial
    problem.asked_to_stop = lambda: next(asked, False)
    stopped = next(islice(solver.iterate(problem, np.zeros(problem.n_weights)), 1, None))
    assert 0 < len(stopped.state["calibration_scores"]) < len(POWERS_OF_TEN)
    state = dict(stopped.state)
    rest = [s.weights.copy() for s in islice(solver.iterate(problem, np.zeros(problem.n_weights), state), 4)]
    np.testing.assert_array_equal(rest, whole)


def test_a_trial_that_is_reported_to_stop_is_not_counted(problem):
    solver = registry.make("asg", calibration="full", calibration_passes=2, seed=SEED)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    next(steps)
    problem.asked_to_stop = lambda: True
    stopped = next(steps)
    assert "calibration_scores" not in stopped.state
    problem.asked_to_stop = lambda: False
    assert len(next(steps).state["calibration_scores"]) == len(POWERS_OF_TEN)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("asg", {"schedule": "bottou"}, "asg: schedule must be one of constant, sqrt, inverse; got"),
        (
            "pegasos",
            {"calibration": "luck"},
            "pegasos: calibration must be one of bottou, crfsuite, powers, tsuboi, full,",
        ),
        ("sg", {"calibration_passes": 0}, "sg: calibration_passes must be a whole number of at least 1; got"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(name, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        registry.make(name, **options)
