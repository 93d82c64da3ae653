"""Vectors of tsuruoka2009 whose weights are what is stored, with two ways of an L1 penalty.

    NaiveVector        every update moves every weight: w <- w - (a c1/n) sign(w)                       section 3.1
    CumulativeVector   a weight that a draw uses receives what penalty it has not received yet          section 3.2

With u the whole penalty that a weight could have received and q what it has received (below 0 for positive weights),
the cumulative penalty of a weight after its gradient step (Figure 2, lines 16 to 21) is

    w > 0:  max(0, w - (u + q)),    w < 0:  min(0, w + (u - q)),    which both are    soft(w - q, u)

because |q| <= u. And w - q does not change by it: it is the start minus all gradient steps.
The memory is that of lazy_vector.py, with q in the place of d, and nothing there for the naive one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.lanes import add_scaled, keep, larger, load, scale, shift, store, zeros
from fastcrf.chain.layout import Layout
from fastcrf.draws import lazy_vector
from fastcrf.draws.lazy_vector import Places, make_places
from fastcrf.kernel import inlined_kernel, standing_kernel
from fastcrf.proximal import soft
from fastcrf.types import FeatureMap, Floats

U = 1  # place of u in the state of a CumulativeVector


class NaiveVector(NamedTuple):
    """state[0] is 1, here and below: w = v. Stamps are not used."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] w, nothing
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] w, nothing, nothing
    state: np.ndarray  # [1]
    lambda1: float


class CumulativeVector(NamedTuple):
    """u is state[1]."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] w and q
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] w, q, nothing
    state: np.ndarray  # [2]
    lambda1: float


Stored = NaiveVector | CumulativeVector


def make_stored(
    layout: Layout, features: FeatureMap, weights: Floats, received: Floats, cls: type, amount: float
) -> tuple[Stored, Places]:
    """cls: one of the types above; amount: its lambda1."""
    rows, cells, places = make_places(layout, features, weights, received)
    return cls(rows, np.zeros(len(rows) // 2), cells, np.array([1.0, 0.0]), float(amount)), places


@lazy_vector.read_rows.register(NaiveVector, CumulativeVector)
@standing_kernel
def read_rows_stored(vector, rows, target, lanes):
    for o in range(len(rows)):
        for b in range(0, vector.rows.shape[1], len(lanes)):
            store(target, o, b, load(vector.rows, 2 * np.int64(rows[o]), b, lanes))


@lazy_vector.read_cells.register(NaiveVector, CumulativeVector)
@standing_kernel
def read_cells_stored(vector, cells, target):
    for o in range(len(cells)):
        target[o] = vector.cells[cells[o], 0]


@lazy_vector.flush.register(NaiveVector, CumulativeVector)
def flush_stored(vector, lanes):
    """Nothing waits."""


lazy_vector.turn.register(NaiveVector)(lazy_vector.turn_stored)


@lazy_vector.advance.register(NaiveVector)
@standing_kernel
def advance_naive(vector, shrink, amount, lanes):
    """w <- w - amount lambda1 sign(w), for every weight."""
    penalty = amount * vector.lambda1
    for r in range(len(vector.stamps)):
        for k in range(vector.rows.shape[1]):
            w = vector.rows[2 * r, k]
            vector.rows[2 * r, k] = w - penalty * np.sign(w)
    for c in range(len(vector.cells)):
        w = vector.cells[c, 0]
        vector.cells[c, 0] = w - penalty * np.sign(w)


@lazy_vector.advance.register(CumulativeVector)
def advance_cumulative(vector, shrink, amount, lanes):
    """u <- u + amount lambda1 (line 6); weights receive it when a draw turns them."""
    vector.state[U] += amount * vector.lambda1


@inlined_kernel
def turn_row_cumulative(vector, r, masks, source, place, step, lanes):
    """Lines 12 to 21 for row r; the gradient is source[place] where the mask is set. Writes: vector."""
    u, W = vector.state[U], len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        gradient = keep(masks[r, b // W], load(source, place, b, lanes))
        moved = add_scaled(-step, gradient, load(vector.rows, 2 * r, b, lanes))
        x, lowest = add_scaled(-1.0, load(vector.rows, 2 * r + 1, b, lanes), moved), shift(zeros(lanes), -u)
        highest = scale(-1.0, larger(lowest, scale(-1.0, x)))  # min(u, x), where NaNs stay
        w = add_scaled(-1.0, larger(lowest, highest), x)
        store(vector.rows, 2 * r, b, w)
        store(vector.rows, 2 * r + 1, b, add_scaled(-1.0, x, w))


@lazy_vector.turn.register(CumulativeVector)
@standing_kernel
def turn_cumulative(vector, support, i, growth, step, change, edge_change, n_histories, lanes):
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        turn_row_cumulative(vector, np.int64(support.rows[r]), support.masks, change.rows, r - first, step, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = support.cells[o]
        x = vector.cells[c, 0] - step * change.cells[o - first] - vector.cells[c, 1]
        w = soft(x, vector.state[U])
        vector.cells[c, 0], vector.cells[c, 1] = w, w - x
    transitions = len(vector.stamps) - n_histories
    for j in range(n_histories):
        turn_row_cumulative(vector, transitions + j, support.masks, edge_change, j, step, lanes)
