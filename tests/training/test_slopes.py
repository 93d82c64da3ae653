"""Stopping by the largest slope: measured for batch solvers, estimated and then confirmed for those that draw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.core.types import Step
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import ESTIMATE, GradientNorm, MaxIterations
from fastcrf.training.driver import minimize
from fastcrf.training.trace import Point
from reference.random_corpora import learnable_corpus, random_features
from reference.toy_problem import ToyProblem


def random_problem(c1=0.0, c2=0.5):
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4] * 4), random_features(0), c1, c2)


def shortest(problem, w):
    """The shortest sub-gradient, from its definition."""
    gradient = problem.gradient(w)[1]
    beside = np.sign(gradient) * np.maximum(np.abs(gradient) - problem.c1, 0.0)
    return np.where(w == 0.0, beside, gradient + problem.c1 * np.sign(w))


@pytest.mark.parametrize(("name", "c1"), [("lbfgs", 0.0), ("owlqn", 0.2)])
def test_a_batch_solver_stops_at_the_first_step_without_a_larger_slope(name, c1):
    problem = random_problem(c1)
    result = minimize(problem, make(name), stop=[GradientNorm(0.05), MaxIterations(100)])
    before = minimize(problem, make(name), stop=[MaxIterations(result.n_steps - 1)])
    assert result.status == "converged"
    assert "at most 0.05" in result.reason
    assert np.abs(shortest(problem, result.weights)).max() <= 0.05 < np.abs(shortest(problem, before.weights)).max()


@pytest.mark.parametrize(("name", "c1"), [("sag-nus-star", 0.0), ("saga", 0.0), ("prox-saga", 0.2), ("svrg", 0.0)])
def test_a_solver_that_draws_stops_when_estimate_and_gradient_agree_after_one_evaluation(name, c1):
    problem, delta = random_problem(c1), 1e-3
    result = minimize(problem, make(name), stop=[GradientNorm(delta, per_sequence=True), MaxIterations(400)])
    assert result.status == "converged"
    assert np.abs(shortest(problem, result.weights)).max() / problem.n_sequences <= delta
    assert "divided by the number of sequences, is" in result.reason
    if name != "svrg":  # which has the gradient at each step
        evaluated = [row["step"] for row in result.trace if row["objective"] is not None]
        assert len(evaluated) <= 3
        assert all(row[ESTIMATE] >= delta * problem.n_sequences for row in result.trace[: evaluated[0]])


@pytest.mark.parametrize(("name", "c1"), [("sag", 0.0), ("prox-saga", 0.2)])
def test_the_estimate_is_the_largest_slope_in_the_limit_and_infinite_before_all_are_seen(name, c1):
    problem = random_problem(c1)
    rows = minimize(problem, make(name), stop=[MaxIterations(150)])
    assert rows.trace[0][ESTIMATE] == math.inf
    slopes = rows.state["drift"] + 2.0 * problem.c2 * rows.weights
    expected = shortest(SlopesOf(problem, slopes), rows.weights)
    assert rows.trace[-1][ESTIMATE] == pytest.approx(np.abs(expected).max(), rel=1e-6, abs=1e-12)


class SlopesOf:
    """A problem whose gradient is what somebody says it is."""

    def __init__(self, problem, slopes):
        self.c1, self.slopes = problem.c1, slopes

    def gradient(self, w):
        return 0.0, self.slopes


def test_an_estimate_that_was_too_good_must_halve_before_the_next_evaluation():
    problem, rule, trace = ToyProblem(), GradientNorm(1e-3, per_sequence=True), []
    n = problem.n_sequences
    for number, share in enumerate([2.0, 0.9, 0.8, 0.5, 0.44, 0.4, 0.3, 0.21, 0.1]):
        step = Step(np.zeros(problem.n_weights), 1.0, info={ESTIMATE: share * 1e-3 * n})
        point = Point(problem, step, number, 0.0, 0.0, 0.0)
        assert rule.reason(point, trace) is None  # at zero the gradient is large
        trace.append(point.row())
    assert [row["step"] for row in trace if row["gradient_norm"] is not None] == [1, 4, 7, 8]
    assert problem.evaluations == 4


def test_an_estimator_takes_both_kinds_of_the_rule():
    X, y = [[["a"], ["b"]], [["b"], ["b", "c"]]] * 5, [["x", "y"], ["y", "x"]] * 5
    batch = CRF(c1=0.1, c2=0.1, tol=None, stopping=[GradientNorm(1e-3)], n_jobs=1).fit(X, y)
    mean = GradientNorm(1e-4, per_sequence=True)
    drawn = CRF("sag-nus-star", tol=None, stopping=[mean], n_jobs=1).fit(X, y)
    assert "at most 0.001" in batch.stop_reason_
    assert "at most 0.0001" in drawn.stop_reason_
