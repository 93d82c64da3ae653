"""Each stopping rule at its limit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastcrf.core.types import Step
from fastcrf.stopping import (
    CertifiedGap,
    EarlyStopping,
    GradientNorm,
    MaxIterations,
    MaxPasses,
    MaxSeconds,
    RelativeDecrease,
)
from fastcrf.training.trace import Point
from reference.toy_problem import ToyProblem


def point(number=0, passes=0.0, seconds=0.0, objective=1.0, gradient=None, weights=None, problem=None, scores=None):
    problem = problem or ToyProblem()
    weights = np.zeros(problem.n_weights) if weights is None else weights
    gradient = np.ones(problem.n_weights) if gradient is None else gradient
    there = Point(problem, Step(weights, 0.0, objective, gradient), number, passes, seconds, wall=0.0)
    there.scores = scores or {}
    return there


def rows(*objectives):
    return [{"step": k, "objective": objective, "gap": None} for k, objective in enumerate(objectives)]


@pytest.mark.parametrize(
    ("rule", "below", "at"),
    [
        (MaxIterations(3), point(number=2), point(number=3)),
        (MaxPasses(2.5), point(passes=2.4), point(passes=2.5)),
        (MaxSeconds(0.5), point(seconds=0.4), point(seconds=0.5)),
    ],
)
def test_a_limit_stops_when_it_is_reached_and_says_so(rule, below, at):
    assert rule.reason(below, []) is None
    assert f"{rule.limit}" in rule.reason(at, [])
    assert rule.status == "stopped"


def test_the_gradient_norm_is_that_of_the_shortest_sub_gradient():
    problem = ToyProblem(c1=2.0, c2=0.0)
    inside = point(problem=problem, gradient=np.full(problem.n_weights, 1.9))
    outside = point(problem=problem, gradient=np.full(problem.n_weights, 2.1))
    assert "gradient is 0, at most" in GradientNorm(1e-9).reason(inside, [])
    assert GradientNorm(1e-9).reason(outside, []) is None


def test_the_relative_decrease_compares_with_the_objective_some_iterations_ago():
    rule = RelativeDecrease(0.1, iterations=2)
    assert rule.reason(point(number=1, objective=100.0), rows(100.0)) is None
    assert rule.reason(point(number=2, objective=99.9), rows(110.0, 104.0)) is None
    assert rule.reason(point(number=2, objective=100.0), rows(110.0, 104.0)) is not None  # exactly at the limit
    assert "0.0909" in rule.reason(point(number=2, objective=100.83), rows(110.0, 104.0))
    assert rule.reason(point(number=3, objective=100.0), rows(1.0, 150.0, 101.0)) is None


def test_the_relative_decrease_takes_an_increase_for_the_end():
    reason = RelativeDecrease(1e-5, iterations=1).reason(point(number=1, objective=2.0), rows(1.0))
    assert reason == "The objective rose by a relative 0.5 in 1 iterations."


def test_the_relative_decrease_compares_online_objectives_where_the_solver_has_them():
    problem, rule = ToyProblem(), RelativeDecrease(0.1, iterations=1)
    earlier = [{"objective": 1e9, "online_objective": 120.0}]
    for online, fires in [(109.2, True), (109.0, False)]:
        step = Step(np.zeros(problem.n_weights), 1.0, info={"online_objective": online})
        reason = rule.reason(Point(problem, step, 1, 1.0, 0.0, 0.0), earlier)
        assert (reason is not None) == fires
    assert problem.evaluations == 0
    assert rule.reason(Point(problem, step, 1, 1.0, 0.0, 0.0), [{"objective": 109.0}]) is None  # the start has none


def test_an_objective_that_the_solver_did_not_evaluate_is_evaluated_once():
    problem = ToyProblem()
    there = Point(problem, Step(np.zeros(problem.n_weights), 1.0), 0, 1.0, 0.0, 0.0)
    assert there.row()["objective"] is None
    RelativeDecrease(1e-5).reason(there, [])
    GradientNorm(1e-3).reason(there, [])
    CertifiedGap(1e-3).reason(there, [])
    assert problem.evaluations == 1
    assert there.row()["objective"] == pytest.approx(problem.value(there.weights))


def test_the_certified_gap_is_relative_to_the_lower_bound():
    problem = ToyProblem(c2=30.0)
    w = np.zeros(problem.n_weights)
    value, gradient = problem.gradient(w)
    relative = problem.certificate(w).relative_gap
    there = point(problem=problem, objective=value, gradient=gradient)
    assert CertifiedGap(relative * 0.999).reason(there, []) is None
    assert f"{relative:.1e}" in CertifiedGap(relative * 1.001).reason(there, [])


class CertificateCounter(ToyProblem):
    certificates = 0

    def certificate(self, *arguments):
        self.certificates += 1
        return super().certificate(*arguments)


def test_where_a_certificate_costs_a_pass_it_is_asked_for_after_small_gains_and_ever_more_rarely():
    problem = CertificateCounter(c1=1.0, c2=0.0)
    trace = [{"step": 0, "objective": 1000.0, "gap": 1.0}]
    for k in range(1, 101):
        there = point(problem=problem, number=k, objective=1000.0 - k if k <= 20 else 980.0)
        CertifiedGap(1e-12).reason(there, trace)
        trace.append(there.row())
    asked = [row["step"] for row in trace[1:] if row["gap"] is not None]
    assert asked[0] == 21
    assert problem.certificates == len(asked) < 20
    assert asked[-1] > 85


def test_the_held_out_score_may_rest_for_as_long_as_patience_lasts():
    rule = EarlyStopping(2, score="f1")
    trace = [{"dev_f1": 0.5}, {"dev_f1": 0.7}, {"dev_f1": 0.7}]
    assert rule.reason(point(number=3, scores={"dev_f1": 0.71}), trace) is None
    assert "it was 0.7 at iteration 1" in rule.reason(point(number=3, scores={"dev_f1": 0.7}), trace)
    assert rule.reason(point(number=2, scores={"dev_f1": 0.6}), trace[:2]) is None
    assert rule.status == "requested"


def test_a_score_that_is_not_a_number_is_never_the_best():
    trace = [{"dev_f1": math.nan}, {"dev_f1": 0.5}, {"dev_f1": math.nan}]
    assert "it was 0.5 at iteration 1" in EarlyStopping(2, score="f1").reason(
        point(number=3, scores={"dev_f1": math.nan}), trace
    )
