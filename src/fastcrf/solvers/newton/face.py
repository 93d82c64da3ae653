"""Newton-CG on the face of the L1 penalty that a point lies on.

Where no weight changes its sign, c1 |w|_1 is linear, and F is smooth in the weights that are not zero:

    s ← conjugate gradients on  H s = -(g + c1 sign(w))  over those weights, scaled by the roots of their variances,
        within a ball of four times the last move
    t ← first of 1, 1/2, 1/4, ... that gains enough, with exactly 0 where w + t s would change a sign
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import HessianProblem
from fastcrf.penalties.orthant import step_within_orthant
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.newton.steihaug import steihaug

ENOUGH = 1e-4  # of what the slope predicts
LONGER = 4.0  # than the last move: how far the model is trusted
MOST_TRIALS = 4  # before it is better to look for another face
FLOOR = 0.05  # of the variance of a feature


class Point(NamedTuple):
    """A place, with F there and the gradient of the smooth part."""

    weights: Floats
    value: float
    gradient: Floats


class Face:
    """Newton steps of a problem on the faces that they begin on."""

    def __init__(self, problem: HessianProblem, max_products: int) -> None:
        self.problem, self.max_products = problem, max_products
        self.point = problem.curvature()

    def search(self, here: Point, steepest: Floats, move: Floats) -> tuple[Point | None, float, dict[str, float]]:
        """(a lower point or None, passes spent, what there is to tell); `move` is the last change of the weights."""
        w, c1 = here.weights, float(self.problem.c1)
        scales = 1.0 / np.sqrt(np.maximum(self.problem.variance_bounds(w, here.gradient), FLOOR))
        scales[w == 0.0] = 0.0
        slopes = scales * steepest
        length = norm(slopes)
        forcing = min(0.1, math.sqrt(length / self.problem.n_sequences))
        self.point.gradient(w)

        def product(direction: Floats) -> Floats:
            return scales * self.point.product(scales * direction)

        stop = self.problem.asked_to_stop
        radius = LONGER * norm(move[w != 0.0] / scales[w != 0.0])
        inner = steihaug(product, slopes, radius, forcing * length, self.max_products, stop)
        step, passes = scales * inner.step, 1.0 + inner.products
        info: dict[str, float] = {"products": inner.products}
        trials = 0
        while trials < MOST_TRIALS and not inner.broken_off:
            moved = step_within_orthant(w, step, 0.5**trials)
            smooth, gradient = self.point.gradient(moved)
            value, trials = smooth + c1 * float(np.abs(moved).sum()), trials + 1
            slope = dot(steepest, moved - w)
            if slope < 0.0 and math.isfinite(value) and value <= here.value + ENOUGH * slope:
                return Point(moved, value, gradient), passes + trials, info | {"trials": trials}
        return None, passes + trials, info | {"trials": trials}
