"""Convex functions G of one number each, summed over the weights: Cao (2015), sections 3.3 and 3.4.

Each defines a Bregman divergence. Updates use G' and G''; all G are symmetric, so G'(0) = 0.

    Arctan   G1'(u) = arctan(u / sqrt(epsilon))     its factor 1 / sqrt(epsilon) is part of the step size (section 3.4)
             G1''(u) = 1 / (u^2 + epsilon)
    WholeArctan                                    G1 with that factor, for updates that use both G' and G''
    Erf      G2'(u) = erf(alpha u)                  2 / sqrt(pi) times the integral; the paper prints 2 / pi
    Gd       G3'(u) = gd(beta u) = 2 arctan(tanh(beta u / 2))      the printed 2 arctan(exp(.)) - pi / 2 overflows
    Power    G'(u) = sign(u) |u|^(p - 1)            G = (1/p) |u|^p; Euclidean for p = 2

Each of them can be read from a table (section 3.6).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel

ENTRIES = 2**15  # of a table from 0 to 1, and as many from -1 to 0


class Arctan(NamedTuple):
    epsilon: float


class WholeArctan(NamedTuple):
    epsilon: float


class Erf(NamedTuple):
    alpha: float


class Gd(NamedTuple):
    beta: float


class Power(NamedTuple):
    p: float


class Tabulated(NamedTuple):
    """G' and G'' of `function` at the nearest of many points of [-1, 1], and computed elsewhere."""

    slopes: np.ndarray  # [2 ENTRIES + 1], with 0 in the middle
    curvatures: np.ndarray
    function: Any


@generic
def slope(function, u):  # type: ignore[no-untyped-def]
    """Return G'(u)."""


@generic
def curvature(function, u):  # type: ignore[no-untyped-def]
    """Return G''(u)."""


@slope.register(Arctan)
def slope_of_arctan(function, u):
    return math.atan(u / math.sqrt(function.epsilon))


@slope.register(WholeArctan)
def slope_of_whole_arctan(function, u):
    return math.atan(u / math.sqrt(function.epsilon)) / math.sqrt(function.epsilon)


@curvature.register(Arctan, WholeArctan)
def curvature_of_arctan(function, u):
    return 1.0 / (u * u + function.epsilon)


@slope.register(Erf)
def slope_of_erf(function, u):
    return math.erf(function.alpha * u)


@curvature.register(Erf)
def curvature_of_erf(function, u):
    return 2.0 / math.sqrt(math.pi) * function.alpha * math.exp(-((function.alpha * u) ** 2))


@slope.register(Gd)
def slope_of_gd(function, u):
    return 2.0 * math.atan(math.tanh(0.5 * function.beta * u))


@curvature.register(Gd)
def curvature_of_gd(function, u):
    small = math.exp(-abs(function.beta * u))  # 1 / cosh(x) without overflow
    return function.beta * 2.0 * small / (1.0 + small * small)


@slope.register(Power)
def slope_of_power(function, u):
    return math.copysign(abs(u) ** (function.p - 1.0), u)


@curvature.register(Power)
def curvature_of_power(function, u):
    return (function.p - 1.0) * abs(u) ** (function.p - 2.0)


def tabulate(function: Any) -> Tabulated:
    table = Tabulated(np.empty(2 * ENTRIES + 1), np.empty(2 * ENTRIES + 1), function)
    fill_table(function, table.slopes, table.curvatures)
    return table


@noalloc_kernel
def fill_table(function, slopes, curvatures):
    """Fill the table. Writes: slopes, curvatures."""
    for o in range(len(slopes)):
        u = (o - ENTRIES) / ENTRIES
        slopes[o], curvatures[o] = slope(function, u), curvature(function, u)


@slope.register(Tabulated)
def slope_from_table(function, u):
    if not abs(u) <= 1.0:  # also for a NaN, which has no place in the table
        return slope(function.function, u)
    return function.slopes[int((u + 1.0) * ENTRIES + 0.5)]


@curvature.register(Tabulated)
def curvature_from_table(function, u):
    if not abs(u) <= 1.0:
        return curvature(function.function, u)
    return function.curvatures[int((u + 1.0) * ENTRIES + 0.5)]
