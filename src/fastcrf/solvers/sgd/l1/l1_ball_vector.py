"""Weights that every update projects on the ball |w|_1 <= radius.

The projection is soft(w, theta), with theta such that |soft(w, theta)|_1 = radius (Duchi et al. 2008, Lemma 2). It is
sparse, so the list of nonzero weights is short. A sample adds the weights that it moves away from zero. Sums over the
list then determine theta, and weights that theta sets to zero leave the list. The cost of an update therefore depends
on its sequences and the nonzero weights, not on the size of the model. The arrays are those of lazy_vector.py, with the
place of d unused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading, turning
from fastcrf.lazy_vectors.lazy_vector import Places, make_places, turn_cell_stored, turn_row_stored
from fastcrf.penalties.proximal import soft
from fastcrf.solvers.sgd.l1.stored_vector import read_cell_stored, read_row_stored
from fastcrf.solvers.sgd.lazy_descent import descend, descend_then_penalize

LISTED, THETA = 1, 2  # places in state: 1 where the list is complete, 0 after a flush; theta of the last update


class L1BallVector(NamedTuple):
    """state[0] is 1: w = v. Stamps are not used."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] w, unused
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] w, unused, unused
    state: np.ndarray  # [3]
    radius: float
    flat: np.ndarray  # the array of rows and cells
    places: np.ndarray  # [len(flat)] places in it of the weights that may be nonzero
    sizes: np.ndarray  # [len(flat)] work space: their |w|
    marks: np.ndarray  # [len(flat)] whether a place is on that list
    n_listed: np.ndarray  # [1] length of that list


def make_l1_ball(
    layout: Layout, features: FeatureMap, weights: Floats, nothing: Floats, radius: float
) -> tuple[L1BallVector, Places]:
    rows, cells, places = make_places(layout, features, weights, nothing)
    n, state = len(places.flat), np.array([1.0, 0.0, 0.0])
    listed = places.flat, np.empty(n, np.int64), np.empty(n), np.zeros(n, np.bool_), np.zeros(1, np.int64)
    return L1BallVector(rows, np.zeros(len(rows) // 2), cells, state, float(radius), *listed), places


reading.read_row.register(L1BallVector)(read_row_stored)
reading.read_cell.register(L1BallVector)(read_cell_stored)
lazy_vector.turn.register(L1BallVector)(lazy_vector.turn_each)
descend.register(L1BallVector)(descend_then_penalize)


@lazy_vector.flush.register(L1BallVector)
def flush_l1_ball(vector, lanes):
    """Discard the list, because the caller of `flush` may change the weights."""
    vector.state[LISTED] = 0.0


@noalloc_kernel
def enlist_row(vector, r):
    """Put the nonzero weights of row r on the list. Writes: vector."""
    first = 2 * r * vector.rows.shape[1]
    for place in range(first, first + vector.rows.shape[1]):
        enlist(vector, place)


@noalloc_kernel
def enlist_cell(vector, c):
    """Put cell c on the list if it is not zero. Writes: vector."""
    enlist(vector, vector.rows.size + 3 * c)


@noalloc_kernel
def enlist(vector, place):
    """Put a weight on the list if it is not zero and not on it. Writes: vector."""
    if vector.flat[place] != 0.0 and not vector.marks[place]:
        vector.marks[place] = True
        vector.places[vector.n_listed[0]] = place
        vector.n_listed[0] += 1


@outlined_kernel
def enlist_all(vector):
    """Rebuild the list. Writes: vector."""
    vector.n_listed[0] = 0
    for place in range(len(vector.marks)):
        vector.marks[place] = False
    for r in range(len(vector.stamps)):
        enlist_row(vector, r)
    for c in range(len(vector.cells)):
        enlist_cell(vector, np.uint32(c))  # the type of cells in a block
    vector.state[LISTED] = 1.0


@turning.turn_row.register(L1BallVector)
def turn_row_l1_ball(vector, r, masks, source, place, growth, step, lanes):
    turn_row_stored(vector, r, masks, source, place, growth, step, lanes)
    enlist_row(vector, r)


@turning.turn_cell.register(L1BallVector)
def turn_cell_l1_ball(vector, c, change, growth, step):
    turn_cell_stored(vector, c, change, growth, step)
    enlist_cell(vector, c)


@lazy_vector.advance.register(L1BallVector)
@outlined_kernel
def advance_l1_ball(vector, shrink, amount, lanes):
    """Project on the ball."""
    if vector.state[LISTED] == 0.0:
        enlist_all(vector)
    n, total = vector.n_listed[0], 0.0
    for o in range(n):
        vector.sizes[o] = abs(vector.flat[vector.places[o]])
        total += vector.sizes[o]
    if not total > vector.radius:
        return
    theta = find_threshold(vector.sizes, n, vector.radius, vector.state[THETA])
    vector.state[THETA], vector.n_listed[0] = theta, 0
    for o in range(n):
        place = vector.places[o]
        w = soft(vector.flat[place], theta)
        vector.flat[place] = w
        vector.places[vector.n_listed[0]] = place
        vector.n_listed[0] += w != 0.0  # otherwise the next one takes its place on the list
        vector.marks[place] = w != 0.0


@outlined_kernel
def find_threshold(sizes, n, radius, guess):
    """Return the theta with sum of (size - theta)+ over the first n = radius.

    By Newton's method: the sum is convex and piecewise linear in theta, so that a step from anywhere ends on the left
    of the root, and from there theta increases until it is exact.
    """
    theta = step_to_threshold(sizes, n, radius, guess)
    following = step_to_threshold(sizes, n, radius, theta)
    while following > theta:
        theta = following
        following = step_to_threshold(sizes, n, radius, theta)
    return theta


@noalloc_kernel
def step_to_threshold(sizes, n, radius, theta):
    """Return where the tangent of the sum at theta has the value radius; 0 if no size is above theta."""
    above, number = 0.0, 0.0
    for o in range(n):
        above += sizes[o] if sizes[o] > theta else 0.0
        number += 1.0 if sizes[o] > theta else 0.0
    return (above - radius) / number if number > 0.0 else 0.0
