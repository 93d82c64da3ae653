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

from typing import NamedTuple

import numpy as np

from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.lanes import add, add_scaled, aligned_zeros, flat_rows, larger, load, multiply, scale, store
from fastcrf.generic import generic
from fastcrf.kernel import borrowing_kernel, standing_kernel

WEIGHT, RATE, START, HALF, DUE, PAID = range(6)  # parts of a row, and the first columns of a cell
CELL_STAMP, CELL_MARK = -2, -1  # the last two columns of a cell
STAMP, MARK = range(2)  # columns of `marks`
BEGAN, MIDDLE, NOW = range(3)  # clocks
UNSEEN, SEEN, SEEN_LATE = 0.0, 1.0, 2.0  # marks: in this period not looked at; start known; middle known, too
N_ROWS, N_CELLS, LATE = range(3)  # counts


class ShrinkingVector(NamedTuple):
    """For an L2 penalty, or none."""

    rows: np.ndarray  # [4 (n_rows + K), Kp] weight, rate, start and half of each row, those of transitions last
    cells: np.ndarray  # [n_cells, 6] the same of each cell, its stamp and its mark
    marks: np.ndarray  # [n_rows + K, 2] stamp and mark of each row
    clocks: np.ndarray  # [3] when the double period began, when its middle was, and what it is now
    seen_rows: np.ndarray  # [n_rows + K] the rows that the double period has looked at
    seen_cells: np.ndarray  # [n_cells] and the cells
    counts: np.ndarray  # [3] how many rows and cells these are; 1 after the middle, 0 before it
    scratch: np.ndarray  # [1, Kp]


class PayingVector(NamedTuple):
    """For an L1 penalty: rows have 6 parts and cells 8 columns, with what is due and what is paid."""

    rows: np.ndarray
    cells: np.ndarray
    marks: np.ndarray
    clocks: np.ndarray
    seen_rows: np.ndarray
    seen_cells: np.ndarray
    counts: np.ndarray
    scratch: np.ndarray


RatedVector = ShrinkingVector | PayingVector
PARTS = {ShrinkingVector: 4, PayingVector: 6}


def make_rated(kind: type, n_rows: int, n_cells: int, padded: int) -> tuple[RatedVector, np.ndarray]:
    """A vector of zeros whose rows include those of the transitions, and its memory of rows and cells in one piece."""
    parts = PARTS[kind]
    n_row_slots = parts * n_rows * padded
    flat = aligned_zeros(1, n_row_slots + (parts + 2) * n_cells)[0]
    rows, cells = flat[:n_row_slots].reshape(-1, padded), flat[n_row_slots:].reshape(-1, parts + 2)
    seen = np.zeros(n_rows, np.int64), np.zeros(n_cells, np.int64)
    vector = kind(
        rows, cells, np.zeros((n_rows, 2)), np.zeros(3), *seen, np.zeros(3, np.int64), aligned_zeros(1, padded)
    )
    return vector, flat


@generic
def first_row(vector, r):  # type: ignore[no-untyped-def]
    """The place of the weights of row r among `rows`; its other parts follow."""


@generic
def pass_time_row(vector, r, time, lanes):  # type: ignore[no-untyped-def]
    """Let the penalty act on row r for `time` by the clock. Writes: vector."""


@generic
def pass_time_cell(vector, c, time):  # type: ignore[no-untyped-def]
    """Let the penalty act on cell c for `time` by the clock. Writes: vector."""


@first_row.register(ShrinkingVector)
def first_shrinking_row(vector, r):
    return 4 * r


@first_row.register(PayingVector)
def first_paying_row(vector, r):
    return 6 * r


@pass_time_row.register(ShrinkingVector)
@standing_kernel
def shrink_row(vector, r, time, lanes):
    at, W = 4 * r, len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        store(vector.scratch, 0, b, scale(-time, load(vector.rows, at + RATE, b, lanes)))
    exponentiate(flat_rows(vector.scratch, 0, 1))
    for b in range(0, vector.rows.shape[1], W):
        shrunk = multiply(load(vector.scratch, 0, b, lanes), load(vector.rows, at + WEIGHT, b, lanes))
        store(vector.rows, at + WEIGHT, b, shrunk)


@pass_time_cell.register(ShrinkingVector)
def shrink_cell(vector, c, time):
    vector.cells[c, WEIGHT] *= np.exp(-time * vector.cells[c, RATE])


@pass_time_row.register(PayingVector)
@standing_kernel
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


@borrowing_kernel
def advance_row(vector, r, clock, lanes):
    """Bring row r up to `clock`. Writes: vector."""
    if vector.marks[r, STAMP] < clock:
        pass_time_row(vector, r, clock - vector.marks[r, STAMP], lanes)
        vector.marks[r, STAMP] = clock


@borrowing_kernel
def advance_cell(vector, c, clock):
    """Bring cell c up to `clock`. Writes: vector."""
    if vector.cells[c, CELL_STAMP] < clock:
        pass_time_cell(vector, c, clock - vector.cells[c, CELL_STAMP])
        vector.cells[c, CELL_STAMP] = clock


@borrowing_kernel
def keep_part(vector, r, part, lanes):
    """Copy the weights of row r to another of its parts. Writes: vector."""
    at = first_row(vector, r)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(vector.rows, at + part, b, load(vector.rows, at + WEIGHT, b, lanes))


@standing_kernel
def look_at_row(vector, r, lanes):
    """Bring row r up to date, and keep what the double period must know of it. Writes: vector."""
    if vector.marks[r, MARK] == UNSEEN:
        advance_row(vector, r, vector.clocks[BEGAN], lanes)
        keep_part(vector, r, np.int64(START), lanes)
        vector.marks[r, MARK] = SEEN
        vector.seen_rows[vector.counts[N_ROWS]] = r
        vector.counts[N_ROWS] += 1
    if vector.marks[r, MARK] == SEEN and vector.counts[LATE] == 1:
        advance_row(vector, r, vector.clocks[MIDDLE], lanes)
        keep_part(vector, r, np.int64(HALF), lanes)
        vector.marks[r, MARK] = SEEN_LATE
    advance_row(vector, r, vector.clocks[NOW], lanes)


@standing_kernel
def look_at_cell(vector, c):
    """The same for cell c."""
    if vector.cells[c, CELL_MARK] == UNSEEN:
        advance_cell(vector, c, vector.clocks[BEGAN])
        vector.cells[c, START] = vector.cells[c, WEIGHT]
        vector.cells[c, CELL_MARK] = SEEN
        vector.seen_cells[vector.counts[N_CELLS]] = c
        vector.counts[N_CELLS] += 1
    if vector.cells[c, CELL_MARK] == SEEN and vector.counts[LATE] == 1:
        advance_cell(vector, c, vector.clocks[MIDDLE])
        vector.cells[c, HALF] = vector.cells[c, WEIGHT]
        vector.cells[c, CELL_MARK] = SEEN_LATE
    advance_cell(vector, c, vector.clocks[NOW])


@standing_kernel
def gather_rated(vector, support, i, weights, edge_scores, n_labels, lanes):
    """Look at the weights of sequence i and copy them. Writes: vector, weights (a local table), edge_scores."""
    first, W = support.row_starts[i], len(lanes)
    for o in range(first, support.row_starts[i + 1]):
        r = np.int64(support.rows[o])
        look_at_row(vector, r, lanes)
        at = first_row(vector, r)
        for b in range(0, vector.rows.shape[1], W):
            store(weights.rows, o - first, b, load(vector.rows, at, b, lanes))
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = np.int64(support.cells[o])
        look_at_cell(vector, c)
        weights.cells[o - first] = vector.cells[c, WEIGHT]
    transitions = len(vector.marks) - n_labels
    for j in range(n_labels):
        look_at_row(vector, transitions + j, lanes)
        at = first_row(vector, transitions + j)
        for b in range(0, vector.rows.shape[1], W):
            store(edge_scores, j, b, load(vector.rows, at, b, lanes))


@borrowing_kernel
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
def descend_edges_rated(vector, step, edge_change, n_labels, lanes):
    """w <- w - step * rate * edge_change on the transitions. Writes: vector."""
    transitions = len(vector.marks) - n_labels
    for j in range(n_labels):
        descend_row(vector, transitions + j, step, edge_change, j, lanes)
