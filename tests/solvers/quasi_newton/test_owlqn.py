"""OWL-QN against the paper's algorithm in plain numpy, the optimality conditions and proximal gradient."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.penalties.orthant import pseudo_gradient
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from reference import plain_quasi_newton
from reference.toy_problem import ToyProblem

PENALTIES = [(1.0, 0.0), (5.0, 0.0), (1.0, 0.5)]


def steps(problem, solver=None, n=60):
    return list(islice((solver or OWLQN()).iterate(problem, np.zeros(problem.n_weights)), n + 1))


@pytest.mark.parametrize(("c1", "c2"), [*PENALTIES, (0.0, 0.5), (0.0, 0.0)])
def test_every_iterate_equals_the_plain_algorithm(c1, c2):
    """For c1 = 0 the plain algorithm is L-BFGS with backtracking: no orthant is in the way."""
    toy = ToyProblem(c1=c1, c2=c2)
    plain = plain_quasi_newton.owlqn(toy, np.zeros(toy.n_weights), memory=4, n_steps=12)
    ours = [step.weights for step in steps(toy, OWLQN(pairs=4), n=12)]
    np.testing.assert_allclose(ours, plain, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("c1", "c2"), PENALTIES)
def test_the_optimality_conditions_hold_with_exact_zeros(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    w = steps(toy)[-1].weights
    _, g = toy.gradient(w)
    assert 0 < np.count_nonzero(w) < len(w)
    assert np.all(np.abs(g[w == 0]) <= c1)
    np.testing.assert_allclose(g[w != 0], -c1 * np.sign(w[w != 0]), atol=1e-5)


@pytest.mark.parametrize(("c1", "c2"), PENALTIES)
def test_the_optimum_is_that_of_proximal_gradient(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    theirs = plain_quasi_newton.proximal_gradient(toy, n_steps=3000)
    ours = steps(toy)[-1]
    assert ours.objective == pytest.approx(toy.value(theirs), rel=1e-10)
    np.testing.assert_array_equal(ours.weights == 0, theirs == 0)


@pytest.mark.parametrize(("c1", "c2"), PENALTIES)
def test_the_objective_includes_the_penalty_and_never_rises(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    taken = steps(toy, n=15)
    for step in taken:
        assert step.objective == pytest.approx(toy.value(step.weights), rel=1e-13)
    objectives = [step.objective for step in taken]
    assert objectives == sorted(objectives, reverse=True)


def test_a_penalty_beyond_the_largest_slope_keeps_every_weight_at_zero():
    toy = ToyProblem(c1=0.0, c2=0.0)
    toy.c1 = 1.01 * np.abs(toy.gradient(np.zeros(toy.n_weights))[1]).max()
    run = OWLQN().iterate(toy, np.zeros(toy.n_weights))
    assert next(run).info["non_zeros"] == 0
    with pytest.raises(StopIteration) as end:
        next(run)
    assert "no lower point along the pseudo-gradient of norm 0" in end.value.value


def test_at_the_limit_of_rounding_it_ends_soon_and_counts_its_vain_trials():
    toy = ToyProblem(c1=1.0, c2=0.0)
    taken = list(OWLQN().iterate(toy, np.zeros(toy.n_weights)))
    assert sum(step.passes for step in taken) == toy.evaluations < 100
    v = pseudo_gradient(taken[-1].weights, taken[-1].gradient, toy.c1)
    assert np.linalg.norm(v) < 1e-5
