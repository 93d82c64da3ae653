"""The soft threshold, and steps with it one after the other, as they are written in the papers."""

from __future__ import annotations

import numpy as np


def soft(x, threshold):
    """argmin_v |v - x|^2 / 2 + threshold |v|_1."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)


def repeated_steps(v, d, amounts, c1):
    """The number v after v <- soft(v - A d, A c1) for each A of `amounts`."""
    for amount in amounts:
        v -= amount * d
        v -= max(-amount * c1, min(amount * c1, v))  # as `soft`, but faster for a number
    return v
