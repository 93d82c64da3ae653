"""Recomputed gradients (Schmidt et al. 2015, section 7), for methods whose g_i all belong to one point, the snapshot
w~.

An exchange evaluates the block at w~ again: two recursions per sample instead of one, and memory for one vector of
weights instead of a table of gradients. While a snapshot is computed, the old g_i count as zero: d starts over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.inference.expectations import Table
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors.scaled_vector import ScaledVector, load_scaled, make_scaled
from fastcrf.objective.blocks import Workspace, collect_change, infer_block, make_workspace
from fastcrf.objective.movable import MovablePart
from fastcrf.simd.lanes import add_scaled, load, store
from fastcrf.simd.rows import copy_rows
from fastcrf.simd.widths import aligned_zeros
from fastcrf.stochastic.block_evaluation import score_current
from fastcrf.stochastic.stored_gradients import exchange, recursions


class Recomputed(NamedTuple):
    """The weights w~, and work arrays to evaluate a block there."""

    snapshot: ScaledVector
    space: Workspace
    node_change: np.ndarray  # [T, Kp] new minus old, by position
    change: Table  # local: the same by attribute
    edge_change: np.ndarray  # [H, Kp]


def make_recomputed(part: MovablePart) -> Recomputed:
    """Allocate with a snapshot of zeros; `take_snapshot` changes it."""
    blocks = part.blocks
    n_rows, n_cells, longest = blocks.widest
    layout, Kp = blocks.layout, blocks.layout.padded
    return Recomputed(
        make_scaled(layout, part.features, np.zeros(part.features.n_weights)),
        make_workspace(blocks),
        aligned_zeros(longest, Kp),
        Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells)),
        aligned_zeros(*blocks.layout.edge_shape),
    )


def take_snapshot(gradients: Recomputed, part: MovablePart, weights: Floats) -> None:
    """Set w~ <- weights, those of all features. Writes: gradients."""
    load_scaled(gradients.snapshot, part.blocks.layout, part.features, part.take(weights))


@recursions.register(Recomputed)
def one_recursion(gradients):
    return 1


@exchange.register(Recomputed)
@outlined_kernel
def exchange_recomputed(gradients, blocks, i, growth, space, lanes):
    starts, bounds, H = blocks.chains.starts, blocks.chains.bounds, blocks.layout.n_contexts
    length = starts[bounds[i + 1]] - starts[bounds[i]]
    copy_rows(space.lattice.scores, gradients.node_change, length, lanes)
    copy_rows(space.edge_sums, gradients.edge_change, H, lanes)
    if growth == 0.0:
        evaluate_snapshot(gradients, blocks, i, lanes)
        subtract_rows(gradients.space.lattice.scores, gradients.node_change, length, lanes)
        subtract_rows(gradients.space.edge_sums, gradients.edge_change, H, lanes)
    collect_change(blocks.local, bounds, blocks.support, i, gradients.node_change, gradients.change, lanes)


@outlined_kernel
def evaluate_snapshot(gradients, blocks, i, lanes):
    """Compute the residuals of block i at w~. Writes: gradients.space."""
    edges = score_current(blocks, i, gradients.snapshot, gradients.space, lanes)
    infer_block(blocks.chains, i, edges, gradients.space, blocks.layout.n_labels, lanes)


@noalloc_kernel
def subtract_rows(source, target, n_rows, lanes):
    """Subtract target[:n_rows] -= source[:n_rows]. Writes: target."""
    for r in range(n_rows):
        for b in range(0, source.shape[1], len(lanes)):
            store(target, r, b, add_scaled(-1.0, load(source, r, b, lanes), load(target, r, b, lanes)))
