"""SGD against its dense twin: every schedule, batches, Ctrl-C and what cannot be."""

from __future__ import annotations

import math
import re
from itertools import count, islice

import numpy as np
import pytest

from fastcrf.core.types import Diverged
from fastcrf.objective.lipschitz_bounds import lipschitz_bounds
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.sgd import SGD
from fastcrf.stochastic.sampling import epoch_permutation, epoch_uniforms
from reference import dense_sgd
from reference.dense_sag import SequenceLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED = len(LENGTHS), 7


def small_problem(c2=0.5, **options):
    return Problem(learnable_corpus(3, lengths=LENGTHS, **options), random_features(3), c2=c2)


def zeros(problem):
    return np.zeros(problem.n_weights)


def formula(schedule, eta, k, lam, updates):
    """Step size of update k = 0, 1, ..., with the options' defaults."""
    return {
        "constant": eta,
        "sqrt": eta / math.sqrt(k + 1),
        "inverse": eta / (1.0 + k + 1),
        "epoch": eta / (1 + k / updates),
        "exponential": eta * 0.85 ** (k / updates),
        "bottou": eta / (1 + eta * lam * k),
    }[schedule]


def dense_epochs(problem, schedule, eta, batch):
    """(w, online objective) after each epoch."""
    loss, w, lam = SequenceLoss(problem.corpus, problem.features), zeros(problem), 2 * problem.c2 / N
    updates = math.ceil(N / batch)
    for epoch in count():
        steps = [formula(schedule, eta, epoch * updates + k, lam, updates) for k in range(updates)]
        w, online = dense_sgd.one_pass(loss, w, epoch_permutation(SEED, epoch + 1, N), steps, lam, batch_size=batch)
        yield w, online + problem.c2 * (w @ w)


def assert_epochs_agree(problem, solver, epochs=5):
    twin = dense_epochs(problem, solver.schedule, solver.eta, solver.batch_size)
    steps = solver.iterate(problem, zeros(problem))
    assert next(steps).passes == 0
    for step, (w, online) in islice(zip(steps, twin, strict=True), epochs):
        np.testing.assert_allclose(step.weights, w, rtol=1e-12, atol=1e-12)
        assert step.info["online_objective"] == pytest.approx(online, rel=1e-12)
        assert step.passes == 1


@pytest.mark.parametrize("schedule", ["constant", "sqrt", "inverse", "epoch", "exponential", "bottou"])
@pytest.mark.parametrize("batch", [1, 3])
def test_it_equals_its_dense_reference_for_the_same_order(schedule, batch):
    assert_epochs_agree(small_problem(), SGD(schedule=schedule, eta=0.4, batch_size=batch, seed=SEED))


@pytest.mark.parametrize("c2", [0.0, 0.3, 0.75 * N, 0.5 * N])
def test_it_equals_its_dense_reference_for_any_penalty(c2):
    """The last two make factors 1 - a lambda that are negative, and exactly 0."""
    assert_epochs_agree(small_problem(c2, values=True, weights=True), SGD(schedule="constant", eta=1.0, seed=SEED))


def test_non_uniform_draws_are_divided_by_how_likely_they_are():
    problem = small_problem(values=True, weights=True)
    L = lipschitz_bounds(problem.corpus, problem.features)
    p, lam = 0.5 / N + 0.5 * L / L.sum(), 2 * problem.c2 / N
    loss, w = SequenceLoss(problem.corpus, problem.features), zeros(problem)
    steps = SGD(schedule="constant", eta=0.3, sampling="nus", seed=SEED).iterate(problem, zeros(problem))
    next(steps)
    for epoch, step in enumerate(islice(steps, 4), 1):
        for u in epoch_uniforms(SEED, epoch, N):
            i = next(i for i in range(N) if u < p[: i + 1].sum())
            w = (1 - 0.3 * lam) * w - 0.3 * loss.gradient(i, w) / (N * p[i])
        np.testing.assert_allclose(step.weights, w, rtol=1e-12, atol=1e-12)
        assert step.passes == 1
    assert max(p) > 1.5 / N


def test_the_calibrated_step_size_is_kept_and_its_passes_are_counted():
    problem = small_problem()
    steps = SGD(samples=4).iterate(problem, zeros(problem))
    first, second, third = islice(steps, 3)
    assert first.state["eta"] == 0.0
    assert second.state["eta"] == third.state["eta"] > 0.0
    assert second.passes > 1 + 10 * 2 * 4 / N  # at least 10 candidates, each trained and scored on the sample
    assert third.passes == 1


def test_epochs_that_are_broken_off_go_on_where_they_were(monkeypatch):
    problem, solver = small_problem(), SGD(eta=0.3, batch_size=2, seed=SEED)
    whole = [step.weights.copy() for step in islice(solver.iterate(problem, zeros(problem)), 4)]
    monkeypatch.setattr(Problem, "slice_size", 3)  # less than two batches: one at a time
    problem.asked_to_stop = lambda: True
    state, passes, completed = None, 0.0, 0
    while completed < 3:
        _, step = islice(solver.iterate(problem, zeros(problem), state), 2)
        passes, state = passes + step.passes, step.state
        if "online_objective" in step.info:
            completed += 1
            np.testing.assert_allclose(step.weights, whole[completed], rtol=1e-12, atol=1e-12)
    assert passes == pytest.approx(3)


def test_step_sizes_that_are_far_too_large_are_said_to_diverge():
    problem = small_problem(c2=1.0)
    with (
        pytest.raises(Diverged, match=r"not finite after \d+ updates; try a smaller eta"),
        np.errstate(all="ignore"),
    ):
        list(islice(SGD(schedule="constant", eta=1e200).iterate(problem, zeros(problem)), 5))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"schedule": "linear"},
            "sgd: schedule must be one of constant, sqrt, inverse, epoch, exponential, bottou; got",
        ),
        (
            {"calibration": "luck"},
            "sgd: calibration must be one of bottou, crfsuite, powers, tsuboi, full, tsuruoka; got",
        ),
        ({"eta": 0.0}, "sgd: eta must be a number above 0; got eta=0.0."),
        ({"eta": "big"}, "sgd: eta must be a number above 0; got eta='big'."),
        ({"offset": -1}, "sgd: offset must be a number above 0; got offset=-1."),
        ({"decay": 0}, "sgd: decay must be a number above 0; got decay=0."),
        ({"sampling": "luck"}, "sgd: sampling must be one of uniform, nus; got sampling='luck'."),
        ({"batch_size": 0}, "sgd: batch_size must be a whole number of at least 1; got batch_size=0."),
        ({"samples": 2.5}, "sgd: samples must be a whole number of at least 1; got samples=2.5."),
        ({"seed": -1}, "sgd: seed must be a whole number of at least 0; got seed=-1."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        SGD(**options)
