"""Draws of several sequences at once: against dense twins, draw by draw, and what must not depend on them."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.sag.sag import SAG
from fastcrf.solvers.sag.sag_nus import SAGNUS
from fastcrf.solvers.sag.sag_nus_star import SAGNUSStar
from fastcrf.solvers.sag.saga import SAGA
from fastcrf.solvers.sag.saga_nus_star import SAGANUSStar
from fastcrf.solvers.sag.svrg.svrg import SVRG
from fastcrf.stochastic.sampling import epoch_uniforms, first_order
from reference import dense_sag, dense_svrg
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 1)
SEED, C2, EPOCHS = 7, 0.3, 8
FAMILY = [SAG, SAGNUS, SAGNUSStar, SAGA, SAGANUSStar]


def small_problem():
    corpus = random_corpus(3, lengths=LENGTHS, values=True, weights=True)
    return Problem(corpus, random_features(3), c2=C2)


def learnable_problem():
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2] * 4), random_features(0), c2=0.5)


def start(problem):
    return np.zeros(problem.n_weights)


def twin_of(kind, problem, blocks):
    lam = 2 * C2 / problem.n_sequences
    uniforms = np.concatenate([epoch_uniforms(SEED, epoch, len(blocks)) for epoch in range(EPOCHS)])
    known = problem.corpus, problem.features, lam, uniforms
    if kind is SAGNUS:
        return dense_sag.sag_nus(*known, first_order(SEED, len(blocks)), blocks=blocks)
    twin = dense_sag.sag if kind in (SAG, SAGA) else dense_sag.sag_nus_star
    return twin(*known, saga=kind in (SAGA, SAGANUSStar), blocks=blocks)


@pytest.mark.parametrize(("batch", "cuts"), [(3, [2, 4]), (4, [3]), (7, [])])
@pytest.mark.parametrize("kind", FAMILY)
def test_blocks_are_drawn_as_by_the_dense_reference(kind, batch, cuts):
    """Seven sequences by three are blocks of 2, 2 and 3, of a random order."""
    problem = small_problem()
    blocks = np.split(np.random.default_rng([SEED, 0, 2]).permutation(len(LENGTHS)), cuts)
    after_each_epoch = islice(twin_of(kind, problem, blocks), len(blocks) - 1, None, len(blocks))
    steps = kind(batch_size=batch, seed=SEED).iterate(problem, start(problem))
    assert next(steps).passes == 0
    passes = 0.0
    for w, d, _, evaluations in after_each_epoch:
        step = next(steps)
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.state["drift"], d, rtol=1e-9, atol=1e-11)
        assert passes * problem.n_sequences == pytest.approx(evaluations)


def test_svrg_draws_blocks_as_its_dense_reference_does():
    problem = small_problem()
    blocks = np.split(np.random.default_rng([SEED, 0, 2]).permutation(len(LENGTHS)), [2, 4])
    uniforms = [epoch_uniforms(SEED, period, 2 * len(blocks)) for period in range(1, 5)]
    twin = dense_svrg.svrg(problem.corpus, problem.features, 2 * C2 / len(LENGTHS), uniforms, blocks=blocks)
    passes = 0.0
    steps = SVRG(batch_size=3, seed=SEED, storage="mixed").iterate(problem, start(problem))
    for step, (w, d, evaluations) in zip(steps, twin, strict=False):
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.state["drift"], d, rtol=1e-9, atol=1e-11)
        assert passes * problem.n_sequences == pytest.approx(evaluations)


@pytest.mark.parametrize("kind", [*FAMILY, SVRG])
def test_blocks_lead_to_the_optimum(kind):
    problem = learnable_problem()
    step = next(islice(kind(batch_size=5).iterate(problem, start(problem)), 250, None))
    assert problem.certificate(step.weights).relative_gap < 1e-6
    estimate = step.state["drift"] + 2 * problem.c2 * step.weights
    np.testing.assert_allclose(estimate, problem.gradient(step.weights)[1], atol=1e-2)


def test_a_batch_of_the_whole_corpus_is_gradient_descent():
    problem = small_problem()
    steps = SAG(batch_size=100).iterate(problem, start(problem))
    before = next(steps).weights.copy()
    for _ in range(4):
        step = next(steps)
        gradient = problem.gradient(before)[1]
        np.testing.assert_allclose(step.state["drift"] + 2 * C2 * before, gradient, rtol=1e-9, atol=1e-12)
        moved = before - step.weights
        length = np.linalg.norm(moved) / np.linalg.norm(gradient)
        np.testing.assert_allclose(moved, length * gradient, rtol=1e-9, atol=1e-12)
        before = step.weights.copy()


@pytest.mark.parametrize("kind", [SAGNUSStar, SAGA])
def test_from_inside_an_epoch_a_run_goes_on_bit_for_bit_on_a_fresh_problem(kind, monkeypatch):
    monkeypatch.setattr(Problem, "slice_size", 2)
    problem, solver = learnable_problem(), kind(batch_size=2, seed=4)
    steps = solver.iterate(problem, start(problem))
    next(islice(steps, 2, None))
    problem.asked_to_stop = iter([False, False, True]).__next__
    told = next(steps)
    state = {name: np.array(value) for name, value in told.state.items()}
    assert state["sampled"] == 3
    fresh = learnable_problem()
    problem.asked_to_stop = fresh.asked_to_stop
    resumed = solver.iterate(fresh, start(fresh), state)
    np.testing.assert_array_equal(next(resumed).weights, told.weights)
    for one, other in islice(zip(steps, resumed, strict=True), 5):
        np.testing.assert_array_equal(one.weights, other.weights)
    assert other.state["epoch"] == 7


def test_seen_counts_sequences_not_blocks():
    problem = learnable_problem()
    steps = SAG(batch_size=28).iterate(problem, start(problem))
    assert [next(steps).info["seen"] for _ in range(2)] == [0, 28]
    assert next(steps).info["gradient_norm_estimate"] < np.inf


def test_a_batch_of_no_sequence_raises_an_error():
    with pytest.raises(ValueError, match="batch_size must be a whole number of at least 1; got batch_size=0"):
        SAG(batch_size=0)
