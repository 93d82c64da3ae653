"""Vectors whose every weight moves at every step, with lazy updates of the weights that a sample reads.

A step is w <- shrink * w - amount * d, optionally followed by a map of each weight by itself. A lazy vector is a
NamedTuple that stores v and d, and stamps of the last lazy update of each weight. Generic functions define the updates
for each type (drifting_vector.py, proximal_vector.py, ball_vector.py): those of a block in reading.py and turning.py,
those of all weights here. One stamp serves a row, because an
attribute's weights are always read together. v and d of a row are adjacent, and so are v, d and stamp of a cell, so
that a read waits for one memory location instead of three. With H label contexts (the rows of transitions:
feature_space/label_contexts.py), all types have

    rows    [2 (n_rows + H), Kp]   row 2r is v, row 2r + 1 is d; rows of transitions come last
    stamps  [n_rows + H]           of each row
    cells   [n_cells, 3]           v, d, stamp
    state   [2] or more            state[0] is beta: after an update, w = beta * v
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel
from fastcrf.lazy_vectors.reading import read_cell, read_row
from fastcrf.lazy_vectors.turning import turn_attributes, turn_cell, turn_edges, turn_row
from fastcrf.simd.lanes import add_scaled, keep, load, store
from fastcrf.simd.widths import aligned_zeros


@generic
def turn(vector, support, i, growth, step, change, edge_change, n_contexts, lanes):  # type: ignore[no-untyped-def]
    """Set d <- d + growth * change, w <- w - step * change, on the attributes of block i and the transitions.

    Writes: vector. `change` is a local table. `gather` must have updated the weights of block i.

    Implemented in ball_vector.py and lazy_vector.py.
    """


@generic
def advance(vector, shrink, amount, lanes):  # type: ignore[no-untyped-def]
    """Step with all weights at once: w <- shrink * w - amount * d, and the type's additional map. Writes: vector.

    Implemented in adaptive_vector.py, ball_vector.py, drifting_vector.py, proximal_vector.py, solvers/sgd/asg.py,
    solvers/sgd/l1/l1_ball_vector.py, solvers/sgd/l1/sgd_l1.py and solvers/sgd/l1/sgd_l1_naive.py.
    """


@generic
def flush(vector, lanes):  # type: ignore[no-untyped-def]
    """Apply the lazy updates of all weights: v = w, beta = 1. Writes: vector.

    Implemented in adaptive_vector.py, ball_vector.py, drifting_vector.py, proximal_vector.py, solvers/sgd/asg.py,
    solvers/sgd/l1/l1_ball_vector.py and solvers/sgd/l1/stored_vector.py.
    """


class LazyVector(Protocol):
    """The fields that Python code reads from any type; kernels use the functions above."""

    @property
    def state(self) -> Floats: ...


class Places(NamedTuple):
    """The places of a compact vector's weights in the array of rows and cells."""

    flat: np.ndarray  # that array
    place: np.ndarray  # [p] of v; d lies one row (Kp) or, after `n_row_slots`, one number further
    n_row_slots: int
    padded: int


def make_places(
    layout: Layout, features: FeatureMap, weights: Floats, drift: Floats, parts: int = 2, columns: int = 3
) -> tuple[np.ndarray, np.ndarray, Places]:
    """Return (rows, cells, places) with v = weights and d = drift, both compact; parts: of a row, columns: of a
    cell.
    """
    n_rows, Kp = layout.n_rows + layout.n_contexts, layout.padded
    n_row_slots = parts * n_rows * Kp
    flat = aligned_zeros(1, n_row_slots + columns * layout.n_cells)[0]
    places = Places(flat, places_of(layout, features, parts, columns), n_row_slots, Kp)
    spread_values(weights, drift, places)
    return flat[:n_row_slots].reshape(-1, Kp), flat[n_row_slots:].reshape(-1, columns), places


def places_of(layout: Layout, features: FeatureMap, parts: int, columns: int) -> Longs:
    """Return the place of v for each weight in an array of rows with `parts` parts, followed by cells with `columns`
    columns.
    """
    place, Kp = layout.place.astype(np.int64), layout.padded
    n_row_slots = parts * (layout.n_rows + layout.n_contexts) * Kp
    row, cell = place // Kp * parts * Kp + place % Kp, n_row_slots + columns * (place - layout.n_row_slots)
    transitions = parts * (layout.n_rows + layout.rows_of(features)) * Kp + features.targets
    return np.concatenate((np.where(place < layout.n_row_slots, row, cell), transitions))


@noalloc_kernel
def spread_values(weights, drift, places):
    """Copy compact vectors to v and d. Writes: places.flat."""
    for f in range(len(weights)):
        at = places.place[f]
        places.flat[at] = weights[f]
        places.flat[at + (places.padded if at < places.n_row_slots else 1)] = drift[f]


@noalloc_kernel
def collect_values(places, ridge, weights, drift):
    """Copy v and d of a flushed vector to compact vectors; return |d + ridge * v|^2. Writes: weights, drift."""
    square = 0.0
    for f in range(len(weights)):
        at = places.place[f]
        weights[f] = places.flat[at]
        drift[f] = places.flat[at + (places.padded if at < places.n_row_slots else 1)]
        slope = drift[f] + ridge * weights[f]
        square += slope * slope
    return square


@noalloc_kernel
def settle(vector, places, ridge, weights, drift, lanes):
    """Flush and copy to compact vectors; return |drift + ridge * weights|^2, at no extra cost.

    Python calls this instead of `flush`, which would be compiled a second time. Writes: vector, weights, drift.
    """
    flush(vector, lanes)
    return collect_values(places, ridge, weights, drift)


@noalloc_kernel
def flush_each(vector, stamp, lanes):
    """Read every row and cell into its own place, and set the stamps. Writes: vector."""
    parts = len(vector.rows) // len(vector.stamps)
    for r in range(len(vector.stamps)):
        read_row(vector, r, vector.rows, parts * r, lanes)
        vector.stamps[r] = stamp
    for c in range(len(vector.cells)):
        vector.cells[c, 0] = read_cell(vector, np.uint64(c))
        vector.cells[c, 2] = stamp


@noalloc_kernel
def turn_each(vector, support, i, growth, step, change, edge_change, n_contexts, lanes):
    """Implement `turn` for any type whose `turn_row` and `turn_cell` are all that happens. Writes: vector."""
    of_v = step / vector.state[0]
    turn_attributes(vector, support, i, growth, of_v, change, lanes)
    turn_edges(vector, support.masks, growth, of_v, edge_change, n_contexts, lanes)


@inlined_kernel
def turn_row_stored(vector, r, masks, source, place, growth, step, lanes):
    """Implement `turn_row` for any type with w = beta v. Writes: vector."""
    W = len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        change = keep(masks[r, b // W], load(source, place, b, lanes))
        store(vector.rows, 2 * r + 1, b, add_scaled(growth, change, load(vector.rows, 2 * r + 1, b, lanes)))
        if step != 0.0:
            v = add_scaled(-step, change, load(vector.rows, 2 * r, b, lanes))
            store(vector.rows, 2 * r, b, v)


@inlined_kernel
def turn_cell_stored(vector, c, change, growth, step):
    """Implement `turn_cell` for any type with w = beta v. Writes: vector."""
    vector.cells[c, 1] += growth * change
    vector.cells[c, 0] -= step * change


def turn_as_stored(*classes: type) -> None:
    """Register these types for `turn`, `turn_row` and `turn_cell`: w = beta v, and a turn changes v and d alone."""
    turn.register(*classes)(turn_each)
    turn_row.register(*classes)(turn_row_stored)
    turn_cell.register(*classes)(turn_cell_stored)
