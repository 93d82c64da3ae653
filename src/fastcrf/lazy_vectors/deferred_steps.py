"""The relative reduction of a weight by k proximal steps of an L2 penalty: P = 1 - (1 + r)^-k.

r is the step size of the weight times the penalty. P may be tiny, and needs a small relative error, because the L1
threshold is a multiple of it. For small k r it is the binomial series,

    P = k r (1 - (k + 1) / 2 r (1 - (k + 2) / 3 r (1 - ...)))

which also holds for fractional k. A longer time is divided by 8 first and followed by three squarings, P <- P (2 - P),
each for twice as many steps. Up to SHORT, and for ratios up to SMALL, eight terms are exact to 1e-14, and so are five
up to BRIEF, where most weights are. Elsewhere log2 k squarings suffice.
"""

from __future__ import annotations

from fastcrf.jit.kernel import inlined_kernel
from fastcrf.simd.lanes import add, multiply, scale, shift, zeros
from fastcrf.simd.quotients import divide

SHORT = 2.0**-4  # the largest k r of the series
SMALL = 2.0**-8  # and the largest r
BRIEF = 2.0**-10  # the largest k r of its first five terms


@inlined_kernel
def share(missed, ratio, largest_ratio):
    """Return P of one weight; no ratio is above `largest_ratio`."""
    k = float(missed)
    if largest_ratio > SMALL or 0.125 * k * largest_ratio > SHORT:
        return share_of_many(missed, ratio)
    if k * largest_ratio <= BRIEF:
        return k * ratio * bracket(k, ratio, 1.0 - (k + 4.0) / 5 * ratio)
    if k * largest_ratio <= SHORT:
        return series(k, ratio)
    P = series(0.125 * k, ratio)
    P *= 2.0 - P
    P *= 2.0 - P
    return P * (2.0 - P)


@inlined_kernel
def series(k, r):
    """Return P by eight terms."""
    P = 1.0 - (k + 4.0) / 5 * r * (1.0 - (k + 5.0) / 6 * r * (1.0 - (k + 6.0) / 7 * r * (1.0 - (k + 7.0) / 8 * r)))
    return k * r * bracket(k, r, P)


@inlined_kernel
def bracket(k, r, P):
    """Return the outermost bracket of the series, from the value of the fifth."""
    return 1.0 - (k + 1.0) / 2 * r * (1.0 - (k + 2.0) / 3 * r * (1.0 - (k + 3.0) / 4 * r * P))


@inlined_kernel
def share_of_many(missed, ratio):
    """Return P by squarings."""
    p, P, left = ratio / (1.0 + ratio), 0.0, missed
    while left > 0:
        if left & 1:
            P += p * (1.0 - P)
        p *= 2.0 - p
        left >>= 1
    return P


@inlined_kernel
def shares(missed, ratios, largest_ratio, lanes):
    """Return P of each lane."""
    k = float(missed)
    if largest_ratio > SMALL or 0.125 * k * largest_ratio > SHORT:
        return shares_of_many(missed, ratios, lanes)
    if k * largest_ratio <= BRIEF:
        fifth = shift(scale(-(k + 4.0) / 5, ratios), 1.0)
        return scale(k, multiply(ratios, bracket_of_lanes(k, ratios, fifth)))
    if k * largest_ratio <= SHORT:
        return series_of_lanes(k, ratios)
    return doubled(doubled(doubled(series_of_lanes(0.125 * k, ratios))))


@inlined_kernel
def series_of_lanes(k, r):
    P = shift(scale(-(k + 7.0) / 8, r), 1.0)
    P = shift(scale(-(k + 6.0) / 7, multiply(r, P)), 1.0)
    P = shift(scale(-(k + 5.0) / 6, multiply(r, P)), 1.0)
    P = shift(scale(-(k + 4.0) / 5, multiply(r, P)), 1.0)
    return scale(k, multiply(r, bracket_of_lanes(k, r, P)))


@inlined_kernel
def bracket_of_lanes(k, r, P):
    P = shift(scale(-(k + 3.0) / 4, multiply(r, P)), 1.0)
    P = shift(scale(-(k + 2.0) / 3, multiply(r, P)), 1.0)
    return shift(scale(-(k + 1.0) / 2, multiply(r, P)), 1.0)


@inlined_kernel
def doubled(P):
    """Return P (2 - P)."""
    return multiply(P, shift(scale(-1.0, P), 2.0))


@inlined_kernel
def shares_of_many(missed, ratios, lanes):
    p, P, left = divide(ratios, shift(ratios, 1.0)), zeros(lanes), missed
    while left > 0:
        if left & 1:
            P = add(P, multiply(p, shift(scale(-1.0, P), 1.0)))
        p = doubled(p)
        left >>= 1
    return P
