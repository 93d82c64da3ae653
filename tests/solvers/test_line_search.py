"""Line searches on functions of one variable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fastcrf.penalties.orthant import pseudo_gradient
from fastcrf.solvers.line_search import NOISE, SmoothRay, Trial, backtrack, strong_wolfe
from fastcrf.solvers.quasi_newton.owlqn import OrthantRay
from reference.toy_problem import ToyProblem


class Curve:
    """A ray over a plain function of the step; remembers where it was asked."""

    def __init__(self, value, slope):
        self.value, self.slope, self.steps = value, slope, []

    def at(self, step):
        self.steps.append(step)
        return Trial(step, self.value(step), self.slope(step), np.array([step]), np.array([self.slope(step)]))


def search(curve, step, **options):
    return strong_wolfe(curve, curve.value(0.0), curve.slope(0.0), step, **options)


def assert_strong_wolfe(curve, trial, decrease=1e-4, curvature=0.9):
    allowed = curve.value(0.0) + decrease * trial.step * curve.slope(0.0)
    assert trial.value <= allowed + NOISE * abs(curve.value(0.0))
    assert abs(trial.slope) <= -curvature * curve.slope(0.0)


def quadratic(minimum=1.0, curvature=1.0):
    return Curve(lambda t: 0.5 * curvature * (t - minimum) ** 2, lambda t: curvature * (t - minimum))


@settings(max_examples=300)
@given(
    minimum=st.floats(1e-4, 1e4),
    first=st.floats(1e-4, 1e4),
    quartic=st.floats(0.0, 10.0),
    ripple=st.floats(0.0, 3.0),
    constants=st.sampled_from([(1e-4, 0.9), (1e-4, 0.1), (0.3, 0.9)]),
)
def test_the_step_satisfies_both_wolfe_conditions_and_no_trial_was_lower(minimum, first, quartic, ripple, constants):
    """On a rippled quartic bowl, from steps far too short to far too long."""
    decrease, curvature = constants
    curve = Curve(
        lambda t: (x := t / minimum - 1.0) ** 2 + quartic * x**4 + ripple * math.sin(3.0 * x) / 3.0,
        lambda t: (2.0 * (x := t / minimum - 1.0) + 4.0 * quartic * x**3 + ripple * math.cos(3.0 * x)) / minimum,
    )
    assume(curve.slope(0.0) < 0)
    found, trials = search(curve, first, decrease=decrease, curvature=curvature, max_trials=60)
    assert trials == len(curve.steps)
    assert_strong_wolfe(curve, found, decrease, curvature)
    start, slope = curve.value(0.0), curve.slope(0.0)
    low_enough = [value for t in curve.steps if (value := curve.value(t)) <= start + decrease * t * slope]
    assert found.value <= min(low_enough, default=math.inf) + NOISE * abs(start)


def test_a_step_that_will_do_is_taken_at_once():
    found, trials = search(quadratic(minimum=1.0), 1.0)
    assert (found.step, trials) == (1.0, 1)


@pytest.mark.parametrize("first", [1e-6, 1e6])
def test_six_orders_of_magnitude_take_few_trials(first):
    _, trials = search(quadratic(), first)
    assert trials <= 14


@pytest.mark.parametrize("wall", [math.inf, math.nan, -math.inf])
def test_values_that_are_not_finite_are_stepped_back_from(wall):
    bowl = quadratic(minimum=0.5)
    curve = Curve(lambda t: bowl.value(t) if t < 2.0 else wall, lambda t: bowl.slope(t) if t < 2.0 else math.nan)
    found, _ = search(curve, 100.0)
    assert_strong_wolfe(curve, found)


def test_a_finite_value_with_a_slope_that_is_not_finite_is_stepped_back_from():
    curve = Curve(lambda t: 1.0 - t, lambda t: -1.0 if t < 2.0 else math.nan)
    found, _ = search(curve, 8.0, max_trials=5)
    assert found.step < 2.0


def test_an_objective_of_minus_infinity_is_no_success():
    curve = Curve(lambda t: 0.0 if t == 0.0 else -math.inf, lambda t: -1.0)
    assert search(curve, 1.0).found is None
    assert backtrack(curve, 0.0, 1.0).found is None


def test_without_a_lower_point_nothing_is_found():
    curve = Curve(lambda t: 1.0 + t, lambda t: -1.0)  # the slope lies
    assert search(curve, 1.0, max_trials=7) == (None, 7)


def test_when_trials_run_out_a_lower_point_will_do():
    curve = Curve(lambda t: -t, lambda t: -1.0)  # no minimum: the curvature condition never holds
    found, trials = search(curve, 1.0, max_trials=5)
    assert trials == 5
    assert found.step > 1.0
    assert found.value < 0.0


def test_slopes_decide_where_rounding_hides_the_values():
    """1e12 + t (t - 2) 1e-9: the decrease is far below the last digit, the slope still says where the minimum is."""
    noise = np.random.default_rng(0)
    curve = Curve(
        lambda t: 1e12 * (1.0 + 2e-16 * noise.integers(-1, 2)) + 1e-9 * t * (t - 2.0), lambda t: 2e-9 * (t - 1.0)
    )
    found, trials = search(curve, 30.0, curvature=0.1)
    assert abs(found.step - 1.0) <= 0.1
    assert trials <= 6


def test_backtracking_ends_where_the_gain_could_not_be_seen():
    curve = Curve(lambda t: 1.0 + 1e-12 * (t > 0), lambda t: -1e-14)
    assert backtrack(curve, 1.0, 1.0) == (None, 1)


def test_backtracking_takes_the_first_step_that_gains_enough():
    toy = ToyProblem(c1=0.7, c2=0.1)
    w = np.where(np.arange(toy.n_weights) % 3, 0.3, 0.0)
    v = pseudo_gradient(w, toy.gradient(w)[1], toy.c1)
    ray, value = OrthantRay(toy, w, -8.0 * v, v), toy.value(w)
    found, trials = backtrack(ray, value, 1.0)
    assert trials > 1
    assert found.value == pytest.approx(toy.value(found.weights), rel=1e-14)
    assert found.value <= value + 1e-4 * (v @ (found.weights - w))
    before = ray.at(2.0 * found.step)
    assert before.value > value + 1e-4 * (v @ (before.weights - w))


def test_backtracking_gives_up_after_max_trials():
    uphill = Curve(lambda t: 1.0 + t, lambda t: -1.0)
    assert backtrack(uphill, 1.0, 1.0, max_trials=4) == (None, 4)


def test_rays_evaluate_value_slope_and_gradient_at_the_moved_weights():
    toy = ToyProblem(c1=0.0, c2=0.3)
    rng = np.random.default_rng(1)
    w, d = rng.normal(size=(2, toy.n_weights))
    trial = SmoothRay(toy, w, d).at(0.25)
    value, gradient = toy.gradient(w + 0.25 * d)
    assert trial.value == pytest.approx(value, rel=1e-14)
    assert trial.slope == pytest.approx(gradient @ d, rel=1e-12)
    np.testing.assert_allclose(trial.weights, w + 0.25 * d, rtol=1e-15)
    np.testing.assert_allclose(trial.gradient, gradient, rtol=1e-12)
