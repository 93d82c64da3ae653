"""Lazy vector (f): drift and soft threshold of all weights at every step, for methods with an L1 penalty.

    w <- soft((1 - a l) w - (a / n) d, (a / n) c1)     with w = beta v becomes
    beta <- (1 - a l) beta,   v <- soft(v - A d, A c1),   A = a / (beta n)

The lazy update of a weight applies one map v <- soft(v - A_k d, A_k c1) per deferred step, with the same d. While the
weight keeps its sign its speed is constant, and if |d| <= c1 it ends at zero. All steps are then one long step, with A
the sum of the A_k. The only other case is a weight that crosses zero and continues more slowly: v d > 0, |d| > c1. Then
half of the steps are tried, and half of these, until none crosses zero or a single step remains, which is exact in any
case. k steps are therefore at most 2 + log2 k long ones.

The sums of the A_k since the last flush are stored; a stamp is the place of the last visit among them. The arrays of
rows and cells are those of lazy_vector.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading
from fastcrf.lazy_vectors.drifting_vector import SMALLEST
from fastcrf.lazy_vectors.lazy_vector import Places, flush_each, make_places
from fastcrf.simd.lanes import add_scaled, larger, largest, load, multiply, scale, shift, store, zeros


class ProximalVector(NamedTuple):
    """beta is state[0], the number of steps since the last flush state[1]."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] v and d
    stamps: np.ndarray  # [n_rows + H] state[1] at the last lazy update of the row
    cells: np.ndarray  # [n_cells, 3] v, d, stamp
    state: np.ndarray  # [2]
    sums: np.ndarray  # [most steps between two flushes + 1] of the A_k; sums[0] = 0
    c1: float


def make_proximal(
    layout: Layout, features: FeatureMap, weights: Floats, drift: Floats, c1: float, n_steps: int
) -> tuple[ProximalVector, Places]:
    """Build a proximal vector. n_steps: it flushes itself after this many steps."""
    rows, cells, places = make_places(layout, features, weights, drift)
    stamps, state, sums = np.zeros(len(rows) // 2), np.array([1.0, 0.0]), np.zeros(n_steps + 1)
    return ProximalVector(rows, stamps, cells, state, sums, float(c1)), places


@reading.read_row.register(ProximalVector)
@outlined_kernel
def read_row_proximal(vector, r, target, place, lanes):
    """Apply the deferred steps of row r, and copy its weights to target[place]. Writes: vector, target."""
    first, last, c1 = np.int64(vector.stamps[r]), np.int64(vector.state[1]), vector.c1
    vector.stamps[r] = vector.state[1]
    for b in range(0, vector.rows.shape[1], len(lanes)):
        done = first
        while done < last:
            v, d = load(vector.rows, 2 * r, b, lanes), load(vector.rows, 2 * r + 1, b, lanes)
            speed, way = larger(d, scale(-1.0, d)), larger(v, scale(-1.0, v))
            stays = larger(scale(-1.0, multiply(v, d)), shift(scale(-1.0, speed), c1))  # or continues, if negative
            until, A = last, vector.sums[last] - vector.sums[done]
            while until - done > 1:
                arrives = shift(add_scaled(-A, speed, way), -A * c1)  # if negative
                if not largest(scale(-1.0, larger(stays, arrives))) > 0.0:
                    break
                until = (done + until) // 2
                A = vector.sums[until] - vector.sums[done]
            x, lowest = add_scaled(-A, d, v), shift(zeros(lanes), -A * c1)
            highest = scale(-1.0, larger(lowest, scale(-1.0, x)))  # min(A c1, x), where NaNs stay
            store(vector.rows, 2 * r, b, add_scaled(-1.0, larger(lowest, highest), x))
            done = until
        store(target, place, b, scale(vector.state[0], load(vector.rows, 2 * r, b, lanes)))


@reading.read_cell.register(ProximalVector)
@outlined_kernel
def read_cell_proximal(vector, c):
    """Apply the deferred steps of cell c; return its weight. Writes: vector."""
    last, c1 = np.int64(vector.state[1]), vector.c1
    v, d, done = vector.cells[c, 0], vector.cells[c, 1], np.int64(vector.cells[c, 2])
    while done < last:
        until, A = last, vector.sums[last] - vector.sums[done]
        goes_on = v * d > 0.0 and abs(d) > c1
        while until - done > 1 and goes_on and abs(v) < A * (abs(d) + c1):
            until = (done + until) // 2
            A = vector.sums[until] - vector.sums[done]
        x = v - A * d
        v = x - max(-A * c1, min(A * c1, x))
        done = until
    vector.cells[c, 0] = v
    vector.cells[c, 2] = vector.state[1]
    return vector.state[0] * v


@lazy_vector.flush.register(ProximalVector)
@outlined_kernel
def flush_proximal(vector, lanes):
    flush_each(vector, 0.0, lanes)
    vector.state[0], vector.state[1] = 1.0, 0.0


@lazy_vector.advance.register(ProximalVector)
def advance_proximal(vector, shrink, amount, lanes):
    """Set w <- soft(shrink * w - amount * d, amount * c1)."""
    vector.state[0] *= shrink
    vector.state[1] += 1.0
    k = np.int64(vector.state[1])
    vector.sums[k] = vector.sums[k - 1] + amount / vector.state[0]
    if vector.state[0] < SMALLEST or k == len(vector.sums) - 1:
        lazy_vector.flush(vector, lanes)


lazy_vector.turn_as_stored(ProximalVector)
