"""Directions of descent from Bregman divergences between expected and observed features: Cao (2015), section 3.2.

With E the expected and O the observed count of a feature, u = E - O, and G a convex function:

    U1   G''(O - E) u            U2   G'(0) - G'(O - E)
    U3   G''(E - O) u            U5   G'(E - O) - G'(0)
    U4   G''(E) u                U6   G'(E) - G'(O)

All functions G here are symmetric, so U3 is U1 and U5 is U2 (section 3.3).

They are the natural gradients of the divergence B(P, Q) between P = a E - b O and Q = c E - d O, a - b = c - d
(footnote 1), for special a, b, c and d. Its derivative in E, without the factor that cancels (eq. 3), is

    a (G'(P) - G'(Q)) - c G''(Q) (P - Q)

Loss         P              Q              (a, b, c, d)          gamma = 1   gamma = 0
B1           gamma E        O - rho E      gamma, 0, -rho, -1       U6          U1
B2           O - rho E      gamma E        -rho, -1, gamma, 0       U4          U2
B3           rho O          E - gamma O    0, -rho, 1, gamma        U3          U4
B4           E - gamma O    rho O          1, gamma, 0, -rho        U5          U6

with rho = 1 - gamma (section 3.1). Table 1 has their gradients for gamma = 0 and 1.
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


class OfDivergence(NamedTuple):
    """The natural gradient of B(a E - b O, c E - d O)."""

    a: float
    b: float
    c: float
    d: float
    function: Any


Coefficients = tuple[float, float, float, float]  # a, b, c, d


def coefficients_of(loss: str, gamma: float) -> Coefficients:
    """Return (a, b, c, d) of the losses B1 to B4: section 3.1."""
    rho = 1.0 - gamma
    return {
        "b1": (gamma, 0.0, -rho, -1.0),
        "b2": (-rho, -1.0, gamma, 0.0),
        "b3": (0.0, -rho, 1.0, gamma),
        "b4": (1.0, gamma, 0.0, -rho),
    }[loss]


UPDATES = {
    "u1": CurvatureOfGap,
    "u2": SlopeOfGap,
    "u3": CurvatureOfGap,
    "u4": CurvatureOfExpected,
    "u5": SlopeOfGap,
    "u6": SlopesApart,
}
LOSSES = ("b1", "b2", "b3", "b4", "b")  # b: with coefficients of one's own
COUNTING = (CurvatureOfExpected, SlopesApart, OfDivergence)  # updates that use O itself


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


@direction.register(OfDivergence)
def natural_gradient_of_divergence(update, gap, observed):
    expected = gap + observed
    P = update.a * expected - update.b * observed
    Q = update.c * expected - update.d * observed
    found = 0.0
    if update.a != 0.0:
        found += update.a * (slope(update.function, P) - slope(update.function, Q))
    if update.c != 0.0 and P != Q:  # G'' may be infinite at 0
        found -= update.c * curvature(update.function, Q) * (P - Q)
    return found
