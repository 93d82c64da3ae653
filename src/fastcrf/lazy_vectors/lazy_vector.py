"""Vectors whose every weight moves at every step, with lazy updates of the weights that a sample reads.

A step is w <- shrink * w - amount * d, optionally followed by a map of each weight by itself. A lazy vector is a
NamedTuple that stores v and d, and stamps of the last lazy update of each weight. The generic functions below define
the updates for each type (drifting_vector.py, proximal_vector.py, ball_vector.py). One stamp serves a row, because an
attribute's weights are always read together. v and d of a row are adjacent, and so are v, d and stamp of a cell, so
that a read waits for one memory location instead of three. With H label contexts (the rows of transitions:
features/label_contexts.py), all types have

    rows    [2 (n_rows + H), Kp]   row 2r is v, row 2r + 1 is d; rows of transitions come last
    stamps  [n_rows + H]           of each row
    cells   [n_cells, 3]           v, d, stamp
    state   [2] or more            state[0] is beta: after an update, w = beta * v
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.features.layout import Layout
from fastcrf.features.support import add_prior
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.lanes import add_scaled, keep, load, store
from fastcrf.simd.widths import aligned_zeros


@generic
def read_rows(vector, rows, target, lanes):  # type: ignore[no-untyped-def]
    """Apply the lazy updates of `rows` and copy their weights to target. Writes: vector, target.

    Implemented in adaptive_vector.py, ball_vector.py, drifting_vector.py, proximal_vector.py, solvers/sgd/asg.py and
    solvers/sgd/l1/stored_vector.py.
    """


@generic
def read_cells(vector, cells, target):  # type: ignore[no-untyped-def]
    """Apply the lazy updates of `cells` and copy their weights to target. Writes: vector, target.

    Implemented in adaptive_vector.py, ball_vector.py, drifting_vector.py, proximal_vector.py, solvers/sgd/asg.py and
    solvers/sgd/l1/stored_vector.py.
    """


@generic
def turn(vector, support, i, growth, step, change, edge_change, n_contexts, lanes):  # type: ignore[no-untyped-def]
    """Set d <- d + growth * change, w <- w - step * change, on the attributes of block i and the transitions.

    Writes: vector. `change` is a local table. `gather` must have updated the weights of block i.

    Implemented in adaptive_vector.py, ball_vector.py, lazy_vector.py, solvers/sgd/l1/l1_ball_vector.py and
    solvers/sgd/l1/sgd_l1.py.
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
def gather(vector, support, i, weights, edge_scores, lanes):
    """Apply the lazy updates of block i and copy its weights, with the prior's. Writes: vector, weights,
    edge_scores.
    """
    read_rows(vector, support.rows[support.row_starts[i] : support.row_starts[i + 1]], weights.rows, lanes)
    read_cells(vector, support.cells[support.cell_starts[i] : support.cell_starts[i + 1]], weights.cells)
    read_rows(vector, support.edges, edge_scores, lanes)
    add_prior(support, i, weights, edge_scores, lanes)


@noalloc_kernel
def turn_row(vector, r, masks, source, place, growth, step, lanes):
    """Add d += growth * change, w -= step * change, for row r; change = source[place] where the mask is set.

    Writes: vector.
    """
    W = len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        change = keep(masks[r, b // W], load(source, place, b, lanes))
        store(vector.rows, 2 * r + 1, b, add_scaled(growth, change, load(vector.rows, 2 * r + 1, b, lanes)))
        if step != 0.0:
            v = add_scaled(-step / vector.state[0], change, load(vector.rows, 2 * r, b, lanes))
            store(vector.rows, 2 * r, b, v)


@outlined_kernel
def turn_stored(vector, support, i, growth, step, change, edge_change, n_contexts, lanes):
    """Implement `turn` for any type with w = v. Writes: vector."""
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        row = np.int64(support.rows[r])
        turn_row(vector, row, support.masks, change.rows, r - first, growth, step, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = support.cells[o]
        vector.cells[c, 1] += growth * change.cells[o - first]
        vector.cells[c, 0] -= step / vector.state[0] * change.cells[o - first]
    transitions = len(vector.stamps) - n_contexts
    for j in range(n_contexts):
        turn_row(vector, transitions + j, support.masks, edge_change, j, growth, step, lanes)
