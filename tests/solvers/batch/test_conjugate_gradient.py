"""Nonlinear conjugate gradients: on a quadratic the linear method's points, elsewhere L-BFGS's optimum."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from fastcrf.solvers.batch import conjugate_gradient
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.registry import make
from reference.plain_descent import quadratic_conjugate_gradient
from reference.toy_problem import ToyProblem

NAMES = ["conjugate-gradient", "steepest-descent"]


class Quadratic:
    """x.H x / 2 - b.x."""

    c1, n_jobs = 0.0, 1

    def __init__(self, n=12):
        rng = np.random.default_rng(0)
        root = rng.normal(size=(n, n))
        self.H, self.b, self.n_weights = root @ root.T + np.eye(n), rng.normal(size=n), n

    def gradient(self, x):
        return float(0.5 * x @ self.H @ x - self.b @ x), self.H @ x - self.b


def steps(problem, solver, n):
    return list(islice(solver.iterate(problem, np.zeros(problem.n_weights)), n + 1))


@pytest.mark.parametrize("beta", ["polak-ribiere", "fletcher-reeves"])
def test_with_accurate_searches_a_quadratic_takes_the_steps_of_the_linear_method(beta, monkeypatch):
    monkeypatch.setattr(conjugate_gradient, "CURVATURE", 1e-9)
    quadratic = Quadratic()
    linear = quadratic_conjugate_gradient(quadratic.H, quadratic.b, 8)
    ours = [step.weights for step in steps(quadratic, make("conjugate-gradient", beta=beta, max_linesearch=60), 8)]
    np.testing.assert_allclose(ours, linear, rtol=1e-4, atol=1e-6)


def test_steepest_descent_always_goes_along_the_gradient():
    quadratic = Quadratic()
    taken = steps(quadratic, make("steepest-descent"), 20)
    for one, other in pairwise(taken):
        move = other.weights - one.weights
        assert move @ -one.gradient == pytest.approx(np.linalg.norm(move) * np.linalg.norm(one.gradient))


@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_is_that_of_quasi_newton(name):
    toy = ToyProblem(c2=0.5)
    lowest = steps(toy, LBFGS(), 60)[-1].objective
    taken = steps(toy, make(name), 150)
    assert taken[-1].objective == pytest.approx(lowest, rel=1e-9)
    objectives = [step.objective for step in taken]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(objectives))


def test_conjugacy_saves_evaluations():
    toy = ToyProblem(c2=0.01)
    spent = {}
    for name in NAMES:
        passes = 0
        for step in islice(make(name).iterate(toy, np.zeros(toy.n_weights)), 500):
            passes += step.passes
            if np.linalg.norm(step.gradient) < 1e-4:
                break
        spent[name] = passes
    assert spent["conjugate-gradient"] < 0.7 * spent["steepest-descent"]
