"""Lazy vector (b): w = beta (v - (S - s) d), for methods that move all weights along a dense drift d at every step.

    w <- (1 - a l) w - (a / m) d      becomes      beta <- (1 - a l) beta,   S <- S + a / (beta m)

s is the value of S when the weight was last brought up to date. A draw first brings the weights that it uses up to date
(v <- v - (S - s) d, s <- S) and may then change their drift: the invariant holds because d is constant between two
visits. One stamp serves a whole row, because an attribute's weights are always touched together. v and d of a row lie
side by side, and so do v, d and s of a cell, so that a visit waits for one place in memory instead of three.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.lanes import add_scaled, aligned_zeros, keep, load, scale, store
from fastcrf.chain.layout import Layout
from fastcrf.kernel import kernel
from fastcrf.types import FeatureMap, Floats

SMALLEST = 1e-8  # of beta; what matters is only to stay far from underflow


class DriftingVector(NamedTuple):
    """beta and S are state[0] and state[1]; rows of transitions come last."""

    rows: np.ndarray  # [2 (n_rows + K), Kp] row 2r is v, row 2r + 1 is d
    stamps: np.ndarray  # [n_rows + K] s of each row
    cells: np.ndarray  # [n_cells, 3] v, d, s
    state: np.ndarray  # [2]


class Places(NamedTuple):
    """Where the weights of a compact vector lie in the memory of rows and cells."""

    flat: np.ndarray  # that memory
    place: np.ndarray  # [p] of v; d lies one row (Kp) or, behind `n_row_slots`, one number further
    n_row_slots: int
    padded: int


def make_drifting(
    layout: Layout, features: FeatureMap, weights: Floats, drift: Floats
) -> tuple[DriftingVector, Places]:
    n_rows, Kp = layout.n_rows + layout.n_labels, layout.padded
    n_row_slots = 2 * n_rows * Kp
    flat = aligned_zeros(1, n_row_slots + 3 * layout.n_cells)[0]
    rows, cells = flat[:n_row_slots].reshape(-1, Kp), flat[n_row_slots:].reshape(-1, 3)
    places = Places(flat, places_of(layout, features, n_row_slots), n_row_slots, Kp)
    spread_values(weights, drift, places)
    return DriftingVector(rows, np.zeros(n_rows), cells, np.array([1.0, 0.0])), places


def places_of(layout: Layout, features: FeatureMap, n_row_slots: int) -> np.ndarray:
    """Place of v for each weight: a row's slots lie twice as far apart as in the layout, a cell's three times."""
    place = layout.place.astype(np.int64)
    in_row = place < layout.n_row_slots
    state = np.where(
        in_row, place + place // layout.padded * layout.padded, n_row_slots + 3 * (place - layout.n_row_slots)
    )
    rows = layout.n_rows + features.sources.astype(np.int64)
    return np.concatenate((state, 2 * rows * layout.padded + features.targets))


def settle_drifting(
    vector: DriftingVector, places: Places, ridge: float, weights: Floats, drift: Floats, lanes: tuple[int, ...]
) -> float:
    """Bring everything up to date and copy it out as compact vectors; |drift + ridge * weights|^2, which comes free.

    Writes: vector, weights, drift.
    """
    flush_drifting(vector, lanes)
    return collect_values(places, ridge, weights, drift)


@kernel
def spread_values(weights, drift, places):
    """Compact vectors to v and d. Writes: places.flat."""
    for f in range(len(weights)):
        at = places.place[f]
        places.flat[at] = weights[f]
        places.flat[at + (places.padded if at < places.n_row_slots else 1)] = drift[f]


@kernel
def collect_values(places, ridge, weights, drift):
    """v and d of a flushed vector as compact vectors; |d + ridge * v|^2. Writes: weights, drift."""
    square = 0.0
    for f in range(len(weights)):
        at = places.place[f]
        weights[f] = places.flat[at]
        drift[f] = places.flat[at + (places.padded if at < places.n_row_slots else 1)]
        slope = drift[f] + ridge * weights[f]
        square += slope * slope
    return square


@kernel
def flush_drifting(vector, lanes):
    """Bring every weight up to date: v = w, beta = 1, S = s = 0. Writes: vector."""
    beta, S = vector.state[0], vector.state[1]
    for r in range(len(vector.stamps)):
        since = vector.stamps[r] - S
        for b in range(0, vector.rows.shape[1], len(lanes)):
            v = add_scaled(since, load(vector.rows, 2 * r + 1, b, lanes), load(vector.rows, 2 * r, b, lanes))
            store(vector.rows, 2 * r, b, scale(beta, v))
        vector.stamps[r] = 0.0
    for c in range(len(vector.cells)):
        vector.cells[c, 0] = beta * (vector.cells[c, 0] - (S - vector.cells[c, 2]) * vector.cells[c, 1])
        vector.cells[c, 2] = 0.0
    vector.state[0], vector.state[1] = 1.0, 0.0


@kernel
def visit_row(vector, r, target, place, lanes):
    """Bring row r up to date and copy its weights to target[place]. Writes: vector, target."""
    beta, S = vector.state[0], vector.state[1]
    since = vector.stamps[r] - S
    vector.stamps[r] = S
    for b in range(0, vector.rows.shape[1], len(lanes)):
        v = add_scaled(since, load(vector.rows, 2 * r + 1, b, lanes), load(vector.rows, 2 * r, b, lanes))
        store(vector.rows, 2 * r, b, v)
        store(target, place, b, scale(beta, v))


@kernel
def gather_drifting(vector, support, i, weights, edge_scores, n_labels, lanes):
    """Bring the weights of sequence i up to date and copy them. Writes: vector, weights (local), edge_scores."""
    beta, S = vector.state[0], vector.state[1]
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        visit_row(vector, np.int64(support.rows[r]), weights.rows, r - first, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = support.cells[o]
        v = vector.cells[c, 0] - (S - vector.cells[c, 2]) * vector.cells[c, 1]
        vector.cells[c, 0] = v
        vector.cells[c, 2] = S
        weights.cells[o - first] = beta * v
    transitions = len(vector.stamps) - n_labels
    for j in range(n_labels):
        visit_row(vector, transitions + j, edge_scores, j, lanes)


@kernel
def turn_row(vector, r, masks, source, place, growth, step, lanes):
    """d += growth * change, w -= step * change, for row r; change = source[place] where the mask is set.

    Writes: vector.
    """
    W = len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        change = keep(masks[r, b // W], load(source, place, b, lanes))
        store(vector.rows, 2 * r + 1, b, add_scaled(growth, change, load(vector.rows, 2 * r + 1, b, lanes)))
        if step != 0.0:
            v = add_scaled(-step / vector.state[0], change, load(vector.rows, 2 * r, b, lanes))
            store(vector.rows, 2 * r, b, v)


@kernel
def turn_drift(vector, support, i, growth, step, change, edge_change, n_labels, lanes):
    """d <- d + growth * change, w <- w - step * change, on the attributes of sequence i and the transitions.

    Writes: vector. `change` is a local table. The weights of sequence i must be up to date (gather_drifting).
    """
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        row = np.int64(support.rows[r])
        turn_row(vector, row, support.masks, change.rows, r - first, growth, step, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        c = support.cells[o]
        vector.cells[c, 1] += growth * change.cells[o - first]
        vector.cells[c, 0] -= step / vector.state[0] * change.cells[o - first]
    transitions = len(vector.stamps) - n_labels
    for j in range(n_labels):
        turn_row(vector, transitions + j, support.masks, edge_change, j, growth, step, lanes)


@kernel
def drift(vector, shrink, amount, lanes):
    """w <- shrink * w - amount * d, for all weights at once. Writes: vector."""
    vector.state[0] *= shrink
    vector.state[1] += amount / vector.state[0]
    if vector.state[0] < SMALLEST:
        flush_drifting(vector, lanes)
