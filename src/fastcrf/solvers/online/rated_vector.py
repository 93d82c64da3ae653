"""Weights with individual step sizes and lazy updates.

The step size of weight j is A r_j: A is common to all (the loop has it), the rate r_j its own and at most 1. An update
moves the weights of its sequences by the gradient, w_j <- w_j - A r_j g_j; then the penalty acts on all weights, each
in proportion to its step size. With d the share of the penalty for the update (2 c2 or c1, times |B| / n):

    L2    w_j <- exp(-A r_j d) w_j
    L1    u_j <- u_j + A r_j d, and the unpaid part of it is subtracted from |w_j|, but not across zero

A clock adds up A d. The lazy update of a weight is then one decay by r_j (clock - stamp_j), or that much more L1
penalty: exactly the deferred updates, whatever happened to A and d in the meantime. (L1 is the cumulative penalty of
Tsuruoka et al. (2009), figure 2, whose u is one number for all weights.)

All weights of an attribute are used together, so a row has one stamp. For each weight that a double period uses, its
values at the beginning and in the middle of the period are recorded (visit_log.py) in a separate table. The table fits
into the CPU caches, because a double period uses a small part of the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.jit.generic import inlined_generic
from fastcrf.simd.lanes import add, add_scaled, larger, load, multiply, scale, shift, store
from fastcrf.simd.widths import aligned_zeros

WEIGHT, RATE, DUE, PAID = range(4)  # parts of a row: the first two, with an L1 penalty all four; rows of a panel
CELL_STAMP, CELL_MARK, CELL_DUE, CELL_PAID = range(2, 6)  # columns of a cell, after its weight and its rate
PANEL_STAMP, PANEL_MARK, PANEL_START, PANEL_HALF, PANEL = range(4, 9)  # further rows of a panel, and their total
STAMP, MARK = range(2)  # columns of `marks`
UNSEEN = 0.0  # mark of a row or cell that this double period has not used
BEGAN, MIDDLE, NOW, STEP = range(4)  # state
N_ROWS, N_CELLS, LATE = range(3)  # counts
SHORT, INSTANT = 0.02, 2.0**-12  # times up to which exp is a polynomial of degree 6 or 3, with an error below 1e-15


class ShrinkingVector(NamedTuple):
    """For an L2 penalty, or none. Marks are places of a row or a cell in the table of the double period."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] weight and rate of each row, those of transitions last
    cells: np.ndarray  # [n_cells, 4] weight, rate, stamp and mark of each cell
    marks: np.ndarray  # [n_rows + H, 2] stamp and mark of each row
    state: np.ndarray  # [4] the clock when the double period began, in its middle, and now; the common step size
    counts: np.ndarray  # [3] rows and cells that the double period has used; 1 after the middle, 0 before it
    seen_rows: np.ndarray  # [n_rows + H] the used rows
    seen_cells: np.ndarray  # [n_cells]
    kept_rows: np.ndarray  # [2 (n_rows + H), Kp] their weights at the beginning and in the middle, one after the other
    kept_cells: np.ndarray  # [n_cells, 2]
    panel: np.ndarray  # [8, Kp] some cells in columns, for vector instructions


class PayingVector(NamedTuple):
    """For an L1 penalty: rows have 4 parts, cells 8 columns, with the penalty due and paid."""

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
    """Return a vector of zeros, including the rows of transitions, and its contiguous array of rows and cells."""
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
    """Return the place of the weights of row r among `rows`; its other parts follow."""


@inlined_generic
def pass_time(vector, matrix, at, b, w, times, longest, lanes):  # type: ignore[no-untyped-def]
    """Return the weights w after the penalty has acted for `times`, at most `longest`, in units of the clock.

    Their rates and related numbers are the lanes from b on of the parts after matrix[at]: of a row of `rows`, or of a
    panel. Writes: matrix.
    """


@inlined_generic
def lay_out_cell(vector, c, k):  # type: ignore[no-untyped-def]
    """Copy cell c to column k of the panel. Writes: vector.panel."""


@inlined_generic
def put_back_cell(vector, c, k, mark):  # type: ignore[no-untyped-def]
    """Copy column k of the panel, with lazy updates applied, to cell c, except its rate; set its mark.

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
    payment = larger(most, add_scaled(-1.0, due, paid))  # or -(u - q) for a weight below zero
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
