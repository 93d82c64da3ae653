"""The rows of curvature pairs in transposed form: the entries of each candidate weight are contiguous.

A step of `sparse_model.py` reads the weights that can move, a few percent of all, several times. From one step to the
next they are mostly the same, and so are all pairs but one. Their columns are copied, not gathered again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs

SHARD = 1 << 12  # candidates that make it worth waking a thread


class Figures(NamedTuple):
    """The model's numbers of each candidate."""

    slopes: Floats  # q
    places: Floats  # v
    thresholds: Floats  # tau
    signs: Floats  # e: of the face, 0 for weights that go to zero


class Round(NamedTuple):
    """The result of a round: the step on its face, and the next face's additions to both sides of the small system."""

    step: Floats
    promised: float  # predicted by gradient and penalty
    square: float  # |step|^2
    changes: int  # signs that differ on the next face
    right: Floats
    inner: Floats


class Columns:
    """array[a] = the entries of the pair rows for candidate a: s and y of each slot."""

    def __init__(self, pairs: CurvaturePairs) -> None:
        self.pairs = pairs
        self._spare = [np.empty(0, pairs.basis.dtype), np.empty(0, pairs.basis.dtype)]  # of `array`, and of the next
        self.clear()

    def clear(self) -> None:
        self.candidates: Longs = np.empty(0, np.int64)
        self.bounds: Longs = np.zeros(2, np.int64)
        self.array = self._spare[0][:0].reshape(0, 0)

    def gather(self, candidates: Longs) -> None:
        """Gather the columns of other candidates, in ascending order, after a pair was added."""
        pairs, shape = self.pairs, (len(candidates), 2 * self.pairs.used)
        n_shards = max(1, min(len(pairs.bounds) - 1, len(candidates) // SHARD))
        self.bounds = np.linspace(0, len(candidates), n_shards + 1).astype(np.int64)
        if len(self._spare[1]) < shape[0] * shape[1]:
            self._spare[1] = np.empty(shape[0] * shape[1], pairs.basis.dtype)
        self._spare.reverse()
        array = self._spare[0][: shape[0] * shape[1]].reshape(shape)
        if pairs.order:
            before = self.candidates, self.array, 2 * pairs.order[-1]
            self._on_threads(lambda first, last: turn_over(pairs.basis, candidates, *before, first, last, array))
        self.candidates, self.array = candidates.copy(), array

    def sum_newest(self, figures: Figures) -> Floats:
        """Return sums of the columns, [4, rows].

        They are over the face: each times the newest s, the newest y, and the pull there; and over all others: times
        the newest s.
        """

        def on_shard(first: int, last: int) -> Floats:
            sums = np.zeros((4, self.array.shape[1]))
            add_newest(self.array, figures, 2 * self.pairs.order[-1], first, last, sums)
            return sums

        return np.sum(self._on_threads(on_shard), axis=0)

    def turn(self, figures: Figures, on_rows: Floats, sigma: float) -> Round:
        """Run a round on the face of figures.signs, which become those of the next. Writes: figures.signs."""
        step, n = np.empty(len(self.array)), len(on_rows)

        def on_shard(first: int, last: int) -> tuple[Floats, Floats, Floats]:
            found, right, inner = np.zeros(3), np.zeros(n), np.zeros((n, n))
            turn_face(self.array, on_rows, figures, sigma, first, last, step, found, right, inner)
            return found, right, inner

        found, right, below = (np.sum(parts, axis=0) for parts in zip(*self._on_threads(on_shard), strict=True))
        return Round(step, float(found[0]), float(found[1]), int(found[2]), right, symmetric(below))

    def shift(self, signs: Floats, weights: Floats) -> Floats:
        """Return the change of the sum of squares over a face when it becomes that of `weights`, [rows, rows]."""

        def on_shard(first: int, last: int) -> Floats:
            inner = np.zeros((self.array.shape[1],) * 2)
            shift_face(self.array, self.candidates, weights, signs, first, last, inner)
            return inner

        return symmetric(np.sum(self._on_threads(on_shard), axis=0))

    def _on_threads(self, work: Callable[[int, int], Any]) -> list[Any]:
        return self.pairs.on_threads(work, self.bounds)


def symmetric(below: Floats) -> Floats:
    """Return the symmetric matrix with this lower triangle."""
    return np.tril(below) + np.tril(below, -1).T


@noalloc_kernel
def turn_over(basis, candidates, before, columns_before, newest, first, last, columns):
    """Set columns[a] = basis[:, candidates[a]] for a in first:last, as far as there are columns. Writes: columns.

    Columns of candidates that were there `before` are copied, except rows `newest` and the next, which are new.
    """
    low, high = 0, len(before)
    while low < high:
        middle = (low + high) // 2
        if before[middle] < candidates[first]:
            low = middle + 1
        else:
            high = middle
    for a in range(first, last):
        f = candidates[a]
        while low < len(before) and before[low] < f:
            low += 1
        if low < len(before) and before[low] == f:
            for i in range(columns_before.shape[1]):
                columns[a, i] = columns_before[low, i]
            columns[a, newest] = basis[newest, f]
            columns[a, newest + 1] = basis[newest + 1, f]
        else:
            for i in range(columns.shape[1]):
                columns[a, i] = basis[i, f]


@noalloc_kernel
def find_candidates(weights, gradient, c1, factors, scale, newest, places, figures):
    """Return (how many weights can move, the norm of the pseudo-gradient in the variables w / scale).

    A weight can move if it is not zero or is pulled away from zero; those that the newest pair has moved are included.
    Writes: places (of these weights); figures, their Figures.
    """
    n, square = 0, 0.0
    for f in range(len(weights)):
        w, g, threshold = weights[f], gradient[f], c1 * factors[f] if len(factors) > 0 else c1
        sign = np.float64(w > 0.0) - np.float64(w < 0.0)
        steepest = g + threshold * sign if sign != 0.0 else g - min(max(g, -threshold), threshold)
        if sign != 0.0 or steepest != 0.0 or (len(newest) > 0 and newest[f] != 0.0):
            places[n] = f
            figures[0, n], figures[1, n] = g * scale[f], w / scale[f]
            figures[2, n], figures[3, n] = threshold * scale[f], sign
            square += (steepest * scale[f]) ** 2
            n += 1
    return n, math.sqrt(square)


@noalloc_kernel
def add_newest(columns, figures, s, first, last, sums):
    """Compute the sums of `Columns.sum_newest`. Writes: sums."""
    signs = figures.signs
    for a in range(first, last):
        here, there = np.float64(columns[a, s]), np.float64(columns[a, s + 1])
        if signs[a] != 0.0:
            pull = -figures.slopes[a] - figures.thresholds[a] * signs[a]
            for i in range(columns.shape[1]):
                column = np.float64(columns[a, i])
                sums[0, i] += here * column
                sums[1, i] += there * column
                sums[2, i] += pull * column
        elif here != 0.0:
            for i in range(columns.shape[1]):
                sums[3, i] += here * columns[a, i]


@noalloc_kernel
def turn_face(columns, on_rows, figures, sigma, first, last, step, found, right, inner):
    """Run a round over candidates first:last: the step to the lowest point on this face, and the next face.

    Writes: step; figures.signs; found: the predicted decrease of the step, its square, how many signs have changed; and
    to right and inner (on and below the diagonal) the additions to both sides of the small system.
    """
    q, v, tau, signs = figures.slopes, figures.places, figures.thresholds, figures.signs
    for a in range(first, last):
        bend = 0.0
        for i in range(len(on_rows)):
            bend += on_rows[i] * columns[a, i]
        sign = signs[a]
        on_face = bend - (q[a] + tau[a] * sign) / sigma
        u = on_face if sign != 0.0 else -v[a]
        step[a] = u
        found[0] += q[a] * u + tau[a] * (abs(v[a] + u) - abs(v[a]))
        found[1] += u * u
        target = v[a] + bend - q[a] / sigma
        sign_next = np.float64(target * sigma > tau[a]) - np.float64(target * sigma < -tau[a])
        if sign_next == -sign:
            sign_next = np.float64(0.0)  # not across: guesses that change many signs at once may cycle
        if sign_next != sign:
            before = -(q[a] + tau[a] * sign) / sigma if sign != 0.0 else -v[a]
            after = -(q[a] + tau[a] * sign_next) / sigma if sign_next != 0.0 else -v[a]
            for i in range(len(on_rows)):
                right[i] += (after - before) * columns[a, i]
            add_square(columns, a, abs(sign_next) - abs(sign), inner)
            signs[a] = sign_next
            found[2] += 1.0


@noalloc_kernel
def shift_face(columns, candidates, weights, signs, first, last, inner):
    """Compute the change of W_S'W_S when the face becomes that of `weights`. Writes: inner, on and below the
    diagonal.
    """
    for a in range(first, last):
        change = np.float64(weights[candidates[a]] != 0.0) - np.float64(signs[a] != 0.0)
        add_square(columns, a, change, inner)


@noalloc_kernel
def add_square(columns, a, factor, inner):
    """Add inner += factor * column a * its transpose. Writes: inner, on and below the diagonal."""
    if factor != 0.0:
        for i in range(len(inner)):
            here = factor * columns[a, i]
            for j in range(i + 1):
                inner[i, j] += here * columns[a, j]


@noalloc_kernel
def square(row, first, last):
    """Return |row[first:last]|^2."""
    total = 0.0
    for f in range(first, last):
        total += np.float64(row[f]) * np.float64(row[f])
    return total
