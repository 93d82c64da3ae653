"""Conjugate gradients on a Newton equation H s = -g, within a ball: Steihaug (1983).

    s ← 0, r ← -g, d ← r
    until |r| <= tolerance:
        a ← r.r / d.Hd;   s ← s + a d;   r ← r - a Hd
        if |s| > radius:  move back to the boundary of the ball, and stop there
        d ← r + (new r.r / old r.r) d

Every s is lower in the quadratic model than the previous one, and longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from fastcrf.core.types import Floats
from fastcrf.simd.vectors import add_scaled, dot


class Inner(NamedTuple):
    """The end of conjugate gradients."""

    step: Floats
    residual: Floats  # -g - H step
    products: int
    at_boundary: bool
    broken_off: bool  # by the user: discard `step`


def steihaug(
    product: Callable[[Floats], Floats],
    gradient: Floats,
    radius: float,
    tolerance: float,
    most_products: int,
    asked_to_stop: Callable[[], bool],
) -> Inner:
    """Return the step for `gradient`; `product` multiplies with H. It checks for Ctrl-C between two products."""
    step, residual, square = 0.0 * gradient, -gradient, dot(gradient, gradient)
    along = residual.copy()
    for products in range(most_products):
        if math.sqrt(square) <= tolerance:
            return Inner(step, residual, products, False, False)  # Steihaug (1983): |r| is small enough
        if asked_to_stop():
            return Inner(step, residual, products, False, True)
        bent = product(along)
        curvature = dot(along, bent)
        length = square / curvature if curvature > 0.0 else math.inf
        if length == math.inf or _squared_length(step, along, length) > radius * radius:
            if radius == math.inf:  # no curvature and no ball: end at the current step
                return Inner(step if products else along, residual, products + 1, True, False)
            length = to_boundary(step, along, radius)  # Steihaug (1983): the boundary of the ball
            add_scaled(length, along, step)
            add_scaled(-length, bent, residual)
            return Inner(step, residual, products + 1, True, False)
        add_scaled(length, along, step)
        add_scaled(-length, bent, residual)
        before, square = square, dot(residual, residual)
        along *= square / before
        along += residual
    return Inner(step, residual, most_products, False, False)


def _squared_length(step: Floats, along: Floats, length: float) -> float:
    return dot(step, step) + length * (2.0 * dot(step, along) + length * dot(along, along))


def to_boundary(step: Floats, along: Floats, radius: float) -> float:
    """Return the t >= 0 with |step + t along| = radius, by the root without cancellation."""
    mixed, square = dot(step, along), dot(along, along)
    remaining = radius * radius - dot(step, step)
    root = math.sqrt(max(0.0, mixed * mixed + square * remaining))
    return remaining / (mixed + root) if mixed >= 0.0 else (root - mixed) / square
