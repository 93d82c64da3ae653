"""Sums over long vectors without BLAS.

The idle threads of a multi-threaded BLAS spin for milliseconds after each call and steal the cores from the threads of
the next gradient: with two cores that doubled the time of a whole L-BFGS run, for dot products that take 0.2 ms.
"""

from __future__ import annotations

import math

from fastcrf.kernel import kernel
from fastcrf.types import Floats


@kernel
def dot(a: Floats, b: Floats) -> float:
    """a . b"""
    total = 0.0
    for f in range(len(a)):
        total += a[f] * b[f]
    return total


@kernel
def dot_with_three(row: Floats, a: Floats, b: Floats, c: Floats) -> tuple[float, float, float]:
    """(row . a, row . b, row . c), reading `row` once."""
    with_a, with_b, with_c = 0.0, 0.0, 0.0
    for f in range(len(row)):
        with_a += row[f] * a[f]
        with_b += row[f] * b[f]
        with_c += row[f] * c[f]
    return with_a, with_b, with_c


@kernel
def add_scaled(scale: float, row: Floats, total: Floats) -> None:
    """total += scale * row. Writes: total."""
    for f in range(len(row)):
        total[f] += scale * row[f]


def norm(a: Floats) -> float:
    """The Euclidean length."""
    return math.sqrt(dot(a, a))
