"""Vectors of Tsuruoka et al. (2009) that store w itself, with two forms of an L1 penalty.

    NaiveVector        every update moves every weight: w <- w - (a c1/n) sign(w)                       section 3.1
    CumulativeVector   a weight that a sample uses receives the penalty still due                      section 3.2

With u the total penalty that a weight could have received and q the penalty that it has received (below 0 for positive
weights), the cumulative penalty of a weight after its gradient step (Figure 2, lines 16 to 21) is

    w > 0:  max(0, w - (u + q)),    w < 0:  min(0, w + (u - q)),    which both are    soft(w - q, u)

because |q| <= u. It does not change w - q, which is the start minus all gradient steps. The arrays are those of
lazy_vector.py, with q in place of d, which is unused in the naive one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel
from fastcrf.lazy_vectors.lazy_vector import Places, advance, make_places, turn
from fastcrf.simd.lanes import load, store


def make_stored(
    layout: Layout, features: FeatureMap, weights: Floats, received: Floats, cls: type, amount: float
) -> tuple[Any, Places]:
    """Build a vector. cls: its type; amount: its lambda1."""
    rows, cells, places = make_places(layout, features, weights, received)
    return cls(rows, np.zeros(len(rows) // 2), cells, np.array([1.0, 0.0]), float(amount)), places


@inlined_kernel
def read_row_stored(vector, r, target, place, lanes):
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(target, place, b, load(vector.rows, 2 * r, b, lanes))


@inlined_kernel
def read_cell_stored(vector, c):
    return vector.cells[c, 0]


@noalloc_kernel
def flush_stored(vector, lanes):
    """Do nothing: no update is deferred."""


@noalloc_kernel
def penalize_then_descend(vector, support, i, step, share, change, edge_change, lanes):
    """Apply the penalty, then the gradient step.

    The subgradient of the naive penalty is that before the step; u of the cumulative one has grown before it.
    """
    advance(vector, 1.0, step, lanes)
    turn(vector, support, i, 0.0, step * share, change, edge_change, len(support.edges), lanes)
