"""Lazy vector (d): a step size per weight, and a penalty that moves all weights at every step.

With G the sum of the squared gradients of a weight so far, and the rate a = 1 / (delta + sqrt(floor + G)), a sample and
the proximal step that follows it are

    G <- G + g^2,   w <- w - eta a g,   w <- soft(w, eta a lambda1) / (1 + eta a lambda2)

(Duchi, Hazan & Singer 2011). The G of a weight that no sample touches does not change, so all its deferred proximal
steps are the same map of |w|: subtract a share, then a threshold. Zero stays zero, so k of them subtract the share P =
1 - (1 + eta a lambda2)^-k (deferred_steps.py), and then the threshold (lambda1 / lambda2) P, or k eta a lambda1 without
an L2 penalty.

The arrays are those of lazy_vector.py with G in place of d, followed by the rate, so that roots are computed once per
sample. A stamp below 0 marks an unknown rate, because the caller of `flush` may change G.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import inlined_kernel, outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading, turning
from fastcrf.lazy_vectors.deferred_steps import share, shares
from fastcrf.lazy_vectors.lazy_vector import Places, flush_each, make_places
from fastcrf.simd.lanes import add_scaled, keep, larger, load, multiply, scale, shift, store, zeros
from fastcrf.simd.quotients import divide, inverse_root

PARTS = 3  # of a row
RATE = 3  # column of a cell
STEPS, ETA = 1, 2  # places in state: steps since the last flush, and the eta of those
UNKNOWN = -1.0  # stamp


class AdaptiveVector(NamedTuple):
    """state[0] is 1: w = v."""

    rows: np.ndarray  # [3 (n_rows + H), Kp] w, G, a
    stamps: np.ndarray  # [n_rows + H] state[STEPS] at the last lazy update of the row
    cells: np.ndarray  # [n_cells, 4] w, G, stamp, a
    state: np.ndarray  # [3]
    delta: float
    floor: float
    largest: float  # rate of a weight that no sample has touched
    lambda1: float
    lambda2: float


def make_adaptive(
    layout: Layout,
    features: FeatureMap,
    weights: Floats,
    squares: Floats,
    penalty: tuple[float, float],
    delta: float,
    floor: float,
) -> tuple[AdaptiveVector, Places]:
    """Build an adaptive vector. penalty: (lambda1, lambda2), mean scale."""
    rows, cells, places = make_places(layout, features, weights, squares, PARTS, RATE + 1)
    stamps, state = np.full(len(rows) // PARTS, UNKNOWN), np.array([1.0, 0.0, 0.0])
    cells[:, 2] = UNKNOWN
    constants = float(delta), float(floor), 1.0 / (delta + math.sqrt(floor)), *map(float, penalty)
    return AdaptiveVector(rows, stamps, cells, state, *constants), places


@inlined_kernel
def rates_of(vector, G, lanes):
    """Return 1 / (delta + sqrt(floor + G)) of each lane."""
    squares = shift(G, vector.floor)
    rates = inverse_root(squares)
    if vector.delta > 0.0:
        rates = divide(shift(zeros(lanes), 1.0), shift(multiply(squares, rates), vector.delta))
    return rates


@reading.read_row.register(AdaptiveVector)
def read_row_adaptive(vector, r, target, place, lanes):
    """Apply the deferred proximal steps of row r (Duchi et al. (2011), composite mirror descent).

    Copies its weights to target[place]. Writes: vector, target.
    """
    if vector.stamps[r] < 0.0:
        for b in range(0, vector.rows.shape[1], len(lanes)):
            store(vector.rows, PARTS * r + 2, b, rates_of(vector, load(vector.rows, PARTS * r + 1, b, lanes), lanes))
        vector.stamps[r] = 0.0
    missed = np.int64(vector.state[STEPS] - vector.stamps[r])
    vector.stamps[r] = vector.state[STEPS]
    ridge, sparsity = vector.state[ETA] * vector.lambda2, vector.state[ETA] * vector.lambda1
    for b in range(0, vector.rows.shape[1], len(lanes)):
        w = load(vector.rows, PARTS * r, b, lanes)
        if missed > 0 and ridge + sparsity > 0.0:
            rates = load(vector.rows, PARTS * r + 2, b, lanes)
            threshold = scale(missed * sparsity, rates)
            if ridge > 0.0:
                P = shares(missed, scale(ridge, rates), ridge * vector.largest, lanes)
                w = add_scaled(-1.0, multiply(P, w), w)
                threshold = scale(vector.lambda1 / vector.lambda2, P)
            if sparsity > 0.0:
                lowest = scale(-1.0, threshold)
                highest = scale(-1.0, larger(lowest, scale(-1.0, w)))  # min(threshold, w), where NaNs stay
                w = add_scaled(-1.0, larger(lowest, highest), w)
            store(vector.rows, PARTS * r, b, w)
        store(target, place, b, w)


@reading.read_cell.register(AdaptiveVector)
def read_cell_adaptive(vector, c):
    """Apply the deferred proximal steps of cell c; return its weight. Writes: vector."""
    if vector.cells[c, 2] < 0.0:
        vector.cells[c, RATE] = 1.0 / (vector.delta + math.sqrt(vector.floor + vector.cells[c, 1]))
        vector.cells[c, 2] = 0.0
    missed = np.int64(vector.state[STEPS] - vector.cells[c, 2])
    vector.cells[c, 2] = vector.state[STEPS]
    ridge, sparsity = vector.state[ETA] * vector.lambda2, vector.state[ETA] * vector.lambda1
    w, rate = vector.cells[c, 0], vector.cells[c, RATE]
    if missed > 0 and ridge + sparsity > 0.0:
        threshold = missed * sparsity * rate
        if ridge > 0.0:
            P = share(missed, ridge * rate, ridge * vector.largest)
            w -= P * w
            threshold = vector.lambda1 / vector.lambda2 * P
        w -= max(-threshold, min(threshold, w))
        vector.cells[c, 0] = w
    return w


@lazy_vector.flush.register(AdaptiveVector)
@outlined_kernel
def flush_adaptive(vector, lanes):
    if vector.state[STEPS] == 0.0:  # no step since the last flush
        return
    flush_each(vector, UNKNOWN, lanes)
    vector.state[STEPS] = 0.0


lazy_vector.turn.register(AdaptiveVector)(lazy_vector.turn_each)


@turning.turn_row.register(AdaptiveVector)
def turn_row_adaptive(vector, r, masks, source, place, growth, step, lanes):
    """Add G += growth * change^2, w -= step * a * change, for row r; change = source[place] where the mask is set.

    Writes: vector.
    """
    W = len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        change = keep(masks[r, b // W], load(source, place, b, lanes))
        G = add_scaled(growth, multiply(change, change), load(vector.rows, PARTS * r + 1, b, lanes))
        store(vector.rows, PARTS * r + 1, b, G)
        rates = rates_of(vector, G, lanes)
        store(vector.rows, PARTS * r + 2, b, rates)
        w = load(vector.rows, PARTS * r, b, lanes)
        store(vector.rows, PARTS * r, b, add_scaled(-step, multiply(change, rates), w))


@turning.turn_cell.register(AdaptiveVector)
def turn_cell_adaptive(vector, c, change, growth, step):
    """Duchi et al. (2011), Figure 1: G_j, H_jj = delta + sqrt(G_j), the step."""
    vector.cells[c, 1] += growth * change * change
    vector.cells[c, RATE] = 1.0 / (vector.delta + math.sqrt(vector.floor + vector.cells[c, 1]))
    vector.cells[c, 0] -= step * change * vector.cells[c, RATE]


@lazy_vector.advance.register(AdaptiveVector)
def advance_adaptive(vector, shrink, amount, lanes):
    """Count one more proximal step of all weights, with eta = amount; `shrink` is not used."""
    if amount != vector.state[ETA]:
        lazy_vector.flush(vector, lanes)
        vector.state[ETA] = amount
    vector.state[STEPS] += 1.0
