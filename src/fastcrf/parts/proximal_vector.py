"""Lazy vector (f): drift and soft threshold of all weights at every step, for methods with an L1 penalty.

    w <- soft((1 - a l) w - (a / n) d, (a / n) c1)     with w = beta v becomes
    beta <- (1 - a l) beta,   v <- soft(v - A d, A c1),   A = a / (beta n)

A weight that was not visited for some steps must catch up on as many maps v <- soft(v - A_k d, A_k c1) with the same d.
While it keeps its sign its speed is constant, and where |d| <= c1 zero is its end; so all the steps are one long step,
with A the sum of the A_k. The only other case is a weight that passes zero and goes on, more slowly: v d > 0, |d| > c1.
Bisection finds the step that passes; what comes before it, itself, and what comes after it are three long steps.

The sums of the A_k since the last flush are stored; a stamp is the place of the last visit among them. The memory of
rows and cells is that of parts/lazy_vector.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.lanes import add_scaled, larger, largest, load, multiply, scale, shift, store, zeros
from fastcrf.chain.layout import Layout
from fastcrf.kernel import kernel, means
from fastcrf.parts import lazy_vector
from fastcrf.parts.drifting_vector import SMALLEST
from fastcrf.parts.lazy_vector import Places, make_places, turn_stored
from fastcrf.parts.proximal import soft
from fastcrf.types import FeatureMap, Floats


class ProximalVector(NamedTuple):
    """beta is state[0], the number of steps since the last flush state[1]."""

    rows: np.ndarray  # [2 (n_rows + K), Kp] v and d
    stamps: np.ndarray  # [n_rows + K] state[1] when the row was last brought up to date
    cells: np.ndarray  # [n_cells, 3] v, d, stamp
    state: np.ndarray  # [2]
    sums: np.ndarray  # [most steps between two flushes + 1] of the A_k; sums[0] = 0
    c1: float


def make_proximal(
    layout: Layout, features: FeatureMap, weights: Floats, drift: Floats, c1: float, n_steps: int
) -> tuple[ProximalVector, Places]:
    """n_steps: after how many steps it flushes itself."""
    rows, cells, places = make_places(layout, features, weights, drift)
    stamps, state, sums = np.zeros(len(rows) // 2), np.array([1.0, 0.0]), np.zeros(n_steps + 1)
    return ProximalVector(rows, stamps, cells, state, sums, float(c1)), places


@kernel
def catch_up(v, d, sums, first, last, c1):
    """v after the steps v <- soft(v - A_k d, A_k c1), first < k <= last, where A_k = sums[k] - sums[k - 1]."""
    if v * d > 0.0 and abs(d) > c1 and c1 > 0.0:
        zero = sums[first] + abs(v) / (abs(d) + c1)  # where v would be 0
        if zero < sums[last]:
            low, high = first, last  # sums[low] <= zero < sums[high]
            while high - low > 1:
                middle = (low + high) // 2
                if sums[middle] <= zero:
                    low = middle
                else:
                    high = middle
            v = long_step(v, d, sums[low] - sums[first], c1)
            v = long_step(v, d, sums[high] - sums[low], c1)
            first = high
    return long_step(v, d, sums[last] - sums[first], c1)


@kernel
def long_step(v, d, amount, c1):
    return soft(v - amount * d, amount * c1)


@kernel
def catch_up_row(vector, r, lanes):
    """Bring row r up to date. Writes: vector."""
    first, last = np.int64(vector.stamps[r]), np.int64(vector.state[1])
    vector.stamps[r] = vector.state[1]
    amount = vector.sums[last] - vector.sums[first]
    for b in range(0, vector.rows.shape[1], len(lanes)):
        v, d = load(vector.rows, 2 * r, b, lanes), load(vector.rows, 2 * r + 1, b, lanes)
        if vector.c1 > 0.0 and may_pass_zero(v, d, vector.c1):
            for k in range(b, b + len(lanes)):
                vector.rows[2 * r, k] = catch_up(
                    vector.rows[2 * r, k], vector.rows[2 * r + 1, k], vector.sums, first, last, vector.c1
                )
        else:
            moved = add_scaled(-amount, d, v)
            store(vector.rows, 2 * r, b, soft_lanes(moved, amount * vector.c1, lanes))


@kernel
def may_pass_zero(v, d, c1):
    """Whether v d > 0 and |d| > c1 in a lane."""
    back = scale(-1.0, d)
    within = shift(scale(-1.0, larger(d, back)), c1)  # c1 - |d|
    return largest(scale(-1.0, larger(multiply(v, back), within))) > 0.0


@kernel
def soft_lanes(x, threshold, lanes):
    """soft(x, threshold), lane by lane: x minus what is nearest to x in [-threshold, threshold], which may be x itself.

    A NaN stays a NaN, as the second argument of `larger`.
    """
    lowest = shift(zeros(lanes), -threshold)
    at_most = scale(-1.0, larger(lowest, scale(-1.0, x)))
    return add_scaled(-1.0, larger(lowest, at_most), x)


@means(lazy_vector.visit_row, ProximalVector)
def visit_row(vector, r, target, place, lanes):
    if vector.stamps[r] < vector.state[1]:
        catch_up_row(vector, r, lanes)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(target, place, b, scale(vector.state[0], load(vector.rows, 2 * r, b, lanes)))


@kernel
def catch_up_cell(vector, c):
    """Bring cell c up to date and return its weight. Writes: vector."""
    first, last = np.int64(vector.cells[c, 2]), np.int64(vector.state[1])
    v = catch_up(vector.cells[c, 0], vector.cells[c, 1], vector.sums, first, last, vector.c1)
    vector.cells[c, 0] = v
    vector.cells[c, 2] = vector.state[1]
    return vector.state[0] * v


@means(lazy_vector.visit_cells, ProximalVector)
def visit_cells(vector, cells, target):
    for o in range(len(cells)):
        target[o] = catch_up_cell(vector, np.int64(cells[o]))


@means(lazy_vector.flush, ProximalVector)
def flush(vector, lanes):
    for r in range(len(vector.stamps)):
        lazy_vector.visit_row(vector, r, vector.rows, 2 * r, lanes)
        vector.stamps[r] = 0.0
    for c in range(len(vector.cells)):
        vector.cells[c, 0] = catch_up_cell(vector, c)
        vector.cells[c, 2] = 0.0
    vector.state[0], vector.state[1] = 1.0, 0.0


@means(lazy_vector.turn, ProximalVector)
def turn(vector, support, i, growth, step, change, edge_change, n_labels, lanes):
    turn_stored(vector, support, i, growth, step, change, edge_change, n_labels, lanes)


@means(lazy_vector.drift, ProximalVector)
def drift(vector, shrink, amount, lanes):
    """w <- soft(shrink * w - amount * d, amount * c1)."""
    vector.state[0] *= shrink
    vector.state[1] += 1.0
    k = np.int64(vector.state[1])
    vector.sums[k] = vector.sums[k - 1] + amount / vector.state[0]
    if vector.state[0] < SMALLEST or k == len(vector.sums) - 1:
        lazy_vector.flush(vector, lanes)
