"""Sums over long vectors without BLAS.

The idle threads of a multi-threaded BLAS spin for milliseconds after each call and steal the cores from the threads of
the next gradient: with two cores that doubled the time of a whole L-BFGS run, for dot products that take 0.2 ms.
"""

from __future__ import annotations

import math

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel


@kernel
def dot(a: Floats, b: Floats) -> float:
    """a . b"""
    total = 0.0
    for f in range(len(a)):
        total += a[f] * b[f]
    return total


@kernel
def add_scaled(scale: float, row: Floats, total: Floats) -> None:
    """total += scale * row. Writes: total."""
    for f in range(len(row)):
        total[f] += scale * row[f]


def norm(a: Floats) -> float:
    """The Euclidean length."""
    return math.sqrt(dot(a, a))
