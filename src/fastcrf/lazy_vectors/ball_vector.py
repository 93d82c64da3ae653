"""Lazy vector of a method whose iterates stay within a ball around a center w~, and whose result is their mean.

With z = w - w~ and the constant drift D = d + ridge * w~, a step and the projection on the ball of radius Delta are

    z <- shrink * z - amount * D,     z <- z * min(1, Delta / |z|)                 which for z = beta (v - S D) becomes
    beta <- shrink * beta,  S <- S + amount / beta,     beta <- beta * min(1, Delta / |z|)

so that v changes only where a sample changes it, and |z|^2 = beta^2 (|v|^2 - 2 S v.D + S^2 |D|^2) follows from products
of v and D that also change only there. The sum of the z's since a stamp (A, C) is

    (sum of beta) v - (sum of beta S) D = (A' - A) v - (C' - C) D

with the running sums A' and C'; it is added to `total` before v changes. The arrays are those of lazy_vector.py, and
again for w~ and total. A drift d may change only while z = 0 (at a snapshot), and `flush` must follow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading, turning
from fastcrf.lazy_vectors.lazy_vector import Places, make_places, turn_each
from fastcrf.simd.lanes import add, add_scaled, load, multiply, scale, store, total, zeros

SMALLEST = 1e-3  # of beta: the sums A and C keep 1 / beta times the rounding error of one z
# Places in state; V_V is |v|^2, V_D is v.D, D_D is |D|^2, SUMMED the number of z's in the total.
BETA, S, A, C, V_V, V_D, D_D, RADIUS, SUMMED = range(9)


class BallVector(NamedTuple):
    """The moving vector, and the center with the sum of the moves."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] v and d
    stamps: np.ndarray  # [n_rows + H, 2] A and C when v of the row was last added to the total
    cells: np.ndarray  # [n_cells, 3] v, d, A
    state: np.ndarray  # [9]
    center_rows: np.ndarray  # [2 (n_rows + H), Kp] w~ and total
    center_cells: np.ndarray  # [n_cells, 3] w~, total, C
    ridge: float


def make_ball(
    layout: Layout,
    features: FeatureMap,
    moved: tuple[Floats, Floats],
    center: tuple[Floats, Floats],
    ridge: float,
    radius: float,
) -> tuple[BallVector, Places, Places]:
    """Build a ball vector. moved: (z, d), center: (w~, total), all compact. Flush it before its first step."""
    rows, cells, places = make_places(layout, features, *moved)
    center_rows, center_cells, center_places = make_places(layout, features, *center)
    stamps, state = np.zeros((len(rows) // 2, 2)), np.zeros(9)
    state[BETA], state[RADIUS] = 1.0, radius
    return BallVector(rows, stamps, cells, state, center_rows, center_cells, ridge), places, center_places


@noalloc_kernel
def slope_row(vector, r, b, lanes):
    """Return D in row r."""
    return add_scaled(vector.ridge, load(vector.center_rows, 2 * r, b, lanes), load(vector.rows, 2 * r + 1, b, lanes))


@noalloc_kernel
def slope_cell(vector, c):
    """Return D in cell c."""
    return vector.cells[c, 1] + vector.ridge * vector.center_cells[c, 0]


@noalloc_kernel
def add_up_row(vector, r, lanes):
    """Add the z's of row r since its stamp to the total. Writes: vector."""
    a, c = vector.state[A] - vector.stamps[r, 0], vector.state[C] - vector.stamps[r, 1]
    vector.stamps[r, 0], vector.stamps[r, 1] = vector.state[A], vector.state[C]
    for b in range(0, vector.rows.shape[1], len(lanes)):
        drifted = add_scaled(-c, slope_row(vector, r, b, lanes), load(vector.center_rows, 2 * r + 1, b, lanes))
        store(vector.center_rows, 2 * r + 1, b, add_scaled(a, load(vector.rows, 2 * r, b, lanes), drifted))


@noalloc_kernel
def add_up_cell(vector, c):
    """Add the z's of cell c since its stamp to the total. Writes: vector."""
    since, drifted = vector.state[A] - vector.cells[c, 2], vector.state[C] - vector.center_cells[c, 2]
    vector.cells[c, 2], vector.center_cells[c, 2] = vector.state[A], vector.state[C]
    vector.center_cells[c, 1] += since * vector.cells[c, 0] - drifted * slope_cell(vector, c)


@reading.read_row.register(BallVector)
def read_row_ball(vector, r, target, place, lanes):
    add_up_row(vector, r, lanes)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        v = add_scaled(-vector.state[S], slope_row(vector, r, b, lanes), load(vector.rows, 2 * r, b, lanes))
        store(target, place, b, add_scaled(vector.state[BETA], v, load(vector.center_rows, 2 * r, b, lanes)))


@reading.read_cell.register(BallVector)
def read_cell_ball(vector, c):
    add_up_cell(vector, c)
    v = vector.cells[c, 0] - vector.state[S] * slope_cell(vector, c)
    return vector.center_cells[c, 0] + vector.state[BETA] * v


@noalloc_kernel
def row_products(vector, r, lanes):
    """Return (|v|^2, v.D, |D|^2) of row r."""
    v_v, v_d, d_d = zeros(lanes), zeros(lanes), zeros(lanes)
    for b in range(0, vector.rows.shape[1], len(lanes)):
        v, slope = load(vector.rows, 2 * r, b, lanes), slope_row(vector, r, b, lanes)
        v_v, v_d, d_d = add(v_v, multiply(v, v)), add(v_d, multiply(v, slope)), add(d_d, multiply(slope, slope))
    return total(v_v), total(v_d), total(d_d)


@outlined_kernel
def add_products(vector, support, i, sign, n_contexts, lanes):
    """Add sign times the products of block i to those of all weights. Writes: vector.state."""
    v_v = v_d = 0.0
    for o in range(support.row_starts[i], support.row_starts[i + 1]):
        of_row = row_products(vector, np.int64(support.rows[o]), lanes)
        v_v, v_d = v_v + of_row[0], v_d + of_row[1]
    for o in range(support.cell_starts[i], support.cell_starts[i + 1]):
        c = np.uint64(support.cells[o])  # the type that read_cell has
        v_v, v_d = v_v + vector.cells[c, 0] ** 2, v_d + vector.cells[c, 0] * slope_cell(vector, c)
    for r in range(len(vector.stamps) - n_contexts, len(vector.stamps)):
        of_row = row_products(vector, r, lanes)
        v_v, v_d = v_v + of_row[0], v_d + of_row[1]
    vector.state[V_V] += sign * v_v
    vector.state[V_D] += sign * v_d


turning.turn_row.register(BallVector)(lazy_vector.turn_row_stored)
turning.turn_cell.register(BallVector)(lazy_vector.turn_cell_stored)


@lazy_vector.turn.register(BallVector)
@outlined_kernel
def turn_ball(vector, support, i, growth, step, change, edge_change, n_contexts, lanes):
    if step != 0.0:
        add_products(vector, support, i, -1.0, n_contexts, lanes)
    turn_each(vector, support, i, growth, step, change, edge_change, n_contexts, lanes)
    if step != 0.0:
        add_products(vector, support, i, 1.0, n_contexts, lanes)


@lazy_vector.advance.register(BallVector)
def advance_ball(vector, shrink, amount, lanes):
    """Apply the step and the projection, and count one more z."""
    state = vector.state
    state[BETA] *= shrink
    state[S] += amount / state[BETA]
    distance = state[BETA] * np.sqrt(max(0.0, state[V_V] - 2.0 * state[S] * state[V_D] + state[S] ** 2 * state[D_D]))
    if distance > state[RADIUS]:
        state[BETA] *= state[RADIUS] / distance
    state[A] += state[BETA]
    state[C] += state[BETA] * state[S]
    state[SUMMED] += 1.0
    if state[BETA] < SMALLEST:
        lazy_vector.flush(vector, lanes)


@lazy_vector.flush.register(BallVector)
@outlined_kernel
def flush_ball(vector, lanes):
    """Set v = z, beta = 1, S = A = C = 0, add all z's to the total, and recompute the products."""
    beta, since = vector.state[BETA], vector.state[S]
    v_v = v_d = d_d = 0.0
    for r in range(len(vector.stamps)):
        add_up_row(vector, r, lanes)
        for b in range(0, vector.rows.shape[1], len(lanes)):
            v = add_scaled(-since, slope_row(vector, r, b, lanes), load(vector.rows, 2 * r, b, lanes))
            store(vector.rows, 2 * r, b, scale(beta, v))
        of_row = row_products(vector, r, lanes)
        v_v, v_d, d_d = v_v + of_row[0], v_d + of_row[1], d_d + of_row[2]
    for c in range(len(vector.cells)):
        add_up_cell(vector, np.uint64(c))
        slope = slope_cell(vector, np.uint64(c))
        z = beta * (vector.cells[c, 0] - since * slope)
        vector.cells[c, 0] = z
        vector.cells[c, 2] = vector.center_cells[c, 2] = 0.0
        v_v, v_d, d_d = v_v + z * z, v_d + z * slope, d_d + slope * slope
    vector.stamps[:] = 0.0
    vector.state[:RADIUS] = 0.0
    vector.state[BETA], vector.state[V_V], vector.state[V_D], vector.state[D_D] = 1.0, v_v, v_d, d_d
