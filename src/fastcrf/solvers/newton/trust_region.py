"""The trust region of a quadratic model: the rules and constants of Lin, Weng & Keerthi (2008), section 2.3.

The radius follows the ratio of the reduction of the objective to that of the model. The optimal length along the step,
from a parabola through both ends, determines how much the radius changes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import PointOfCurvature
from fastcrf.simd.vectors import dot

ACCEPTED, FAIR, GOOD = 1e-4, 0.25, 0.75  # eta_0, eta_1, eta_2: ratios of the reductions
SHORTER, HALF, LONGER = 0.25, 0.5, 4.0  # sigma_1, sigma_2, sigma_3: factors of the radius


def next_radius(radius: float, length: float, reduction: float, predicted: float, slope: float, at_end: bool) -> float:
    """Return the next radius. length: of the step; slope: gradient . step, below 0; at_end: whether the step was cut
    off.
    """
    bend = -reduction - slope  # F(w + s) - F(w) - g.s
    best = LONGER if bend <= 0.0 else max(SHORTER, -0.5 * slope / bend)  # in units of the step
    if not math.isfinite(bend):
        best = SHORTER
    if reduction < ACCEPTED * predicted or not math.isfinite(reduction):
        return min(max(best, SHORTER) * length, HALF * radius)
    if reduction < FAIR * predicted:
        return max(SHORTER * radius, min(best * length, HALF * radius))
    if reduction < GOOD * predicted:
        return max(SHORTER * radius, min(best * length, LONGER * radius))
    return LONGER * radius if at_end else max(radius, min(best * length, LONGER * radius))


UNSEEN = 1e-9  # reductions below this, relative to the objective, are computed from derivatives


ENOUGH = 1e-4  # of the predicted decrease


MOST_TRIALS = 30


class Trial(NamedTuple):
    """A trial step and the point that it leads to."""

    weights: Floats
    value: float
    gradient: Floats
    reduction: float  # of the objective; -inf or NaN where it is not finite
    share: float  # the tried fraction of the step
    trials: int  # its number of gradients


def one_trial(
    point: PointOfCurvature, w: Floats, value: float, gradient: Floats, step: Floats, share: float = 1.0
) -> Trial:
    """Evaluate the objective at w + share * step."""
    moved = w + share * step
    there, slope_there = point.gradient(moved)
    reduction = value - there
    if abs(reduction) <= UNSEEN * abs(value):
        reduction = -0.5 * share * (dot(gradient, step) + dot(slope_there, step))
    return Trial(moved, there, slope_there, reduction, share, 1)


def halvings(point: PointOfCurvature, w: Floats, value: float, gradient: Floats, step: Floats) -> Trial:
    """Return the first of step, step/2, step/4, ... with enough decrease, or the last one tried."""
    slope = dot(gradient, step)
    for trials in range(1, MOST_TRIALS + 1):
        trial = one_trial(point, w, value, gradient, step, 0.5 ** (trials - 1))
        if math.isfinite(trial.value) and trial.reduction >= -ENOUGH * trial.share * slope:
            break
    return trial._replace(trials=trials)
