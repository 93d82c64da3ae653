"""Quasi-Newton with a diagonal preconditioner of the features' scales: a change of variables, for the same optimum."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize
from reference.random_corpora import learnable_corpus, random_features


def corpus_problem(c1, c2):
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), c1, c2)


class Scaled:
    """The problem in the variables w / scales."""

    c1, n_jobs = 0.0, 1

    def __init__(self, problem, scales):
        self.problem, self.scales, self.n_weights, self.c2 = problem, scales, problem.n_weights, problem.c2

    def gradient(self, v):
        value, gradient = self.problem.gradient(self.scales * v)
        return value, self.scales * gradient


def test_the_metric_of_counts_is_a_change_of_variables():
    """At zero, expected counts are the gradient plus observed ones, and D is the fourth root of 1 / (1 + both)."""
    problem = corpus_problem(0.0, 0.5)
    start = np.zeros(problem.n_weights)
    observed = problem.observed_counts()
    scales = (1.0 + 2.0 * observed + problem.gradient(start)[1]) ** -0.125
    plain = [scales * step.weights for step in islice(LBFGS().iterate(Scaled(problem, scales), start), 12)]
    ours = [step.weights for step in islice(LBFGS(preconditioner="counts").iterate(problem, start.copy()), 12)]
    np.testing.assert_allclose(ours, plain, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("name", "c1"), [("lbfgs", 0.0), ("owlqn", 0.5), ("prox-lbfgs", 0.5)])
def test_the_optimum_is_the_same_in_either_metric_and_after_a_break(name, c1):
    problem = corpus_problem(c1, 0.1)
    plain = minimize(problem, make(name), stop=[MaxIterations(300)]).weights
    solver = make(name, preconditioner="counts")
    ours = minimize(problem, solver, stop=[MaxIterations(300)]).weights
    np.testing.assert_allclose(ours, plain, atol=1e-4)
    np.testing.assert_array_equal(ours == 0.0, plain == 0.0)
    begun = minimize(problem, solver, stop=[MaxIterations(4)])
    resumed = minimize(problem, solver, state=begun.state, stop=[MaxIterations(5)])
    np.testing.assert_array_equal(resumed.weights, minimize(problem, solver, stop=[MaxIterations(9)]).weights)


def test_an_unknown_metric_is_a_sentence():
    with pytest.raises(
        ValueError, match="owlqn: preconditioner must be one of none, counts; got preconditioner='variances'"
    ):
        make("owlqn", preconditioner="variances")
