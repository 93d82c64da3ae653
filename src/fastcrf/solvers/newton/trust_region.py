"""How far a quadratic model is trusted: the rules and constants of Lin, Weng & Keerthi (2008), section 2.3.

The radius follows the ratio of the reduction of the objective to that of the model. The length that would have been
best along the step, from a parabola through both ends, decides how much it changes.
"""

from __future__ import annotations

import math

ACCEPTED, FAIR, GOOD = 1e-4, 0.25, 0.75  # eta_0, eta_1, eta_2: ratios of the reductions
SHORTER, HALF, LONGER = 0.25, 0.5, 4.0  # sigma_1, sigma_2, sigma_3: factors of the radius


def next_radius(radius: float, length: float, reduction: float, predicted: float, slope: float, at_end: bool) -> float:
    """The next radius. length: of the step; slope: gradient . step, below 0; at_end: whether the step was cut off."""
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
