"""Cutting planes below a convex loss, one gradient per row in single precision.

A row is rounded, so its plane is shifted to pass through its original point, and the caller lowers it by the possible
effect of rounding elsewhere (certificates/bundle.py). Each rounding is therefore measured here.

Compiled are only the operations of every step (`round_slopes`), those that NumPy would do in many small pieces
(`mix_rows`), and those with many small moves (`move_shares`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Floats, Longs
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.simd.bits import bits_of_float, float_from_bits

Singles = NDArray[np.float32]

BLOCK = 2048  # components of each row that stay in cache while rows are combined; too few for the threads of a BLAS
LEAST_SHARE = 1e-12  # least coefficient of a plane; smaller ones are 0


class Laid(NamedTuple):
    """The result of rounding a gradient to a row, with `point` the one that its plane passes through."""

    exact: float  # slopes . point
    rounded: float  # row . point
    error_square: float  # |slopes - row|^2
    largest_error: float  # max |slopes - row|
    excess: float  # sum_f max(|row_f| - c1, 0)^2, c1 with its factors
    largest: float  # max |row|


class Allowed(NamedTuple):
    """The size of a gradient component without excess: c1, times the weight's factor if there are factors."""

    c1: float
    factors: Floats

    def at(self, part: slice) -> Floats | float:
        return self.c1 * self.factors[part] if len(self.factors) else self.c1


def lay_plane(point: Floats, gradient: Floats, ridge: float, allowed: Allowed, row: Singles) -> Laid:
    """Set row = gradient - ridge * point, the gradient of the loss alone. Writes: row."""
    figures = np.zeros(len(Laid._fields))
    round_slopes(gradient, ridge, point, allowed, row, figures)
    return Laid(*figures.tolist())


def lay_combination(rows: Singles, order: Longs, shares: Floats, point: Floats, allowed: Allowed, row: Singles) -> Laid:
    """Set row = sum_k shares[k] rows[order[k]]; `row` is none of them. Writes: row."""
    slopes = np.zeros(len(point))
    mix_rows(rows, order, shares, slopes)
    return lay_plane(point, slopes, 0.0, allowed, row)


@noalloc_kernel
def mix_rows(rows: Singles, order: Longs, shares: Floats, slopes: Floats) -> None:
    """Add the rows `order` of `rows`, each times its coefficient. Writes: slopes."""
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
    """Set row = gradient - ridge * point, and compute the figures of this rounding. Writes: row, figures (those of
    Laid).

    Maxima are those of the numbers' bits, which have the order of the numbers if none is negative: the compiler
    vectorizes maxima of integers, but not of floats, because one might be a NaN.
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
    """Return (gram, offset): the effect of a combination of the planes `order` on the excess of the first of them.

    Where |component| >= c1 in the first row, with s its sign, the excess of a combination is (s component - c1)^2, as
    long as no component crosses c1. gram sums the products of pairs of rows there, and offset those of rows with s c1.
    """
    gram, offset = np.zeros((len(order), len(order))), np.zeros(len(order))
    for start in range(0, rows.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        some = rows[order, part].astype(np.float64)  # large products cancel in the best combination
        if allowed.c1 == 0.0:
            gram += some @ some.T
            continue
        free = allowed.at(part)
        signs = np.where(some[0] >= 0.0, 1.0, -1.0) * (np.abs(some[0]) >= free)
        turned = some * signs
        gram += turned @ turned.T
        offset += (turned * free).sum(axis=1)
    return gram, offset


def best_shares(heights: Floats, gram: Floats, shares: Floats, enough: float, max_moves: int) -> None:
    """Maximize heights . shares - shares . gram . shares over shares >= 0 with their present sum. Writes: shares.

    Each move goes from the plane with the lowest derivative to the one with the highest, by the best amount, until the
    derivatives differ by at most `enough`. The remaining gain is then at most `enough`.
    """
    move_shares(heights - 2.0 * (gram @ shares), gram, shares, enough, max_moves)


@noalloc_kernel
def move_shares(slopes: Floats, gram: Floats, shares: Floats, enough: float, max_moves: int) -> None:
    """Run the moves of `best_shares`, given the derivatives at the shares. Writes: shares, slopes."""
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
