"""Directions of descent from Bregman divergences between expected and observed features: Cao (2015), section 3.2.

With E the expected and O the observed count of a feature, u = E - O, and G a convex function:

    U1   G''(O - E) u            U2   G'(0) - G'(O - E)
    U3   G''(E - O) u            U5   G'(E - O) - G'(0)
    U4   G''(E) u                U6   G'(E) - G'(O)

All functions G here are symmetric, so U3 is U1 and U5 is U2 (section 3.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fastcrf.jit.generic import generic
from fastcrf.solvers.sgd.ngd.convex_functions import curvature, slope


class CurvatureOfGap(NamedTuple):
    """U1, U3."""

    function: Any


class SlopeOfGap(NamedTuple):
    """U2, U5."""

    function: Any


class CurvatureOfExpected(NamedTuple):
    """U4."""

    function: Any


class SlopesApart(NamedTuple):
    """U6."""

    function: Any


UPDATES = {
    "u1": CurvatureOfGap,
    "u2": SlopeOfGap,
    "u3": CurvatureOfGap,
    "u4": CurvatureOfExpected,
    "u5": SlopeOfGap,
    "u6": SlopesApart,
}
COUNTING = (CurvatureOfExpected, SlopesApart)  # updates that use O itself


@generic
def direction(update, gap, observed):  # type: ignore[no-untyped-def]
    """Return the direction for a feature from its expected minus observed count, and its observed count (if used)."""


@direction.register(CurvatureOfGap)
def curvature_of_gap(update, gap, observed):
    return curvature(update.function, gap) * gap if gap != 0.0 else 0.0  # G'' may be infinite at 0


@direction.register(SlopeOfGap)
def slope_of_gap(update, gap, observed):
    return slope(update.function, gap)


@direction.register(CurvatureOfExpected)
def curvature_of_expected(update, gap, observed):
    return curvature(update.function, gap + observed) * gap if gap != 0.0 else 0.0


@direction.register(SlopesApart)
def slopes_apart(update, gap, observed):
    return slope(update.function, gap + observed) - slope(update.function, observed)
