"""Faces of the L1 penalty: the smooth function on one, and how much of OWL-QN's work they save."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.lab.l1_polishing import Face, polish
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxPasses
from fastcrf.training.driver import minimize
from reference.toy_problem import ToyProblem


def somewhere(problem, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=problem.n_weights) * (rng.random(problem.n_weights) < 0.5)


@given(seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_on_a_face_the_objective_is_the_whole_one_and_its_gradient_is_right(seed):
    problem = ToyProblem(c1=0.7, c2=0.1)
    weights = somewhere(problem, seed)
    face = Face(problem, weights, problem.gradient(weights)[1])
    free = weights[face.free]
    value, gradient = face.gradient(free)
    np.testing.assert_array_equal(face.embedded(free), weights)
    assert value == pytest.approx(problem.value(weights))
    steps = 1e-6 * np.eye(len(free))
    slopes = [(face.value(free + step) - face.value(free - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-5)


def test_a_weight_at_zero_is_free_only_if_the_objective_falls_there():
    problem = ToyProblem(c1=5.0, c2=0.1)
    zero = np.zeros(problem.n_weights)
    gradient = problem.gradient(zero)[1]
    face = Face(problem, zero, gradient)
    assert set(face.free) == set(np.flatnonzero(np.abs(gradient) > 5.0))
    assert 0 < len(face.free) < problem.n_weights
    np.testing.assert_array_equal(face.signs[face.free], -np.sign(gradient[face.free]))


@pytest.mark.parametrize("c2", [0.0, 0.2])
@pytest.mark.parametrize("c1", [0.5, 3.0])
def test_it_takes_what_owlqn_found_to_the_optimum(c1, c2):
    problem = ToyProblem(c1=c1, c2=c2)
    rough = minimize(problem, make("owlqn"), stop=[MaxPasses(30)])
    weights, certificate = polish(problem, rough.weights, 1e-8)
    assert certificate.relative_gap <= 1e-8
    assert problem.value(weights) <= rough.certificate.objective


def test_it_never_goes_up_and_stays_at_an_optimum():
    problem = ToyProblem(c1=1.0, c2=0.1)
    weights, _ = polish(problem, somewhere(problem, 3), 1e-12)
    assert problem.value(weights) <= problem.value(somewhere(problem, 3))
    again, _ = polish(problem, weights, 1e-15)
    assert problem.value(again) <= problem.value(weights)
