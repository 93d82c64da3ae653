"""A step is tried: what it gains, from values where those can be trusted and from slopes where they cannot.

Near the optimum a reduction drowns in the rounding of the objective. The mean of the slopes at both ends of a step
stays accurate there, and is its reduction up to the third order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fastcrf.objective.capabilities import PointOfCurvature
from fastcrf.types import Floats
from fastcrf.vectors import dot

UNSEEN = 1e-9  # reductions below this, relative to the objective, are taken from slopes
ENOUGH = 1e-4  # of what the slope predicts
MOST_TRIALS = 30


class Trial(NamedTuple):
    """A trial step and where it leads."""

    weights: Floats
    value: float
    gradient: Floats
    reduction: float  # of the objective; -inf or NaN where it is not finite
    share: float  # of the step that was tried
    trials: int  # gradients that it took


def one_trial(
    point: PointOfCurvature, w: Floats, value: float, gradient: Floats, step: Floats, share: float = 1.0
) -> Trial:
    """The objective at w + share * step."""
    moved = w + share * step
    there, slope_there = point.gradient(moved)
    reduction = value - there
    if abs(reduction) <= UNSEEN * abs(value):
        reduction = -0.5 * share * (dot(gradient, step) + dot(slope_there, step))
    return Trial(moved, there, slope_there, reduction, share, 1)


def halvings(point: PointOfCurvature, w: Floats, value: float, gradient: Floats, step: Floats) -> Trial:
    """The first of step, step/2, step/4, ... that gains enough; the last one tried if none does."""
    slope = dot(gradient, step)
    for trials in range(1, MOST_TRIALS + 1):
        trial = one_trial(point, w, value, gradient, step, 0.5 ** (trials - 1))
        if math.isfinite(trial.value) and trial.reduction >= -ENOUGH * trial.share * slope:
            break
    return trial._replace(trials=trials)
