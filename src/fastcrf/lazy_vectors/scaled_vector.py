"""Lazy vector (a): w = c v. An L2 step shrinks all weights by one multiplication.

    w <- (1 - a l) w - a g_J      becomes      c <- (1 - a l) c,   v_J <- v_J - (a / c) g_J

c may turn negative (a l > 1); when |c| leaves a safe range it is multiplied into v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.reading import read_cell, read_row
from fastcrf.lazy_vectors.turning import turn_cell, turn_row
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


@read_row.register(ScaledVector)
def read_row_scaled(vector, r, target, place, lanes):
    factor = vector.factor[0]
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(target, place, b, scale(factor, load(vector.rows, r, b, lanes)))


@read_cell.register(ScaledVector)
def read_cell_scaled(vector, c):
    return vector.factor[0] * vector.cells[c]


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


@turn_row.register(ScaledVector)
def turn_row_scaled(vector, r, masks, source, place, growth, step, lanes):
    """There is no d for `growth`."""
    W = len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        masked = keep(masks[r, b // W], load(source, place, b, lanes))
        store(vector.rows, r, b, add_scaled(-step, masked, load(vector.rows, r, b, lanes)))


@turn_cell.register(ScaledVector)
def turn_cell_scaled(vector, c, change, growth, step):
    vector.cells[c] -= step * change
