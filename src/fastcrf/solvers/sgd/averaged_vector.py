"""Lazy vector (c): w = beta v, and the sum of all w so far (Xu 2010).

    w <- (1 - a l) w - a g;   sum <- sum + w       with   sum = u + A v   becomes
    beta <- (1 - a l) beta,   v <- v - (a / beta) g,   u <- u + A (a / beta) g,   A <- A + beta

because u makes up for each change of v, which A would count for the past, too. The memory is that of lazy_vector.py,
with u in the place of d; flushed, u is the sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.lanes import add_scaled, load, scale, store
from fastcrf.chain.layout import Layout
from fastcrf.draws import lazy_vector
from fastcrf.draws.lazy_vector import Places, make_places
from fastcrf.draws.scaled_vector import LARGEST, SMALLEST
from fastcrf.kernel import standing_kernel
from fastcrf.types import FeatureMap, Floats

BETA, SUMMED, A = range(3)  # places in state; SUMMED is the number of w's in the sum


class AveragedVector(NamedTuple):
    """Stamps are not used."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] v and u
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] v, u, nothing
    state: np.ndarray  # [3]
    lam: float


def make_averaged(
    layout: Layout, features: FeatureMap, weights: Floats, total: Floats, lam: float
) -> tuple[AveragedVector, Places]:
    rows, cells, places = make_places(layout, features, weights, total)
    return AveragedVector(rows, np.zeros(len(rows) // 2), cells, np.array([1.0, 0.0, 0.0]), float(lam)), places


@lazy_vector.read_rows.register(AveragedVector)
@standing_kernel
def read_rows_averaged(vector, rows, target, lanes):
    for o in range(len(rows)):
        for b in range(0, vector.rows.shape[1], len(lanes)):
            store(target, o, b, scale(vector.state[BETA], load(vector.rows, 2 * np.int64(rows[o]), b, lanes)))


@lazy_vector.read_cells.register(AveragedVector)
@standing_kernel
def read_cells_averaged(vector, cells, target):
    for o in range(len(cells)):
        target[o] = vector.state[BETA] * vector.cells[cells[o], 0]


@lazy_vector.flush.register(AveragedVector)
@standing_kernel
def flush_averaged(vector, lanes):
    beta, summed = vector.state[BETA], vector.state[A]
    for r in range(len(vector.stamps)):
        for b in range(0, vector.rows.shape[1], len(lanes)):
            v, u = load(vector.rows, 2 * r, b, lanes), load(vector.rows, 2 * r + 1, b, lanes)
            store(vector.rows, 2 * r, b, scale(beta, v))
            store(vector.rows, 2 * r + 1, b, add_scaled(summed, v, u))
    for c in range(len(vector.cells)):
        vector.cells[c, 1] += summed * vector.cells[c, 0]
        vector.cells[c, 0] *= beta
    vector.state[BETA], vector.state[A] = 1.0, 0.0


@lazy_vector.advance.register(AveragedVector)
def advance_averaged(vector, shrink, amount, lanes):
    """w <- shrink * w; the sum stays. There is no drift for `amount`."""
    vector.state[BETA] *= shrink
    if not SMALLEST <= abs(vector.state[BETA]) <= LARGEST:
        lazy_vector.flush(vector, lanes)


lazy_vector.turn.register(AveragedVector)(lazy_vector.turn_stored)
