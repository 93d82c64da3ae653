"""The orthants of c1 |w|_1: steepest descent at a kink, and steps that stay in one orthant.

The pseudo-gradient is the minimum-norm subgradient of smooth + c1 |w|_1: it is zero exactly at an optimum. Inside an
orthant |w|_1 is linear, so a step that never crosses zero meets no kink; weights that would change sign are set to
exactly zero.
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel


@kernel
def pseudo_gradient(weights: Floats, gradient: Floats, c1: float) -> Floats:
    """Return the pseudo-gradient in a new array; it equals `gradient` if c1 = 0."""
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
    """Return the pseudo-gradient in a new array, with c1 multiplied by each weight's factor, if there are factors."""
    if not len(factors):
        return pseudo_gradient(weights, gradient, c1)
    return factors * pseudo_gradient(weights, gradient / factors, c1)


@kernel
def keep_descending(direction: Floats, steepest: Floats) -> None:
    """Zero the components that do not descend along `steepest`, a pseudo-gradient. Writes: direction."""
    for f in range(len(direction)):
        if direction[f] * steepest[f] >= 0.0:
            direction[f] = 0.0


@kernel
def step_within_orthant(weights: Floats, direction: Floats, step: float) -> Floats:
    """Return weights + step * direction in a new array, with exactly zero where a weight would change its sign."""
    moved = np.empty_like(weights)
    for f in range(len(weights)):
        moved[f] = weights[f] + step * direction[f]
        if moved[f] * weights[f] < 0.0:
            moved[f] = 0.0
    return moved
