"""The proximal step of c1 |w|_1: a gradient step, then soft thresholding."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel


@kernel
def soft(number, threshold):
    """Move `number` towards zero by `threshold`; return exactly zero if it would cross zero."""
    if number > threshold:
        return number - threshold
    if number < -threshold:
        return number + threshold
    return number * 0.0  # zero, but a NaN stays a NaN


@kernel
def proximal_step(weights: Floats, gradient: Floats, step: float, c1: float) -> Floats:
    """Return argmin_v gradient . v + |v - weights|^2 / (2 step) + c1 |v|_1 in a new array, with exact zeros."""
    moved, threshold = np.empty_like(weights), step * c1
    for f in range(len(weights)):
        moved[f] = soft(weights[f] - step * gradient[f], threshold)
    return moved
