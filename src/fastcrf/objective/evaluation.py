"""Evaluate F(w) for solvers, and determine the start of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Diverged, Floats
from fastcrf.objective.capabilities import GradientProblem, PointOfCurvature
from fastcrf.penalties.regularizer import sparsity


def evaluate(problem: GradientProblem, weights: Floats) -> tuple[float, Floats]:
    """Return F(w), all penalties included, and the gradient of its smooth part. One pass."""
    smooth, gradient = problem.gradient(weights)
    if problem.c1 == 0.0:
        return smooth, gradient
    return smooth + sparsity(weights, problem.c1, problem.c1_factors), gradient


class Start(NamedTuple):
    """The start of a run: a point, the objective there, and the passes spent on it."""

    weights: Floats
    value: float
    gradient: Floats
    passes: int


def begin(name: str, problem: GradientProblem, weights: Floats, state: Mapping[str, Any] | None) -> Start:
    """Return the start of the solver `name`: from its state, or evaluated now."""
    if state:
        start = Start(np.array(state["weights"]), float(state["value"]), np.array(state["gradient"]), 0)
    else:
        start = Start(weights, *evaluate(problem, weights), 1)
    if not math.isfinite(start.value):
        raise Diverged(f"{name} cannot start at weights with the objective {start.value}; start from other weights.")
    return start


def begin_with_curvature(
    name: str, point: PointOfCurvature, weights: Floats, state: Mapping[str, Any] | None
) -> tuple[Floats, float, Floats, float]:
    """Return (weights, smooth part there, its gradient, passes spent) of the solver `name`."""
    if state:
        return np.array(state["weights"]), float(state["value"]), np.array(state["gradient"]), 0.0
    value, gradient = point.gradient(weights)
    if not math.isfinite(value):
        raise Diverged(f"{name} cannot start at weights with the objective {value}; start from other weights.")
    return weights, value, gradient, 1.0
