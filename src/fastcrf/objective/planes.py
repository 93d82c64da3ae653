"""Kernels for planes below a convex loss, one vector of slopes a row in single precision.

A row is rounded, so its plane is laid anew through the point that it came from, and whoever lays it takes off its
height what the rounding may add elsewhere (objective/bundle.py): so each rounding is measured here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.kernel import kernel
from fastcrf.types import Floats, Longs

Singles = NDArray[np.float32]

BLOCK = 512  # slopes of each row that stay in the first-level cache while all pairs of rows are multiplied
LEAST_SHARE = 1e-12  # of a plane in a mixture; less is none


class Laid(NamedTuple):
    """What became of slopes when they were rounded to a row, with `point` the one that their plane goes through."""

    exact: float  # slopes . point
    rounded: float  # row . point
    error_square: float  # |slopes - row|^2
    largest_error: float  # max |slopes - row|
    excess: float  # sum_f max(|row_f| - c1, 0)^2
    largest: float  # max |row|


@kernel
def round_slopes(slopes: Floats, point: Floats, c1: float, row: Singles, before: Laid) -> Laid:
    """row = slopes; `before` with what this stretch of a vector adds to it. Writes: row."""
    exact, rounded, square, largest_error, excess, largest = before
    for f in range(len(point)):
        row[f] = slopes[f]
        kept = np.float64(row[f])
        error, above = slopes[f] - kept, max(abs(kept) - c1, 0.0)
        exact += slopes[f] * point[f]
        rounded += kept * point[f]
        square += error * error
        excess += above * above
        largest_error = max(largest_error, abs(error))
        largest = max(largest, abs(kept))
    return Laid(exact, rounded, square, largest_error, excess, largest)


@kernel
def lay_plane(point: Floats, gradient: Floats, ridge: float, c1: float, row: Singles) -> Laid:
    """row = gradient - ridge * point, the slopes of the loss alone. Writes: row."""
    laid, slopes = Laid(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), np.empty(BLOCK)
    for start in range(0, len(point), BLOCK):
        stop = min(start + BLOCK, len(point))
        for f in range(start, stop):
            slopes[f - start] = gradient[f] - ridge * point[f]
        laid = round_slopes(slopes, point[start:stop], c1, row[start:stop], laid)
    return laid


@kernel
def lay_mixture(rows: Singles, order: Longs, shares: Floats, point: Floats, c1: float, row: Singles) -> Laid:
    """row = sum_k shares[k] rows[order[k]]; `row` is none of them. Writes: row."""
    laid, slopes = Laid(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), np.empty(BLOCK)
    for start in range(0, len(point), BLOCK):
        stop = min(start + BLOCK, len(point))
        slopes[:] = 0.0
        for k in range(len(order)):
            share, part = shares[k], rows[order[k], start:stop]
            for f in range(len(part)):
                slopes[f] += share * part[f]
        laid = round_slopes(slopes, point[start:stop], c1, row[start:stop], laid)
    return laid


@kernel
def curvature(rows: Singles, order: Longs, c1: float) -> tuple[Floats, Floats]:
    """(gram, offset): what a mixture of the planes `order` does to the excess of the first of them.

    Where |slope| >= c1 in the first row, with s its sign, the excess of a mixture is (s slope - c1)^2, as long as no
    slope crosses c1. So gram sums the products of pairs of rows there, and offset the products of rows with s.
    """
    m, n = len(order), rows.shape[1]
    gram, offset = np.zeros((m, m)), np.zeros(m)
    block, signs, above = np.empty((m, BLOCK)), np.empty(BLOCK), np.empty(BLOCK, np.int64)
    for start in range(0, n, BLOCK):
        first, count = rows[order[0]], 0
        for f in range(start, min(start + BLOCK, n)):
            if abs(first[f]) >= c1:
                signs[count] = 1.0 if first[f] >= 0.0 else -1.0
                above[count] = f
                count += 1
        for j in range(m):
            row, total = rows[order[j]], 0.0
            for f in range(count):
                block[j, f] = row[above[f]] * signs[f]
                total += block[j, f]
            offset[j] += total
            for k in range(j + 1):
                product = 0.0
                for f in range(count):
                    product += block[j, f] * block[k, f]
                gram[j, k] += product
    for j in range(m):
        for k in range(j):
            gram[k, j] = gram[j, k]
    return gram, offset


@kernel
def best_shares(heights: Floats, gram: Floats, shares: Floats, enough: float, max_moves: int) -> None:
    """Maximise heights . shares - shares . gram . shares over shares >= 0 with the sum that they have. Writes: shares.

    Again and again from the plane with the lowest slope to the one with the highest, as much as is best, until their
    slopes differ by at most `enough`: so much is left to gain at most.
    """
    slopes = heights.copy()
    for j in range(len(shares)):
        for k in range(len(shares)):
            slopes[j] -= 2.0 * gram[j, k] * shares[k]
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
