"""Accelerated gradient against its plain twin, the optimality conditions and quasi-Newton."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.solvers.batch.accelerated_gradient import AcceleratedGradient
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from reference.plain_accelerated import accelerated_gradient
from reference.plain_quasi_newton import proximal_gradient
from reference.toy_problem import ToyProblem

PENALTIES = [(0.0, 0.0), (0.0, 0.5), (1.0, 0.0), (5.0, 0.0), (1.0, 0.5)]
SPARSE = [(c1, c2) for c1, c2 in PENALTIES if c1 > 0]


def steps(problem, solver=None, n=200):
    return list(islice((solver or AcceleratedGradient()).iterate(problem, np.zeros(problem.n_weights)), n + 1))


@pytest.mark.parametrize(("c1", "c2"), PENALTIES)
@pytest.mark.parametrize("restart", [True, False])
def test_every_iterate_equals_the_plain_algorithm(c1, c2, restart):
    toy = ToyProblem(c1=c1, c2=c2)
    plain, restarts = accelerated_gradient(toy, np.zeros(toy.n_weights), 40, restart)
    ours = [step.weights for step in steps(toy, AcceleratedGradient(restart=restart), n=40)]
    np.testing.assert_allclose(ours, plain, rtol=1e-7, atol=1e-9)
    assert bool(restarts) == restart


@pytest.mark.parametrize(("c1", "c2"), SPARSE)
def test_the_optimum_of_an_l1_penalty_has_the_exact_zeros_of_plain_proximal_gradient(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    theirs = proximal_gradient(toy, n_steps=3000)
    ours = steps(toy)[-1].weights
    assert 0 < np.count_nonzero(ours) < len(ours)
    np.testing.assert_array_equal(ours == 0, theirs == 0)
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_it_ends_where_quasi_newton_ends():
    toy = ToyProblem(c2=0.5)
    ours = steps(toy)[-1]
    np.testing.assert_allclose(ours.weights, steps(toy, LBFGS())[-1].weights, atol=1e-7)
    assert toy.certificate(ours.weights).relative_gap < 1.1e-12  # the rounding of F, and no more


def test_restarts_pay_on_a_strongly_convex_problem():
    toy = ToyProblem(c2=0.01)
    with_restarts, without = (steps(toy, AcceleratedGradient(restart=restart), n=100)[-1] for restart in (True, False))
    lowest = steps(toy, LBFGS())[-1].objective
    assert with_restarts.objective - lowest < 0.01 * (without.objective - lowest)


def test_at_a_point_that_no_step_leaves_it_returns_with_a_reason():
    toy = ToyProblem(c1=1000.0, c2=0.0)
    run = AcceleratedGradient().iterate(toy, np.zeros(toy.n_weights))
    taken = [next(run), next(run)]
    with pytest.raises(StopIteration, match="cannot improve further"):
        next(run)
    assert sum(step.passes for step in taken) == toy.evaluations
    assert not taken[-1].weights.any()
