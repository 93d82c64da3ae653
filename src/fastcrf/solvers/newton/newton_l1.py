"""Proximal Newton for L1 penalties: minimize a quadratic model plus the exact penalty, then search along the line.

Zhong, Yen, Dhillon & Ravikumar (2014), "Proximal quasi-Newton for computationally intensive L1-regularized
M-estimators", NIPS, pp. 2375-2383.

Minimizes   F(w) = f(w) + c1 |w|_1,   f(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat
        free ← weights that are not zero, and those at zero with |grad f| > c1
        d ← argmin over the free weights of   g.d + d.B d / 2 + c1 |w + d|_1        by coordinate descent on the model
        t ← first of 1, 1/2, 1/4, ... with  F(w + t d) <= F(w) + 1e-4 t (g.d + c1 |w + d|_1 - c1 |w|_1)
        w ← w + t d;   B ← with the pair of this move

Differs from the paper: B begins as a diagonal that follows the data (the square root of a bound on the variance of each
feature, scaled to the newest pair) instead of a multiple of the identity; coordinate descent reads it in single
precision; and later sweeps skip a weight by one rule, that it stayed at zero.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import POINT, StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import HessianProblem, PointOfCurvature
from fastcrf.objective.evaluation import begin_with_curvature
from fastcrf.penalties.orthant import pseudo_gradient
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.newton import proximal_model
from fastcrf.solvers.newton.proximal_model import ProximalModel
from fastcrf.solvers.options import check_positive, check_whole

ENOUGH = 1e-4  # of the predicted decrease
ROUNDING = 1e-13  # predicted decreases below this, relative to the objective, are not visible in its values
MOST_TRIALS = 20
FLOOR = 0.05  # of the variance of a feature


class Point(NamedTuple):
    """A point with F and the gradient of the smooth part there."""

    weights: Floats
    value: float
    gradient: Floats


@solver
class NewtonL1:
    """Train with a proximal quasi-Newton method and coordinate descent, for c1 > 0.

    Parameters
    ----------
    pairs
        Curvature pairs.
    sweeps
        Limit on sweeps of coordinate descent over the free weights per step.
    tolerance
        Largest move of a sweep, relative to the first one, at which the sweeps end.
    """

    name: ClassVar[str] = "newton-l1"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient", "hessian"})
    handles: ClassVar[frozenset[str]] = frozenset({"l1", "l1+l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {**POINT, **proximal_model.STATE_FIELDS}

    pairs: int = 20
    sweeps: int = 10
    tolerance: float = 0.05

    def __post_init__(self) -> None:
        check_whole(self.name, "pairs", self.pairs, 1)
        check_whole(self.name, "sweeps", self.sweeps, 1)
        check_positive(self.name, "tolerance", self.tolerance)

    def iterate(
        self, problem: HessianProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        model, point = ProximalModel(self.pairs, problem.n_weights, problem.n_jobs), problem.curvature(0)
        w, smooth, g, passes = begin_with_curvature(self.name, point, weights, state)
        here = Point(w, smooth + (0.0 if state else problem.c1 * float(np.abs(w).sum())), g)
        if state:
            model.restore(self.name, state)
        info: dict[str, float] = {"non_zeros": int(np.count_nonzero(w))}
        while True:
            reached = {"weights": here.weights, "value": here.value, "gradient": here.gradient}
            yield Step(here.weights, passes, here.value, here.gradient, info, {**reached, **model.state()})
            steepest = pseudo_gradient(here.weights, here.gradient, float(problem.c1))
            found, passes, sweeps = self._search(problem, point, model, here, steepest)
            info = {"sweeps": sweeps}
            if found is None:
                break
            model.add(found.weights - here.weights, found.gradient - here.gradient)
            here = found
            info |= {"non_zeros": int(np.count_nonzero(here.weights))}
        if passes:  # the cost of the last search, which failed
            yield Step(here.weights, passes, here.value, here.gradient, info, {**reached, **model.state()})
        return (
            f"{self.name} cannot improve further: there is no lower point along the pseudo-gradient of norm "
            f"{norm(steepest):.3g}."
        )

    def _search(
        self, problem: HessianProblem, point: PointOfCurvature, model: ProximalModel, here: Point, steepest: Floats
    ) -> tuple[Point | None, float, int]:
        """Return (a lower point, its gradients and sweeps); search again without pairs if there is none with them."""
        w, g, c1 = here.weights, here.gradient, float(problem.c1)
        free = np.flatnonzero((w != 0.0) | (steepest != 0.0))
        variance = problem.variance_bounds(w, g)
        diagonal = model.scaled(np.sqrt(np.maximum(variance, FLOOR)), steepest)
        direction, sweeps = model.minimum(free, w, g, c1, diagonal, self.sweeps, self.tolerance)
        slope = dot(g, direction) + c1 * float(np.abs(w + direction).sum() - np.abs(w).sum())
        trials = 0
        while trials < MOST_TRIALS and slope < -ROUNDING * abs(here.value):
            share = 0.5**trials
            moved = w + share * direction
            smooth, gradient = point.gradient(moved)
            value, trials = smooth + c1 * float(np.abs(moved).sum()), trials + 1
            if math.isfinite(value) and value <= here.value + ENOUGH * share * slope:
                return Point(moved, value, gradient), trials, sweeps
        if not len(model):
            return None, trials, sweeps
        model.forget()
        found, more, sweeps = self._search(problem, point, model, here, steepest)
        return found, trials + more, sweeps
