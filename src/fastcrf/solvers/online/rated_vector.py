"""Weights with a step size each, which wait for a sequence to look at them.

The step size of weight j is A r_j: A is common to all (the loop has it), the rate r_j its own and at most 1. An update
moves the weights of its sequences by the gradient, w_j <- w_j - A r_j g_j; then the penalty acts on all weights, each
for as long as its step was. With d the share of the penalty that falls to the update (2 c2 or c1, times |B| / n):

    L2    w_j <- exp(-A r_j d) w_j
    L1    u_j <- u_j + A r_j d, and what was due and is not paid yet is taken off w_j, but not across zero

A clock adds up A d. A weight that nobody looked at for a while then has one decay by r_j (clock - stamp_j) to catch up
on, or that much more due: exactly what it missed, whatever happened to A and d in the meantime. (L1 is the cumulative
penalty of tsuruoka2009, figure 2, whose u is one number for all weights.)

Of each weight that a double period looks at, its value at the beginning and in the middle of the period are kept. All
weights of an attribute are looked at together, so a row has one stamp, and one mark that says what is known of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.lanes import add, add_scaled, aligned_zeros, flat_rows, larger, load, multiply, scale, shift, store
from fastcrf.generic import inlined_generic
from fastcrf.kernel import inlined_kernel, standing_kernel

WEIGHT, RATE, START, HALF, DUE, PAID, CELL_STAMP, CELL_MARK = range(8)  # parts of a row (4 or 6), columns of a cell
COLUMNS = 8  # so that a cell is a cache line
STAMP, MARK = range(2)  # columns of `marks`
BEGAN, MIDDLE, NOW, STEP = range(4)  # state
UNSEEN, SEEN, SEEN_LATE = 0.0, 1.0, 2.0  # marks: in this period not looked at; start known; middle known, too
N_ROWS, N_CELLS, LATE = range(3)  # counts
SHORT, INSTANT = 0.02, 2.0**-9  # times up to which exp is a polynomial of degree 6 or 4, with an error below 1e-15


class ShrinkingVector(NamedTuple):
    """For an L2 penalty, or none."""

    rows: np.ndarray  # [4 (n_rows + H), Kp] weight, rate, start and half of each row, those of transitions last
    cells: np.ndarray  # [n_cells, 8] the same of each cell, its stamp and its mark
    marks: np.ndarray  # [n_rows + H, 2] stamp and mark of each row
    state: np.ndarray  # [4] the clock when the double period began, in its middle, and now; the common step size
    seen_rows: np.ndarray  # [n_rows + H] the rows that the double period has looked at
    seen_cells: np.ndarray  # [n_cells] and the cells
    counts: np.ndarray  # [3] how many rows and cells these are; 1 after the middle, 0 before it
    scratch: np.ndarray  # [1, Kp]


class PayingVector(NamedTuple):
    """For an L1 penalty: rows have 6 parts, with what is due and what is paid."""

    rows: np.ndarray
    cells: np.ndarray
    marks: np.ndarray
    state: np.ndarray
    seen_rows: np.ndarray
    seen_cells: np.ndarray
    counts: np.ndarray
    scratch: np.ndarray


RatedVector = ShrinkingVector | PayingVector
PARTS: dict[type, int] = {ShrinkingVector: 4, PayingVector: 6}


def make_rated(kind: type, n_rows: int, n_cells: int, padded: int) -> tuple[RatedVector, np.ndarray]:
    """A vector of zeros whose rows include those of the transitions, and its memory of rows and cells in one piece."""
    parts = PARTS[kind]
    n_row_slots = parts * n_rows * padded
    flat = aligned_zeros(1, n_row_slots + COLUMNS * n_cells)[0]
    rows, cells = flat[:n_row_slots].reshape(-1, padded), flat[n_row_slots:].reshape(-1, COLUMNS)
    seen = np.zeros(n_rows, np.int64), np.zeros(n_cells, np.int64)
    vector = kind(
        rows, cells, np.zeros((n_rows, 2)), np.zeros(4), *seen, np.zeros(3, np.int64), aligned_zeros(1, padded)
    )
    return vector, flat


@inlined_generic
def first_row(vector, r):  # type: ignore[no-untyped-def]
    """The place of the weights of row r among `rows`; its other parts follow."""


@inlined_generic
def pass_time_row(vector, r, time, lanes):  # type: ignore[no-untyped-def]
    """Let the penalty act on row r for `time` by the clock. Writes: vector."""


@inlined_generic
def pass_time_cell(vector, c, time):  # type: ignore[no-untyped-def]
    """Let the penalty act on cell c for `time` by the clock. Writes: vector."""


@first_row.register(ShrinkingVector)
def first_shrinking_row(vector, r):
    return 4 * r


@first_row.register(PayingVector)
def first_paying_row(vector, r):
    return 6 * r


@pass_time_row.register(ShrinkingVector)
def shrink_row(vector, r, time, lanes):
    if time > SHORT:
        shrink_row_by_far(vector, r, time, lanes)
        return
    at = 4 * r
    for b in range(0, vector.rows.shape[1], len(lanes)):
        w, x = load(vector.rows, at, b, lanes), scale(-time, load(vector.rows, at + RATE, b, lanes))
        p = shift(scale(1.0 / 4.0, x), 1.0)
        if time > INSTANT:
            p = shift(scale(1.0 / 6.0, x), 1.0)
            p = shift(multiply(scale(1.0 / 5.0, x), p), 1.0)
            p = shift(multiply(scale(1.0 / 4.0, x), p), 1.0)
        p = shift(multiply(scale(1.0 / 3.0, x), p), 1.0)
        p = shift(multiply(scale(1.0 / 2.0, x), p), 1.0)
        store(vector.rows, at, b, add(multiply(multiply(x, p), w), w))


@standing_kernel
def shrink_row_by_far(vector, r, time, lanes):
    """Writes: vector."""
    at, W = 4 * r, len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        store(vector.scratch, 0, b, scale(-time, load(vector.rows, at + RATE, b, lanes)))
    exponentiate(flat_rows(vector.scratch, 0, 1))
    for b in range(0, vector.rows.shape[1], W):
        shrunk = multiply(load(vector.scratch, 0, b, lanes), load(vector.rows, at, b, lanes))
        store(vector.rows, at, b, shrunk)


@pass_time_cell.register(ShrinkingVector)
def shrink_cell(vector, c, time):
    x = -time * vector.cells[c, RATE]
    if time > SHORT:
        vector.cells[c, WEIGHT] *= math.exp(x)
    else:
        p = 1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0)) if time > INSTANT else 1.0 + x / 4.0
        p = 1.0 + x / 2.0 * (1.0 + x / 3.0 * p)
        vector.cells[c, WEIGHT] += x * p * vector.cells[c, WEIGHT]


@pass_time_row.register(PayingVector)
def pay_row(vector, r, time, lanes):
    at = 6 * r
    for b in range(0, vector.rows.shape[1], len(lanes)):
        w, paid = load(vector.rows, at + WEIGHT, b, lanes), load(vector.rows, at + PAID, b, lanes)
        due = add_scaled(time, load(vector.rows, at + RATE, b, lanes), load(vector.rows, at + DUE, b, lanes))
        most = scale(-1.0, larger(scale(-1.0, w), scale(-1.0, add(due, paid))))  # min(w, u + q)
        payment = larger(most, add_scaled(-1.0, due, paid))  # or -(u - q), of a weight below zero
        store(vector.rows, at + DUE, b, due)
        store(vector.rows, at + WEIGHT, b, add_scaled(-1.0, payment, w))
        store(vector.rows, at + PAID, b, add_scaled(-1.0, payment, paid))


@pass_time_cell.register(PayingVector)
def pay_cell(vector, c, time):
    w, paid = vector.cells[c, WEIGHT], vector.cells[c, PAID]
    due = vector.cells[c, DUE] + time * vector.cells[c, RATE]
    payment = max(min(w, due + paid), paid - due)
    vector.cells[c, DUE], vector.cells[c, WEIGHT], vector.cells[c, PAID] = due, w - payment, paid - payment


@inlined_kernel
def advance_row(vector, r, clock, lanes):
    """Bring row r up to `clock`. Writes: vector."""
    if vector.marks[r, STAMP] < clock:
        pass_time_row(vector, r, clock - vector.marks[r, STAMP], lanes)
        vector.marks[r, STAMP] = clock


@inlined_kernel
def advance_cell(vector, c, clock):
    """Bring cell c up to `clock`. Writes: vector."""
    if vector.cells[c, CELL_STAMP] < clock:
        pass_time_cell(vector, c, clock - vector.cells[c, CELL_STAMP])
        vector.cells[c, CELL_STAMP] = clock


@inlined_kernel
def keep_part(vector, r, part, lanes):
    """Copy the weights of row r to another of its parts. Writes: vector."""
    at = first_row(vector, r)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(vector.rows, at + part, b, load(vector.rows, at + WEIGHT, b, lanes))


@inlined_kernel
def meet_row(vector, r, lanes):
    """Keep what the double period must know of row r, at its first look in either half. Writes: vector."""
    if vector.marks[r, MARK] == UNSEEN:
        advance_row(vector, r, vector.state[BEGAN], lanes)
        keep_part(vector, r, np.int64(START), lanes)
        vector.marks[r, MARK] = SEEN
        vector.seen_rows[vector.counts[N_ROWS]] = r
        vector.counts[N_ROWS] += 1
    if vector.counts[LATE] == 1:
        advance_row(vector, r, vector.state[MIDDLE], lanes)
        keep_part(vector, r, np.int64(HALF), lanes)
        vector.marks[r, MARK] = SEEN_LATE


@inlined_kernel
def meet_cell(vector, c):
    """The same for cell c."""
    if vector.cells[c, CELL_MARK] == UNSEEN:
        advance_cell(vector, c, vector.state[BEGAN])
        vector.cells[c, START] = vector.cells[c, WEIGHT]
        vector.cells[c, CELL_MARK] = SEEN
        vector.seen_cells[vector.counts[N_CELLS]] = c
        vector.counts[N_CELLS] += 1
    if vector.counts[LATE] == 1:
        advance_cell(vector, c, vector.state[MIDDLE])
        vector.cells[c, HALF] = vector.cells[c, WEIGHT]
        vector.cells[c, CELL_MARK] = SEEN_LATE


@inlined_kernel
def look_at_row(vector, r, lanes):
    """Bring row r up to date. Writes: vector."""
    if vector.marks[r, MARK] < SEEN + vector.counts[LATE]:
        meet_row(vector, r, lanes)
    advance_row(vector, r, vector.state[NOW], lanes)


@inlined_kernel
def look_at_cell(vector, c):
    """Bring cell c up to date. Writes: vector."""
    if vector.cells[c, CELL_MARK] < SEEN + vector.counts[LATE]:
        meet_cell(vector, c)
    advance_cell(vector, c, vector.state[NOW])


@inlined_kernel
def read_row(vector, r, target, place, lanes):
    """Look at row r and copy it to target[place]. Writes: vector, target."""
    look_at_row(vector, r, lanes)
    at = first_row(vector, r)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(target, place, b, load(vector.rows, at, b, lanes))


@standing_kernel
def gather_rated(vector, support, i, weights, edge_scores, n_histories, lanes):
    """Look at the weights of sequence i and copy them. Writes: vector, weights (a local table), edge_scores."""
    first = support.row_starts[i]
    for o in range(first, support.row_starts[i + 1]):
        read_row(vector, np.int64(support.rows[o]), weights.rows, o - first, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = np.int64(support.cells[o])
        look_at_cell(vector, c)
        weights.cells[o - first] = vector.cells[c, WEIGHT]
    transitions = len(vector.marks) - n_histories
    for j in range(n_histories):
        read_row(vector, transitions + j, edge_scores, j, lanes)


@inlined_kernel
def descend_row(vector, r, step, source, place, lanes):
    """w <- w - step * rate * source[place] on row r; slots without a feature have a rate of 0. Writes: vector."""
    at = first_row(vector, r)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        slope = multiply(load(vector.rows, at + RATE, b, lanes), load(source, place, b, lanes))
        store(vector.rows, at, b, add_scaled(-step, slope, load(vector.rows, at, b, lanes)))


@standing_kernel
def descend_rated(vector, support, i, step, change, lanes):
    """w <- w - step * rate * change on the attributes of sequence i; `change` is a local table. Writes: vector."""
    first = support.row_starts[i]
    for o in range(first, support.row_starts[i + 1]):
        descend_row(vector, np.int64(support.rows[o]), step, change.rows, o - first, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = support.cells[o]
        vector.cells[c, WEIGHT] -= step * vector.cells[c, RATE] * change.cells[o - first]


@standing_kernel
def descend_edges_rated(vector, step, edge_change, n_histories, lanes):
    """w <- w - step * rate * edge_change on the transitions. Writes: vector."""
    transitions = len(vector.marks) - n_histories
    for j in range(n_histories):
        descend_row(vector, transitions + j, step, edge_change, j, lanes)
