"""The geometry of c1 |w|_1: steepest descent at a kink, and steps that stay in one orthant.

The pseudo-gradient is the shortest sub-gradient of smooth + c1 |w|_1: it is zero exactly at an optimum. Inside an
orthant |w|_1 is linear, so a step that never crosses zero meets no kink; weights that would change sign are set to
exactly zero.
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel


@kernel
def pseudo_gradient(weights: Floats, gradient: Floats, c1: float) -> Floats:
    """The shortest sub-gradient; plain `gradient` where c1 = 0. A fresh array."""
    shortest = np.empty_like(gradient)
    for f in range(len(gradient)):
        if weights[f] > 0.0:
            shortest[f] = gradient[f] + c1
        elif weights[f] < 0.0:
            shortest[f] = gradient[f] - c1
        elif gradient[f] < -c1:
            shortest[f] = gradient[f] + c1
        elif gradient[f] > c1:
            shortest[f] = gradient[f] - c1
        else:
            shortest[f] = gradient[f] * 0.0  # zero, but a NaN stays a NaN
    return shortest


def shortest_subgradient(weights: Floats, gradient: Floats, c1: float, factors: Floats) -> Floats:
    """The pseudo-gradient where c1 counts `factors` times for each weight, if there are any. A fresh array."""
    if not len(factors):
        return pseudo_gradient(weights, gradient, c1)
    return factors * pseudo_gradient(weights, gradient / factors, c1)


@kernel
def keep_descending(direction: Floats, steepest: Floats) -> None:
    """Zero what does not go down along `steepest`, a pseudo-gradient. Writes: direction."""
    for f in range(len(direction)):
        if direction[f] * steepest[f] >= 0.0:
            direction[f] = 0.0


@kernel
def step_within_orthant(weights: Floats, direction: Floats, step: float) -> Floats:
    """weights + step * direction, with exactly zero where a weight would change its sign. A fresh array."""
    moved = np.empty_like(weights)
    for f in range(len(weights)):
        moved[f] = weights[f] + step * direction[f]
        if moved[f] * weights[f] < 0.0:
            moved[f] = 0.0
    return moved
