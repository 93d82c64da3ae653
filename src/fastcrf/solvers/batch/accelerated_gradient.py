"""Accelerated (proximal) gradient with backtracking and adaptive restart: FISTA.

Beck & Teboulle (2009), "A fast iterative shrinkage-thresholding algorithm for linear inverse problems", SIAM J. Imaging
Sciences 2(1), pp. 183-202; O'Donoghue & Candès (2015), "Adaptive restart for accelerated gradient schemes", Foundations
of Computational Mathematics 15, pp. 715-732.

Minimizes   F(w) = f(w) + c1 |w|_1,   f(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    y ← w,  t ← 1
    repeat
        w' ← prox(y - grad f(y) / L)                     soft threshold c1 / L
        while (grad f(w') - grad f(y)).(w' - y) > L |w' - y|^2:   L ← 2 L, w' again
        if (y - w').(w' - w) > 0:   t ← 1, y ← w', L ← L / 2      momentum points uphill: restart
        else:                       t' ← (1 + sqrt(1 + 4 t^2)) / 2,  y ← w' + (t - 1)/t' (w' - w),  t ← t'
        w ← w'

Differs from the papers: backtracking compares directional derivatives, not values (the same test for a quadratic f),
because values are not accurate enough near the optimum. L starts as the curvature along a step of length 1 in the
direction of the gradient, and is halved at a restart, because the theory starts over there. A Step costs two passes
(grad f at y and at w'), or one where y is w.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import POINT, WEIGHTS, StateField
from fastcrf.core.types import Diverged, Floats, Step
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import begin, evaluate
from fastcrf.penalties.proximal import proximal_step
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_truth

MOST_DOUBLINGS = 60


class Point(NamedTuple):
    """A point with F and the gradient of f there."""

    weights: Floats
    value: float
    gradient: Floats


@solver
class AcceleratedGradient:
    """Train with Nesterov's accelerated gradient method (FISTA), with L1 and L2 penalties.

    Parameters
    ----------
    restart
        Whether momentum restarts when it points uphill.
    """

    name: ClassVar[str] = "accelerated-gradient"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **POINT,
        "extrapolated": WEIGHTS,
        "t": StateField(low=1.0),
        "lipschitz": StateField(low=0.0),
    }

    restart: bool = True

    def __post_init__(self) -> None:
        check_truth(self.name, "restart", self.restart)

    def iterate(
        self, problem: GradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        start = begin(self.name, problem, weights, state)
        w, passes = Point(start.weights, start.value, start.gradient), start.passes
        y, t, L = weights, 1.0, 0.0
        if state:
            y, t, L = np.array(state["extrapolated"]), float(state["t"]), float(state["lipschitz"])
        info: dict[str, float] = {"non_zeros": int(np.count_nonzero(w.weights))}
        while True:
            reached = {"weights": w.weights, "value": w.value, "gradient": w.gradient}
            reached |= {"extrapolated": y, "t": t, "lipschitz": L}
            yield Step(w.weights, passes, w.value, w.gradient, info, reached)
            passes = 0
            if L == 0.0:
                L, passes = first_lipschitz(problem, w)
            gradient, resting = w.gradient, np.array_equal(y, w.weights)
            if not resting:
                gradient, passes = problem.gradient(y)[1], passes + 1
            moved, L, trials = backtrack(problem, y, gradient, L)
            passes += trials
            if resting and np.array_equal(moved.weights, w.weights):
                break
            info = {"step_size": 1.0 / L, "trials": trials, "non_zeros": int(np.count_nonzero(moved.weights))}
            ahead = moved.weights - w.weights
            if self.restart and dot(y - moved.weights, ahead) > 0.0:
                t, y, L = 1.0, moved.weights, 0.5 * L
            else:
                following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
                y = moved.weights + (t - 1.0) / following * ahead
                t = following
            w = moved
        yield Step(w.weights, passes, w.value, w.gradient, info, reached)  # the cost of the last step, which failed
        return "accelerated-gradient cannot improve further: the step along the gradient is below rounding."


def first_lipschitz(problem: GradientProblem, w: Point) -> tuple[float, int]:
    """Return (curvature of f along a step of length 1 in the direction of its gradient, passes spent)."""
    length = norm(w.gradient)
    if not length > 0.0:
        return 1.0, 0
    there = w.weights - w.gradient / length
    curvature = -dot(problem.gradient(there)[1] - w.gradient, w.gradient) / length
    return curvature if 0.0 < curvature < math.inf else length, 1


def backtrack(problem: GradientProblem, y: Floats, gradient: Floats, L: float) -> tuple[Point, float, int]:
    """Double L until the proximal step from y has a curvature of at most L; return (end of the step, L, passes
    spent).
    """
    for trials in range(1, MOST_DOUBLINGS + 1):
        moved = proximal_step(y, gradient, 1.0 / L, float(problem.c1))
        point = Point(moved, *evaluate(problem, moved))
        way = moved - y
        if math.isfinite(point.value) and dot(point.gradient - gradient, way) <= L * dot(way, way):
            return point, L, trials
        L *= 2.0
    raise Diverged(f"accelerated-gradient found no step without overflow in {MOST_DOUBLINGS} trials.")
