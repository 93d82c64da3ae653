"""Proximal SAGA and SVRG against dense twins written from the papers, and against OWL-QN."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.sag.prox_sag import ProxSAG
from fastcrf.solvers.sag.prox_saga import ProxSAGA
from fastcrf.solvers.sag.sag_nus_star import SAGNUSStar
from fastcrf.solvers.sag.saga_nus_star import SAGANUSStar
from fastcrf.solvers.sag.svrg.prox_svrg import ProxSVRG
from fastcrf.solvers.sag.svrg.svrg import SVRG
from fastcrf.stochastic.sampling import epoch_uniforms
from reference import dense_prox
from reference.plain_proximal import soft
from reference.random_corpora import learnable_corpus, random_corpus, random_features

each_case = pytest.mark.parametrize(
    ("sampling", "given", "c1", "c2"), [("uniform", True, 0.4, 0.3), ("nus", False, 0.4, 0.3), ("nus", True, 0.2, 0.0)]
)


def small_problem(c1, c2, given=False):
    corpus = random_corpus(3, lengths=(3, 1, 4, 2, 3, 2), values=given, weights=given)
    return Problem(corpus, random_features(3), c1, c2)


def assert_same(step, w, d):
    np.testing.assert_allclose(step.weights, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(step.weights == 0.0, w == 0.0)
    np.testing.assert_allclose(step.state["drift"], d, rtol=1e-9, atol=1e-11)


@each_case
def test_prox_saga_equals_its_dense_reference_for_the_same_samples(sampling, given, c1, c2):
    problem = small_problem(c1, c2, given)
    n, passes = problem.n_sequences, 0.0
    uniforms = np.concatenate([epoch_uniforms(7, epoch, n) for epoch in range(8)])
    twin = dense_prox.prox_saga(problem.corpus, problem.features, c1, c2, uniforms, sampling, step_divisor=3.0)
    steps = ProxSAGA(sampling=sampling, seed=7).iterate(problem, np.zeros(problem.n_weights))
    next(steps)
    for w, d, evaluations in islice(twin, n - 1, None, n):
        step = next(steps)
        passes += step.passes
        assert_same(step, w, d)
        assert passes * n == pytest.approx(evaluations)
    assert 0 < np.count_nonzero(w) < len(w)


@each_case
def test_prox_sag_equals_its_dense_reference_for_the_same_samples(sampling, given, c1, c2):
    problem = small_problem(c1, c2, given)
    n, passes = problem.n_sequences, 0.0
    uniforms = np.concatenate([epoch_uniforms(7, epoch, n) for epoch in range(8)])
    twin = dense_prox.prox_sag(problem.corpus, problem.features, c1, c2, uniforms, sampling)
    steps = ProxSAG(sampling=sampling, seed=7).iterate(problem, np.zeros(problem.n_weights))
    next(steps)
    for w, d, evaluations in islice(twin, n - 1, None, n):
        step = next(steps)
        passes += step.passes
        assert_same(step, w, d)
        assert passes * n == pytest.approx(evaluations)
    assert 0 < np.count_nonzero(w) < len(w)


@each_case
def test_prox_svrg_equals_its_dense_reference_for_the_same_samples(sampling, given, c1, c2):
    problem = small_problem(c1, c2, given)
    n, passes = problem.n_sequences, 0.0
    uniforms = [epoch_uniforms(7, period, 2 * n) for period in range(1, 7)]
    steps = ProxSVRG(sampling=sampling, seed=7, storage="mixed").iterate(problem, np.zeros(problem.n_weights))
    twin = dense_prox.prox_svrg(problem.corpus, problem.features, c1, c2, uniforms, sampling, step_divisor=1.0)
    for w, d, evaluations in twin:
        step = next(steps)
        passes += step.passes
        assert_same(step, w, d)
        np.testing.assert_allclose(step.gradient, d + 2 * c2 * w, rtol=1e-9, atol=1e-11)
        assert step.objective == pytest.approx(problem.value(w))
        assert passes * n == pytest.approx(evaluations)
    assert 0 < np.count_nonzero(w) < len(w)


def end_of(solver, problem, n_steps=300):
    return list(islice(solver.iterate(problem, np.zeros(problem.n_weights)), n_steps))[-1]


@pytest.mark.parametrize(
    ("proximal", "plain"),
    [(ProxSAG(), SAGNUSStar()), (ProxSAGA(), SAGANUSStar()), (ProxSVRG(sampling="uniform"), SVRG())],
)
def test_without_an_l1_penalty_it_is_its_plain_relative(proximal, plain):
    problem = small_problem(0.0, 0.3)
    for n_steps in (2, 5):
        ours, theirs = end_of(proximal, problem, n_steps), end_of(plain, problem, n_steps)
        np.testing.assert_array_equal(ours.weights, theirs.weights)


@pytest.mark.parametrize(
    "solver",
    [ProxSAG(), ProxSAGA(sampling="uniform"), ProxSAGA(), ProxSVRG(sampling="uniform"), ProxSVRG()],
)
@pytest.mark.parametrize(("c1", "c2"), [(0.5, 0.5), (1.0, 0.0)])
def test_it_ends_at_the_optimum_and_support_of_owlqn(solver, c1, c2):
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 6), random_features(0), c1, c2)
    expected, found = end_of(OWLQN(), problem).weights, end_of(solver, problem)
    assert problem.value(found.weights) == pytest.approx(problem.value(expected), rel=1e-9)
    np.testing.assert_array_equal(found.weights == 0.0, expected == 0.0)
    assert 0 < np.count_nonzero(expected) < len(expected)
    assert found.info["proximal_gradient_norm_estimate"] < 1e-5


@pytest.mark.parametrize("solver", [ProxSAG(), ProxSAGA(), ProxSVRG()])
def test_the_proximal_norm_is_what_a_step_along_the_gradient_would_move(solver):
    problem = small_problem(0.2, 0.3)
    step = end_of(solver, problem, 12)
    w, s = step.weights, step.info["step_size"] / problem.n_sequences
    gradient = step.state["drift"] + 2 * problem.c2 * w
    expected = np.linalg.norm(w - soft(w - s * gradient, s * problem.c1)) / s
    assert step.info["seen"] == problem.n_sequences
    assert step.info["proximal_gradient_norm_estimate"] == pytest.approx(expected, rel=1e-9)
