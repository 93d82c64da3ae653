"""F(w) as solvers evaluate it, and where a run begins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Diverged, Floats
from fastcrf.objective.capabilities import GradientProblem, PointOfCurvature
from fastcrf.penalties.regularizer import sparsity


def evaluate(problem: GradientProblem, weights: Floats) -> tuple[float, Floats]:
    """F(w), all penalties included, and the gradient of its smooth part. One pass."""
    smooth, gradient = problem.gradient(weights)
    if problem.c1 == 0.0:
        return smooth, gradient
    return smooth + sparsity(weights, problem.c1, problem.c1_factors), gradient


class Start(NamedTuple):
    """Where a run begins: a point with the objective there, and the passes that it took to know."""

    weights: Floats
    value: float
    gradient: Floats
    passes: int


def begin(name: str, problem: GradientProblem, weights: Floats, state: Mapping[str, Any] | None) -> Start:
    """The start of the solver `name`: as its memory says, or evaluated now."""
    if state:
        start = Start(np.array(state["weights"]), float(state["value"]), np.array(state["gradient"]), 0)
    else:
        start = Start(weights, *evaluate(problem, weights), 1)
    if not math.isfinite(start.value):
        raise Diverged(f"{name} cannot start where the objective is {start.value}.")
    return start


def begin_with_curvature(
    name: str, point: PointOfCurvature, weights: Floats, state: Mapping[str, Any] | None
) -> tuple[Floats, float, Floats, float]:
    """(weights, smooth part there, its gradient, passes spent) of the solver `name`."""
    if state:
        return np.array(state["weights"]), float(state["value"]), np.array(state["gradient"]), 0.0
    value, gradient = point.gradient(weights)
    if not math.isfinite(value):
        raise Diverged(f"{name} cannot start where the objective is {value}.")
    return weights, value, gradient, 1.0
