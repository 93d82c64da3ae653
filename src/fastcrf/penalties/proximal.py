"""The proximal step of c1 |w|_1: a gradient step, then every weight moves towards zero and stops there."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel


@kernel
def soft(number, threshold):
    """`number`, moved towards zero by `threshold`; exactly zero where it would pass it."""
    if number > threshold:
        return number - threshold
    if number < -threshold:
        return number + threshold
    return number * 0.0  # zero, but a NaN stays a NaN


@kernel
def proximal_step(weights: Floats, gradient: Floats, step: float, c1: float) -> Floats:
    """argmin_v  gradient . v + |v - weights|^2 / (2 step) + c1 |v|_1, with exact zeros. A fresh array."""
    moved, threshold = np.empty_like(weights), step * c1
    for f in range(len(weights)):
        moved[f] = soft(weights[f] - step * gradient[f], threshold)
    return moved
