"""Lazy vector (a): w = c v. An L2 step shrinks all weights by one multiplication.

    w <- (1 - a l) w - a g_J      becomes      c <- (1 - a l) c,   v_J <- v_J - (a / c) g_J

c may turn negative (a l > 1); when |c| leaves a safe range it is multiplied into v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.features.layout import Layout
from fastcrf.features.support import add_prior
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.lanes import add_scaled, keep, load, scale, store
from fastcrf.simd.vectors import dot
from fastcrf.simd.widths import aligned_zeros

SMALLEST, LARGEST = 1e-8, 1e8


class ScaledVector(NamedTuple):
    """w = factor[0] * (rows, cells); rows of transitions come last."""

    rows: np.ndarray  # [n_rows + H, Kp] those of the H label contexts of transitions last
    cells: np.ndarray  # [n_cells]
    factor: np.ndarray  # [1]


def make_scaled(layout: Layout, features: FeatureMap, weights: Floats) -> ScaledVector:
    vector = ScaledVector(
        aligned_zeros(layout.n_rows + layout.n_contexts, layout.padded), np.zeros(layout.n_cells), np.ones(1)
    )
    load_scaled(vector, layout, features, weights)
    return vector


def load_scaled(vector: ScaledVector, layout: Layout, features: FeatureMap, weights: Floats) -> None:
    """Load the values of a compact weight vector. Writes: vector."""
    vector.factor[0] = 1.0
    spread_weights(weights, layout.place, layout.n_row_slots, vector.rows.reshape(-1), vector.cells)
    vector.rows[layout.n_rows + layout.rows_of(features), features.targets] = weights[features.n_state :]


def settle_scaled(vector: ScaledVector, layout: Layout, features: FeatureMap, weights: Floats) -> None:
    """Compute the compact weights of the vector. Writes: weights."""
    collect_weights(weights, layout.place, layout.n_row_slots, vector.rows.reshape(-1), vector.cells, vector.factor[0])
    transitions = vector.rows[layout.n_rows + layout.rows_of(features), features.targets]
    weights[features.n_state :] = vector.factor[0] * transitions


def square_scaled(vector: ScaledVector) -> float:
    """Return |w|^2; slots without a feature hold 0."""
    rows = vector.rows.reshape(-1)
    return float(vector.factor[0]) ** 2 * (dot(rows, rows) + dot(vector.cells, vector.cells))


@noalloc_kernel
def spread_weights(weights, place, n_row_slots, rows, cells):
    """Copy compact weights to rows and cells. Writes: rows, cells."""
    for f in range(len(place)):
        if place[f] < n_row_slots:
            rows[place[f]] = weights[f]
        else:
            cells[place[f] - n_row_slots] = weights[f]


@noalloc_kernel
def collect_weights(weights, place, n_row_slots, rows, cells, factor):
    """Copy rows and cells to compact weights. Writes: weights."""
    for f in range(len(place)):
        weights[f] = factor * (rows[place[f]] if place[f] < n_row_slots else cells[place[f] - n_row_slots])


@outlined_kernel
def gather_scaled(vector, support, i, weights, edge_scores, n_contexts, lanes):
    """Copy the weights that sequence i uses, with the prior's. Writes: weights (a local table), edge_scores."""
    c, Kp, W = vector.factor[0], vector.rows.shape[1], len(lanes)
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        for b in range(0, Kp, W):
            store(weights.rows, r - first, b, scale(c, load(vector.rows, support.rows[r], b, lanes)))
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        weights.cells[o - first] = c * vector.cells[support.cells[o]]
    transitions = len(vector.rows) - n_contexts
    for j in range(n_contexts):
        for b in range(0, Kp, W):
            store(edge_scores, j, b, scale(c, load(vector.rows, transitions + j, b, lanes)))
    add_prior(support, i, weights, edge_scores, lanes)


@noalloc_kernel
def shrink_scaled(vector, factor):
    """Set w <- factor w. Writes: vector."""
    vector.factor[0] *= factor
    if not SMALLEST <= abs(vector.factor[0]) <= LARGEST:
        fold_factor(vector.factor[0], vector.rows.reshape(-1))
        fold_factor(vector.factor[0], vector.cells)
        vector.factor[0] = 1.0


@noalloc_kernel
def fold_factor(factor, values):
    """Multiply values *= factor, as a loop: it compiles ten times faster than the array expression. Writes: values."""
    for f in range(len(values)):
        values[f] *= factor


@outlined_kernel
def descend_scaled(vector, support, i, step, change, lanes):
    """Set w <- w - step * change on the attributes of sequence i; `change` is a local table. Writes: vector."""
    amount, Kp, W = -step / vector.factor[0], vector.rows.shape[1], len(lanes)
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        row = support.rows[r]
        for b in range(0, Kp, W):
            masked = keep(support.masks[row, b // W], load(change.rows, r - first, b, lanes))
            store(vector.rows, row, b, add_scaled(amount, masked, load(vector.rows, row, b, lanes)))
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        vector.cells[support.cells[o]] += amount * change.cells[o - first]


@noalloc_kernel
def descend_edges_scaled(vector, masks, step, edge_change, n_contexts, lanes):
    """Set w <- w - step * edge_change on the transitions. Writes: vector."""
    amount, W = -step / vector.factor[0], len(lanes)
    transitions = len(vector.rows) - n_contexts
    for j in range(n_contexts):
        for b in range(0, vector.rows.shape[1], W):
            masked = keep(masks[transitions + j, b // W], load(edge_change, j, b, lanes))
            grown = add_scaled(amount, masked, load(vector.rows, transitions + j, b, lanes))
            store(vector.rows, transitions + j, b, grown)
