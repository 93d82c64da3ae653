"""Weights with a step size each, which wait for a sequence to look at them.

The step size of weight j is A r_j: A is common to all (the loop has it), the rate r_j its own and at most 1. An update
moves the weights of its sequences by the gradient, w_j <- w_j - A r_j g_j; then the penalty acts on all weights, each
for as long as its step was. With d the share of the penalty that falls to the update (2 c2 or c1, times |B| / n):

    L2    w_j <- exp(-A r_j d) w_j
    L1    u_j <- u_j + A r_j d, and what was due and is not paid yet is taken off w_j, but not across zero

A clock adds up A d. A weight that nobody looked at for a while then has one decay by r_j (clock - stamp_j) to catch up
on, or that much more due: exactly what it missed, whatever happened to A and d in the meantime. (L1 is the cumulative
penalty of tsuruoka2009, figure 2, whose u is one number for all weights.)

All weights of an attribute are looked at together, so a row has one stamp. Of each weight that a double period looks
at, its value at the beginning and in the middle of the period are kept (visit_log.py): in a table of their own,
which the caches hold, because a double period looks at a small part of the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.jit.generic import inlined_generic
from fastcrf.simd.lanes import add, add_scaled, larger, load, multiply, scale, shift, store
from fastcrf.simd.widths import aligned_zeros

WEIGHT, RATE, DUE, PAID = range(4)  # parts of a row: the first two, with an L1 penalty all four; rows of a panel
CELL_STAMP, CELL_MARK, CELL_DUE, CELL_PAID = range(2, 6)  # columns of a cell, behind its weight and its rate
PANEL_STAMP, PANEL_MARK, PANEL_START, PANEL_HALF, PANEL = range(4, 9)  # more rows of a panel; how many they are
STAMP, MARK = range(2)  # columns of `marks`
UNSEEN = 0.0  # mark of what this double period has not looked at
BEGAN, MIDDLE, NOW, STEP = range(4)  # state
N_ROWS, N_CELLS, LATE = range(3)  # counts
SHORT, INSTANT = 0.02, 2.0**-12  # times up to which exp is a polynomial of degree 6 or 3, with an error below 1e-15


class ShrinkingVector(NamedTuple):
    """For an L2 penalty, or none. Marks say where in the table of the double period a row or a cell is."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] weight and rate of each row, those of transitions last
    cells: np.ndarray  # [n_cells, 4] weight, rate, stamp and mark of each cell
    marks: np.ndarray  # [n_rows + H, 2] stamp and mark of each row
    state: np.ndarray  # [4] the clock when the double period began, in its middle, and now; the common step size
    counts: np.ndarray  # [3] rows and cells that the double period has looked at; 1 after the middle, 0 before it
    seen_rows: np.ndarray  # [n_rows + H] which these are
    seen_cells: np.ndarray  # [n_cells]
    kept_rows: np.ndarray  # [2 (n_rows + H), Kp] their weights at the beginning and in the middle, one after the other
    kept_cells: np.ndarray  # [n_cells, 2]
    panel: np.ndarray  # [8, Kp] some cells side by side, for vector instructions


class PayingVector(NamedTuple):
    """For an L1 penalty: rows have 4 parts, cells 8 columns, with what is due and what is paid."""

    rows: np.ndarray
    cells: np.ndarray
    marks: np.ndarray
    state: np.ndarray
    counts: np.ndarray
    seen_rows: np.ndarray
    seen_cells: np.ndarray
    kept_rows: np.ndarray
    kept_cells: np.ndarray
    panel: np.ndarray


RatedVector = ShrinkingVector | PayingVector
PARTS: dict[type, int] = {ShrinkingVector: 2, PayingVector: 4}
COLUMNS: dict[type, int] = {ShrinkingVector: 4, PayingVector: 8}  # half a cache line, or a whole one


def make_rated(kind: type, n_rows: int, n_cells: int, padded: int) -> tuple[RatedVector, np.ndarray]:
    """A vector of zeros whose rows include those of the transitions, and its memory of rows and cells in one piece."""
    n_row_slots = PARTS[kind] * n_rows * padded
    flat = aligned_zeros(1, n_row_slots + COLUMNS[kind] * n_cells)[0]
    rows, cells = flat[:n_row_slots].reshape(-1, padded), flat[n_row_slots:].reshape(-1, COLUMNS[kind])
    seen = np.zeros(n_rows, np.int64), np.zeros(n_cells, np.int64)
    kept = aligned_zeros(2 * n_rows, padded), np.zeros((n_cells, 2))
    vector = kind(
        rows, cells, np.zeros((n_rows, 2)), np.zeros(4), np.zeros(3, np.int64), *seen, *kept,
        aligned_zeros(PANEL, padded),
    )  # fmt: skip
    return vector, flat


@inlined_generic
def first_row(vector, r):  # type: ignore[no-untyped-def]
    """The place of the weights of row r among `rows`; its other parts follow."""


@inlined_generic
def pass_time(vector, matrix, at, b, w, times, longest, lanes):  # type: ignore[no-untyped-def]
    """The weights w after the penalty has acted on them for `times`, none of which is above `longest`, by the clock.

    Their rates, and what belongs to them, are the lanes from b on of the parts behind matrix[at]: of a row of `rows`,
    or of a panel. Writes: matrix.
    """


@inlined_generic
def lay_out_cell(vector, c, k):  # type: ignore[no-untyped-def]
    """Copy cell c to column k of the panel. Writes: vector.panel."""


@inlined_generic
def put_back_cell(vector, c, k, mark):  # type: ignore[no-untyped-def]
    """Copy column k of the panel, which is up to date, to cell c, all but its rate; its mark is new.

    Writes: vector.cells.
    """


@first_row.register(ShrinkingVector)
def first_shrinking_row(vector, r):
    return 2 * r


@first_row.register(PayingVector)
def first_paying_row(vector, r):
    return 4 * r


@pass_time.register(ShrinkingVector)
def shrink(vector, matrix, at, b, w, times, longest, lanes):
    share = 1.0
    while share * longest > SHORT:
        share *= 0.5
    x = multiply(scale(-share, times), load(matrix, at + RATE, b, lanes))
    p = shift(scale(1.0 / 6.0, x), 1.0 / 2.0)
    if share * longest > INSTANT:
        p = shift(scale(1.0 / 720.0, x), 1.0 / 120.0)
        p = shift(multiply(x, p), 1.0 / 24.0)
        p = shift(multiply(x, p), 1.0 / 6.0)
        p = shift(multiply(x, p), 1.0 / 2.0)
    change = multiply(x, shift(multiply(x, p), 1.0))  # exp(x) - 1
    while share < 1.0:
        change = multiply(change, shift(change, 2.0))  # exp(2 x) - 1
        share *= 2.0
    return add(multiply(change, w), w)


@pass_time.register(PayingVector)
def pay(vector, matrix, at, b, w, times, longest, lanes):
    paid, rate = load(matrix, at + PAID, b, lanes), load(matrix, at + RATE, b, lanes)
    due = add(multiply(times, rate), load(matrix, at + DUE, b, lanes))
    most = scale(-1.0, larger(scale(-1.0, w), scale(-1.0, add(due, paid))))  # min(w, u + q)
    payment = larger(most, add_scaled(-1.0, due, paid))  # or -(u - q), of a weight below zero
    store(matrix, at + DUE, b, due)
    store(matrix, at + PAID, b, add_scaled(-1.0, payment, paid))
    return add_scaled(-1.0, payment, w)


@lay_out_cell.register(ShrinkingVector)
def lay_out_shrinking_cell(vector, c, k):
    vector.panel[WEIGHT, k], vector.panel[RATE, k] = vector.cells[c, WEIGHT], vector.cells[c, RATE]
    vector.panel[PANEL_STAMP, k], vector.panel[PANEL_MARK, k] = vector.cells[c, CELL_STAMP], vector.cells[c, CELL_MARK]


@put_back_cell.register(ShrinkingVector)
def put_back_shrinking_cell(vector, c, k, mark):
    vector.cells[c, WEIGHT], vector.cells[c, CELL_STAMP] = vector.panel[WEIGHT, k], vector.state[NOW]
    vector.cells[c, CELL_MARK] = mark


@lay_out_cell.register(PayingVector)
def lay_out_paying_cell(vector, c, k):
    lay_out_shrinking_cell(vector, c, k)
    vector.panel[DUE, k], vector.panel[PAID, k] = vector.cells[c, CELL_DUE], vector.cells[c, CELL_PAID]


@put_back_cell.register(PayingVector)
def put_back_paying_cell(vector, c, k, mark):
    put_back_shrinking_cell(vector, c, k, mark)
    vector.cells[c, CELL_DUE], vector.cells[c, CELL_PAID] = vector.panel[DUE, k], vector.panel[PAID, k]
