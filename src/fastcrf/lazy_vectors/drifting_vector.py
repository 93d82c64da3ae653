"""Lazy vector (b): w = beta (v - (S - s) d), for methods that move all weights along a dense drift d at every step.

    w <- (1 - a l) w - (a / m) d      becomes      beta <- (1 - a l) beta,   S <- S + a / (beta m)

The stamp s is the value of S at the last lazy update of the weight. A sample first updates the weights that it uses (v
<- v - (S - s) d, s <- S) and may then change their drift. The invariant holds because d is constant between two visits.
The arrays are those of lazy_vector.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading
from fastcrf.lazy_vectors.lazy_vector import Places, flush_each, make_places
from fastcrf.simd.lanes import add_scaled, load, scale, store

SMALLEST = 1e-8  # of beta; any value far from underflow works


class DriftingVector(NamedTuple):
    """beta and S are state[0] and state[1]."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] v and d
    stamps: np.ndarray  # [n_rows + H] s of each row
    cells: np.ndarray  # [n_cells, 3] v, d, s
    state: np.ndarray  # [2]


def make_drifting(
    layout: Layout, features: FeatureMap, weights: Floats, drift: Floats
) -> tuple[DriftingVector, Places]:
    rows, cells, places = make_places(layout, features, weights, drift)
    return DriftingVector(rows, np.zeros(len(rows) // 2), cells, np.array([1.0, 0.0])), places


@reading.read_row.register(DriftingVector)
def read_row_drifting(vector, r, target, place, lanes):
    since = vector.stamps[r] - vector.state[1]
    vector.stamps[r] = vector.state[1]
    for b in range(0, vector.rows.shape[1], len(lanes)):
        v = add_scaled(since, load(vector.rows, 2 * r + 1, b, lanes), load(vector.rows, 2 * r, b, lanes))
        store(vector.rows, 2 * r, b, v)
        store(target, place, b, scale(vector.state[0], v))


@reading.read_cell.register(DriftingVector)
def read_cell_drifting(vector, c):
    v = vector.cells[c, 0] - (vector.state[1] - vector.cells[c, 2]) * vector.cells[c, 1]
    vector.cells[c, 0] = v
    vector.cells[c, 2] = vector.state[1]
    return vector.state[0] * v


@lazy_vector.flush.register(DriftingVector)
@outlined_kernel
def flush_drifting(vector, lanes):
    flush_each(vector, 0.0, lanes)
    vector.state[0], vector.state[1] = 1.0, 0.0


@lazy_vector.advance.register(DriftingVector)
def advance_drifting(vector, shrink, amount, lanes):
    vector.state[0] *= shrink
    vector.state[1] += amount / vector.state[0]
    if vector.state[0] < SMALLEST:
        lazy_vector.flush(vector, lanes)


lazy_vector.turn_as_stored(DriftingVector)
