"""When to leave single precision: steps far from the optimum need no better gradients, a certificate does.

A quasi-Newton method on gradients that are right to five digits takes the same steps for a long time. Where it is can
be told from its own objectives: they fall about geometrically, so what two stretches of steps have gained says what the
rest will.

    gained in the last m steps b, in the m before a:   F - F* is about  b q / (1 - q),   q = b / a
"""

from __future__ import annotations

import math
from collections.abc import Sequence

STRETCH = 6  # steps; fewer gains say little of the rate
LEAST = 1e-4  # of F: nearer to the optimum the rounding of F itself, up to 2e-5 of it, would disturb line searches


def remaining_gap(objectives: Sequence[float]) -> float:
    """About how far the last objective is above the optimum; infinite while nobody can tell."""
    if len(objectives) <= 2 * STRETCH:
        return math.inf
    first, middle, last = objectives[-2 * STRETCH - 1], objectives[-STRETCH - 1], objectives[-1]
    before, newest = first - middle, middle - last
    if newest <= 0.0:
        return 0.0  # singles show no gain any more
    ratio = newest / before if before > 0.0 else 1.0
    return newest * ratio / (1.0 - ratio) if ratio < 1.0 else math.inf


def is_near(objectives: Sequence[float], target: float) -> bool:
    """Whether it is time for double precision: some ten steps before a relative gap of `target` can be certified."""
    return len(objectives) > 0 and remaining_gap(objectives) <= max(target, LEAST) * abs(objectives[-1])


def kept(objectives: Sequence[float]) -> list[float]:
    """The objectives that count."""
    return list(objectives[-2 * STRETCH - 1 :])
