"""Where a run begins: as its memory says, or at a first gradient that leaves something behind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.objective.capabilities import PointOfCurvature
from fastcrf.types import Diverged, Floats


def begin(
    name: str, point: PointOfCurvature, weights: Floats, memory: Mapping[str, Any] | None
) -> tuple[Floats, float, Floats, float]:
    """(weights, smooth part there, its gradient, passes spent) of the solver `name`."""
    if memory:
        return np.array(memory["weights"]), float(memory["value"]), np.array(memory["gradient"]), 0.0
    value, gradient = point.gradient(weights)
    if not math.isfinite(value):
        raise Diverged(f"{name} cannot start where the objective is {value}.")
    return weights, value, gradient, 1.0
