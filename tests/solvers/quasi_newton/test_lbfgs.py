"""L-BFGS on small problems with a known optimum."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.optimize

from fastcrf.core.types import Diverged
from fastcrf.objective.problem import Problem
from fastcrf.solvers.line_search import SmoothRay
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from reference.random_corpora import random_corpus, random_features
from reference.toy_problem import ToyProblem


def steps(problem, solver=None, n=50, start=None):
    start = np.zeros(problem.n_weights) if start is None else start
    return list(islice((solver or LBFGS()).iterate(problem, start), n + 1))


@pytest.mark.parametrize("c2", [0.01, 1.0, 30.0])
def test_reaches_the_optimum_that_scipy_finds(c2):
    toy = ToyProblem(c2=c2)
    start = np.zeros(toy.n_weights)
    theirs = scipy.optimize.minimize(
        toy.gradient, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000}
    )
    ours = steps(toy, n=60)[-1]
    assert ours.objective == pytest.approx(theirs.fun, rel=1e-12)
    np.testing.assert_allclose(ours.weights, theirs.x, atol=1e-6)


@pytest.mark.parametrize("pairs", [1, 3, 20])
def test_every_step_satisfies_the_wolfe_conditions_and_the_objective_falls(pairs):
    toy = ToyProblem(c2=0.1, seed=pairs)
    run = LBFGS(pairs=pairs).iterate(toy, np.zeros(toy.n_weights))
    before = next(run)
    for now in islice(run, 12):
        move = now.weights - before.weights
        assert now.objective <= before.objective + 1e-4 * (before.gradient @ move)
        assert abs(now.gradient @ move) <= -0.9 * (before.gradient @ move) * (1 + 1e-9)
        before = now


def test_the_first_direction_is_steepest_descent_and_the_second_uses_curvature():
    toy = ToyProblem(c2=0.1)
    first, second, third = (step.weights.copy() for step in steps(toy, n=2))
    _, gradient = toy.gradient(first)
    np.testing.assert_allclose((second - first) / np.linalg.norm(second - first), -gradient / np.linalg.norm(gradient))
    move = third - second
    _, gradient = toy.gradient(second)
    cosine = -(move @ gradient) / np.linalg.norm(move) / np.linalg.norm(gradient)
    assert 0 < cosine < 0.999


def test_a_long_memory_solves_a_small_quadratic_in_few_steps():
    """With exact line searches it would take as many steps as there are dimensions."""

    class Quadratic:
        n_weights, n_jobs, c1, c2 = 6, 1, 0.0, 0.0
        diagonal = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0])

        def gradient(self, w):
            return float(0.5 * w @ (self.diagonal * w)), self.diagonal * w

    assert steps(Quadratic(), LBFGS(pairs=20), n=20, start=np.ones(6))[-1].objective < 1e-12


def test_the_line_search_is_not_repeated_when_the_unit_step_will_do():
    toy = ToyProblem(c2=1.0)
    late = steps(toy, n=15)[5:]
    assert sum(step.passes for step in late) <= len(late) + 2


def test_at_the_optimum_it_finishes_with_a_sentence_or_stays():
    toy = ToyProblem(c2=1.0)
    optimum = steps(toy, n=100)[-1].weights.copy()
    again = steps(toy, n=20, start=optimum)
    assert all(np.abs(step.weights - optimum).max() < 1e-9 for step in again)


def test_a_gradient_of_zero_ends_the_run_at_once():
    class Flat:
        n_weights, n_jobs, c1, c2 = 3, 1, 0.0, 0.0

        def gradient(self, w):
            return 1.0, np.zeros(3)

    run = LBFGS().iterate(Flat(), np.zeros(3))
    assert next(run).passes == 1
    with pytest.raises(StopIteration) as end:
        next(run)
    assert "no lower point" in end.value.value


def test_an_inconsistent_gradient_ends_the_run_with_all_trials_counted():
    class Lying(ToyProblem):
        def gradient(self, w):
            value, gradient = super().gradient(w)
            return value, -gradient

    toy = Lying()
    run = LBFGS(max_linesearch=5).iterate(toy, np.zeros(toy.n_weights))
    taken, end = [], None
    while end is None:
        try:
            taken.append(next(run))
        except StopIteration as stop:
            end = stop
    assert sum(step.passes for step in taken) == toy.evaluations
    assert "no lower point" in end.value


def test_a_start_without_a_finite_objective_is_divergence():
    toy = ToyProblem()
    with pytest.raises(Diverged, match="cannot start at weights with the objective nan"):
        next(LBFGS().iterate(toy, np.full(toy.n_weights, np.nan)))


def test_when_the_pairs_mislead_steepest_descent_is_tried_and_both_searches_are_counted():
    """Five evaluations in a row are too high, and a line search may look five times."""

    class Misleading(ToyProblem):
        def gradient(self, w):
            value, gradient = super().gradient(w)
            return value + 1e3 * (6 <= self.evaluations <= 10), gradient

    toy = Misleading(c2=0.1)
    taken = steps(toy, LBFGS(max_linesearch=5), n=8)
    assert sum(step.passes for step in taken) == toy.evaluations
    restarted = [step for step in taken if step.info.get("pairs") == 1]
    assert len(restarted) == 2
    assert restarted[1].passes > 5


def test_a_warm_start_close_to_the_optimum_needs_few_trials():
    toy = ToyProblem(c2=1.0)
    optimum = steps(toy, n=100)[-1].weights
    close = optimum + 1e-7 * np.random.default_rng(0).normal(size=toy.n_weights)
    assert [step.passes for step in steps(toy, n=2, start=close)][1] <= 3


@pytest.mark.parametrize(("option", "value"), [("pairs", 0), ("pairs", 2.5), ("max_linesearch", 0), ("pairs", True)])
def test_a_wrong_option_raises_an_error(option, value):
    with pytest.raises(ValueError, match=f"lbfgs: {option} must be a whole number of at least 1; got {option}="):
        LBFGS(**{option: value})


def test_rays_share_nothing_with_the_weights_they_start_from():
    toy = ToyProblem()
    w = np.ones(toy.n_weights)
    trial = SmoothRay(toy, w, -w).at(0.0)
    assert not np.shares_memory(trial.weights, w)


def test_it_ends_by_itself_when_nothing_is_left_to_gain():
    problem = Problem(random_corpus(1, lengths=[3, 1, 5, 2] * 3), random_features(1), c2=1.0)
    run = steps(problem, n=500)
    assert len(run) < 100
    assert problem.certificate(run[-1].weights).relative_gap < 1.1e-12  # the rounding of F, and no more
