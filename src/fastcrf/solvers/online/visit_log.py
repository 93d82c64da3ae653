"""Lazy updates of rated weights, and the records of a double period.

For each weight that a double period uses, it needs the value at the beginning, in the middle and at the end. The first
use therefore applies the deferred updates up to the beginning, records the weight, and continues from there. The first
use in the second half does the same for the middle. A used row or cell gets the next place in the table of the double
period. Its mark is the number of that place, from 1 on; the mark is negative when the middle is also recorded.

A row has the width of vector instructions. Single cells are copied to the columns of a panel of that width.
"""

from __future__ import annotations

import numpy as np

from fastcrf.feature_space.support import add_prior
from fastcrf.jit.kernel import inlined_kernel, outlined_kernel
from fastcrf.lazy_vectors.turning import turn_cell, turn_row
from fastcrf.simd.lanes import add, add_scaled, larger, load, multiply, scale, shift, store, zeros
from fastcrf.simd.prefetch import prefetch
from fastcrf.solvers.online.rated_vector import (
    BEGAN,
    LATE,
    MARK,
    MIDDLE,
    N_CELLS,
    N_ROWS,
    NOW,
    PANEL,
    PANEL_HALF,
    PANEL_MARK,
    PANEL_STAMP,
    PANEL_START,
    RATE,
    STAMP,
    UNSEEN,
    WEIGHT,
    PayingVector,
    ShrinkingVector,
    first_row,
    lay_out_cell,
    pass_time,
    put_back_cell,
)


@inlined_kernel
def place_of(mark):
    """Return the place in the table of the double period for this mark."""
    return np.int64(abs(mark)) - 1


@inlined_kernel
def advanced(vector, at, b, w, time, lanes):
    """Return the weights w from lane b on of the row at this place, after `time` has passed. Writes: vector.rows."""
    return pass_time(vector, vector.rows, at, b, w, shift(zeros(lanes), time), time, lanes) if time > 0.0 else w


@inlined_kernel
def record_visit(vector, r, target, place, lanes):
    """Read row r as `read_row` does, and record it for the double period. Writes: vector, target."""
    began, middle, now, late = vector.state[BEGAN], vector.state[MIDDLE], vector.state[NOW], vector.counts[LATE] == 1
    stamp, mark, at = vector.marks[r, STAMP], vector.marks[r, MARK], first_row(vector, r)
    is_new, start = mark == UNSEEN, max(vector.marks[r, STAMP], vector.state[BEGAN])
    if is_new:
        vector.seen_rows[vector.counts[N_ROWS]] = r
        vector.counts[N_ROWS] += 1
        mark = float(vector.counts[N_ROWS])
    o = place_of(mark)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        w = load(vector.rows, at, b, lanes)
        if is_new:
            w = advanced(vector, at, b, w, began - stamp, lanes)
            store(vector.kept_rows, 2 * o, b, w)
        if late:
            w = advanced(vector, at, b, w, middle - start, lanes)
            store(vector.kept_rows, 2 * o + 1, b, w)
        w = advanced(vector, at, b, w, now - (max(start, middle) if late else start), lanes)
        store(vector.rows, at, b, w)
        store(target, place, b, w)
    vector.marks[r, STAMP], vector.marks[r, MARK] = now, -mark if late else mark


@inlined_kernel
def read_row(vector, r, target, place, lanes):
    """Apply the lazy updates of row r and copy it to target[place]. Writes: vector, target."""
    mark, time, at = vector.marks[r, MARK], vector.state[NOW] - vector.marks[r, STAMP], first_row(vector, r)
    if mark == UNSEEN or (mark > UNSEEN and vector.counts[LATE] == 1):  # the first use in this half
        record_visit(vector, r, target, place, lanes)
        return
    for b in range(0, vector.rows.shape[1], len(lanes)):
        w = advanced(vector, at, b, load(vector.rows, at, b, lanes), time, lanes)
        store(vector.rows, at, b, w)
        store(target, place, b, w)
    vector.marks[r, STAMP] = vector.state[NOW]


@inlined_kernel
def clear_panel(vector, n_cells):
    """Clear the panel after its first cells. Writes: vector.panel."""
    for k in range(n_cells, vector.panel.shape[1]):
        for part in range(PANEL):
            vector.panel[part, k] = 0.0


@inlined_kernel
def advanced_cells(vector, b, w, early, late, lanes):
    """Return the weights w from lane b of the panel on at the time `late`, none of which was updated before `early`.

    Writes: vector.panel, the numbers of these weights.
    """
    stamps = larger(load(vector.panel, PANEL_STAMP, b, lanes), shift(zeros(lanes), early))
    times = larger(shift(scale(-1.0, stamps), late), zeros(lanes))
    return pass_time(vector, vector.panel, np.int64(0), b, w, times, late - early, lanes)


@outlined_kernel
def look_at_panel(vector, lanes):
    """Apply the lazy updates of the panel's cells, and record their weights. Writes: vector.panel."""
    panel, (began, middle, now, _) = vector.panel, vector.state
    for b in range(0, panel.shape[1], len(lanes)):
        w = advanced_cells(vector, b, load(panel, WEIGHT, b, lanes), 0.0, began, lanes)
        store(panel, PANEL_START, b, w)
        if vector.counts[LATE] == 1:
            w = advanced_cells(vector, b, w, began, middle, lanes)
            store(panel, PANEL_HALF, b, w)
            w = advanced_cells(vector, b, w, middle, now, lanes)
        else:
            w = advanced_cells(vector, b, w, began, now, lanes)
        store(panel, WEIGHT, b, w)


@outlined_kernel
def read_cells(vector, support, i, target, lanes):
    """Apply the lazy updates of the cells of sequence i and copy their weights to target. Writes: vector, target."""
    first, last, width = support.cell_starts[i], support.cell_starts[i + 1], vector.panel.shape[1]
    met, late = vector.counts[N_CELLS], vector.counts[LATE] == 1
    for begin in range(first, last, width):
        n = min(width, last - begin)
        for k in range(n):
            lay_out_cell(vector, np.int64(support.cells[begin + k]), k)
        for o in range(begin + width, min(begin + 2 * width, last)):
            prefetch(vector.cells, np.int64(support.cells[o]), 0)
        clear_panel(vector, n)
        look_at_panel(vector, lanes)
        for k in range(n):
            c, mark = np.int64(support.cells[begin + k]), vector.panel[PANEL_MARK, k]
            if mark == UNSEEN:
                vector.kept_cells[met, 0] = vector.panel[PANEL_START, k]
                vector.seen_cells[met] = c
                met += 1
                mark = float(met)
            if late and mark > UNSEEN:
                vector.kept_cells[place_of(mark), 1] = vector.panel[PANEL_HALF, k]
                mark = -mark
            put_back_cell(vector, c, k, mark)
            target[begin - first + k] = vector.panel[WEIGHT, k]
    vector.counts[N_CELLS] = met


@outlined_kernel
def gather_rated(vector, support, i, weights, edge_scores, n_contexts, lanes):
    """Read the weights of sequence i and add the prior's. Writes: vector, weights (local), edge_scores."""
    first = support.row_starts[i]
    for o in range(first, support.row_starts[i + 1]):
        read_row(vector, np.int64(support.rows[o]), weights.rows, o - first, lanes)
    read_cells(vector, support, i, weights.cells, lanes)
    transitions = len(vector.marks) - n_contexts
    for j in range(n_contexts):
        read_row(vector, transitions + j, edge_scores, j, lanes)
    add_prior(support, i, weights, edge_scores, lanes)


@turn_row.register(ShrinkingVector, PayingVector)
def turn_row_rated(vector, r, masks, source, place, growth, step, lanes):
    """Set w <- w - step * rate * change; slots without a feature have a rate of 0. There is no d for `growth`."""
    at = first_row(vector, r)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        slope = multiply(load(vector.rows, at + RATE, b, lanes), load(source, place, b, lanes))
        store(vector.rows, at, b, add_scaled(-step, slope, load(vector.rows, at, b, lanes)))


@turn_cell.register(ShrinkingVector, PayingVector)
def turn_cell_rated(vector, c, change, growth, step):
    vector.cells[c, WEIGHT] -= step * vector.cells[c, RATE] * change


@inlined_kernel
def displacement(vector, o, b, lanes):
    """Return the distances that the weights from lane b on of used row number o moved in the two halves.

    Applies their lazy updates. Writes: vector.rows.
    """
    r, now = vector.seen_rows[o], vector.state[NOW]
    at, stamp, middle = first_row(vector, r), vector.marks[r, STAMP], max(vector.marks[r, STAMP], vector.state[MIDDLE])
    half = advanced(vector, at, b, load(vector.rows, at, b, lanes), middle - stamp, lanes)
    w = advanced(vector, at, b, half, now - middle, lanes)
    if vector.marks[r, MARK] < UNSEEN:
        half = load(vector.kept_rows, 2 * o + 1, b, lanes)
    store(vector.rows, at, b, w)
    return add_scaled(-1.0, load(vector.kept_rows, 2 * o, b, lanes), half), add_scaled(-1.0, half, w)


@inlined_kernel
def clear_visit(vector, o):
    """Clear the mark of used row number o, whose lazy updates are applied. Writes: vector.marks."""
    r = vector.seen_rows[o]
    vector.marks[r, STAMP], vector.marks[r, MARK] = vector.state[NOW], UNSEEN


@outlined_kernel
def lay_out_seen_cells(vector, first, n):
    """Copy the used cells first .. first + n - 1 to the panel, with their records.

    Writes: vector.panel.
    """
    for k in range(n):
        lay_out_cell(vector, vector.seen_cells[first + k], k)
        vector.panel[PANEL_START, k] = vector.kept_cells[first + k, 0]
        vector.panel[PANEL_HALF, k] = vector.kept_cells[first + k, 1]
    clear_panel(vector, n)


@inlined_kernel
def ways_of_cells(vector, b, lanes):
    """Return the distances that the weights from lane b on of the panel moved in the two halves; apply their lazy
    updates.

    Writes: vector.panel.
    """
    panel, (began, middle, now, _) = vector.panel, vector.state
    w = advanced_cells(vector, b, load(panel, WEIGHT, b, lanes), began, middle, lanes)
    half = chosen_by_mark(vector, b, load(panel, PANEL_HALF, b, lanes), w, lanes)
    w = advanced_cells(vector, b, w, middle, now, lanes)
    store(panel, WEIGHT, b, w)
    return add_scaled(-1.0, load(panel, PANEL_START, b, lanes), half), add_scaled(-1.0, half, w)


@inlined_kernel
def chosen_by_mark(vector, b, known, new, lanes):
    """Return `known` where marks are negative, `new` elsewhere."""
    marks = load(vector.panel, PANEL_MARK, b, lanes)
    is_known = larger(scale(-1.0, larger(marks, shift(zeros(lanes), -1.0))), zeros(lanes))  # max(0, min(1, -mark))
    return add(multiply(is_known, known), multiply(shift(scale(-1.0, is_known), 1.0), new))


@outlined_kernel
def put_back_seen_cells(vector, first, n):
    """Copy the cells of the panel back, without marks. Writes: vector.cells."""
    for k in range(n):
        c = vector.seen_cells[first + k]
        put_back_cell(vector, c, k, UNSEEN)
        vector.cells[c, RATE] = vector.panel[RATE, k]
