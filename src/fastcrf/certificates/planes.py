"""Planes below a convex loss, one vector of slopes a row in single precision.

A row is rounded, so its plane is laid anew through the point that it came from, and whoever lays it takes off its
height what the rounding may add elsewhere (certificates/bundle.py): so each rounding is measured here.

Compiled is only what every step asks for (`round_slopes`), what NumPy would do in many small pieces (`mix_rows`), and
what has too many small moves for it (`move_shares`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Floats, Longs
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.simd.bits import bits_of_float, float_from_bits

Singles = NDArray[np.float32]

BLOCK = 2048  # slopes of each row that stay in cache while rows are combined; too few for the threads of a BLAS
LEAST_SHARE = 1e-12  # of a plane in a mixture; less is none


class Laid(NamedTuple):
    """What became of slopes when they were rounded to a row, with `point` the one that their plane goes through."""

    exact: float  # slopes . point
    rounded: float  # row . point
    error_square: float  # |slopes - row|^2
    largest_error: float  # max |slopes - row|
    excess: float  # sum_f max(|row_f| - c1, 0)^2, where c1 stands for what is allowed
    largest: float  # max |row|


class Allowed(NamedTuple):
    """How large a slope may be for nothing: c1, so many times for each weight if there are factors."""

    c1: float
    factors: Floats

    def at(self, stretch: slice) -> Floats | float:
        return self.c1 * self.factors[stretch] if len(self.factors) else self.c1


def lay_plane(point: Floats, gradient: Floats, ridge: float, allowed: Allowed, row: Singles) -> Laid:
    """row = gradient - ridge * point, the slopes of the loss alone. Writes: row."""
    figures = np.zeros(len(Laid._fields))
    round_slopes(gradient, ridge, point, allowed, row, figures)
    return Laid(*figures.tolist())


def lay_mixture(rows: Singles, order: Longs, shares: Floats, point: Floats, allowed: Allowed, row: Singles) -> Laid:
    """row = sum_k shares[k] rows[order[k]]; `row` is none of them. Writes: row."""
    slopes = np.zeros(len(point))
    mix_rows(rows, order, shares, slopes)
    return lay_plane(point, slopes, 0.0, allowed, row)


@noalloc_kernel
def mix_rows(rows: Singles, order: Longs, shares: Floats, slopes: Floats) -> None:
    """Add the rows `order` of `rows`, each times its share. Writes: slopes."""
    for start in range(0, len(slopes), BLOCK):
        stop = min(start + BLOCK, len(slopes))
        for k in range(len(order)):
            row, share = order[k], shares[k]
            for f in range(start, stop):
                slopes[f] += share * rows[row, f]


@noalloc_kernel
def round_slopes(
    gradient: Floats, ridge: float, point: Floats, allowed: Allowed, row: Singles, figures: Floats
) -> None:
    """row = gradient - ridge * point, and what becomes of these slopes. Writes: row, figures (those of Laid).

    Maxima are those of the numbers' bits, which are in the order of the numbers if none is negative: the compiler makes
    vector code of whole numbers' maxima, but not of others', where one might be a NaN.
    """
    c1, factors = allowed
    exact, rounded, square, excess = 0.0, 0.0, 0.0, 0.0
    largest_error, largest = np.int64(0), np.int64(0)
    for f in range(len(point)):
        slope = gradient[f] - ridge * point[f]
        row[f] = slope
        kept = np.float64(row[f])
        free = c1 * factors[f] if len(factors) > 0 else c1
        error, above = slope - kept, max(abs(kept) - free, 0.0)
        exact += slope * point[f]
        rounded += kept * point[f]
        square += error * error
        excess += above * above
        largest_error = max(largest_error, bits_of_float(abs(error)))
        largest = max(largest, bits_of_float(abs(kept)))
    figures[0], figures[1], figures[2] = exact, rounded, square
    figures[3], figures[4], figures[5] = float_from_bits(largest_error), excess, float_from_bits(largest)


def curvature(rows: Singles, order: Longs, allowed: Allowed) -> tuple[Floats, Floats]:
    """(gram, offset): what a mixture of the planes `order` does to the excess of the first of them.

    Where |slope| >= c1 in the first row, with s its sign, the excess of a mixture is (s slope - c1)^2, as long as no
    slope crosses c1. So gram sums the products of pairs of rows there, and offset those of rows with s c1.
    """
    gram, offset = np.zeros((len(order), len(order))), np.zeros(len(order))
    for start in range(0, rows.shape[1], BLOCK):
        stretch = slice(start, start + BLOCK)
        some = rows[order, stretch].astype(np.float64)  # in the best mixture large products cancel
        if allowed.c1 == 0.0:
            gram += some @ some.T
            continue
        free = allowed.at(stretch)
        signs = np.where(some[0] >= 0.0, 1.0, -1.0) * (np.abs(some[0]) >= free)
        turned = some * signs
        gram += turned @ turned.T
        offset += (turned * free).sum(axis=1)
    return gram, offset


def best_shares(heights: Floats, gram: Floats, shares: Floats, enough: float, max_moves: int) -> None:
    """Maximize heights . shares - shares . gram . shares over shares >= 0 with the sum that they have. Writes: shares.

    Again and again from the plane with the lowest slope to the one with the highest, as much as is best, until their
    slopes differ by at most `enough`: so much is left to gain at most.
    """
    move_shares(heights - 2.0 * (gram @ shares), gram, shares, enough, max_moves)


@noalloc_kernel
def move_shares(slopes: Floats, gram: Floats, shares: Floats, enough: float, max_moves: int) -> None:
    """The moves of `best_shares`, given the slopes at the shares. Writes: shares, slopes."""
    for _ in range(max_moves):
        high, low = 0, -1
        for k in range(len(shares)):
            if slopes[k] > slopes[high]:
                high = k
            if shares[k] > 0.0 and (low < 0 or slopes[k] < slopes[low]):
                low = k
        rise = slopes[high] - slopes[low]
        if not rise > enough:
            return
        bend = 2.0 * (gram[high, high] + gram[low, low] - 2.0 * gram[high, low])
        moved = shares[low]
        if bend * (moved - LEAST_SHARE) > rise:
            moved = rise / bend
        shares[high] += moved
        shares[low] -= moved
        for k in range(len(shares)):
            slopes[k] -= 2.0 * moved * (gram[k, high] - gram[k, low])
