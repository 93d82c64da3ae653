"""The rows and cells of the weight table that each block of sequences uses, and a prior's values there.

With a prior mu, stochastic solvers work on the differences v = w - mu, like all other solvers, and do not handle mu
themselves. Where weights are copied from a solver's vector into the local table of a block, the prior's weights are
added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.feature_space.layout import Indices, Layout, Positions
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.lanes import add, flat_rows, load, store
from fastcrf.simd.widths import aligned_zeros
from fastcrf.system.mapped_arrays import empty_beside, folder_of


class Support(NamedTuple):
    """The distinct rows and cells of each block, and a mask of the row slots that are features."""

    row_starts: Longs  # [B + 1] first of the distinct rows of each block
    rows: Indices  # distinct rows
    cell_starts: Longs  # [B + 1] first of the distinct cells of each block
    cells: Indices  # distinct cells
    edges: Indices  # [contexts] the rows of the transitions
    masks: np.ndarray  # [n_rows + contexts, panels] uint64: bit k of panel b is set if slot b * W + k is a feature
    prior: np.ndarray  # [n_rows + contexts and as many as hold all cells, Kp] weights; [0, Kp] when there are none


def make_support(
    positions: Positions, features: FeatureMap, layout: Layout, bounds: Longs
) -> tuple[Support, Positions]:
    """Return (the support of the blocks, without a prior; the positions with rows and cells numbered within their
    block).
    """
    starts = positions.starts[bounds]
    row_starts, rows, local_rows = distinct(positions.row_starts[starts], positions.rows, layout.n_rows)
    cell_starts, cells, local_cells = distinct(positions.cell_starts[bounds], positions.cells, layout.n_cells)
    edges = np.arange(layout.n_rows, layout.n_rows + layout.n_contexts, dtype=np.uint32)
    no_prior = aligned_zeros(0, layout.padded)
    support = Support(row_starts, rows, cell_starts, cells, edges, feature_masks(layout, features), no_prior)
    return support, positions._replace(rows=local_rows, cells=local_cells)


def with_prior(support: Support, layout: Layout, features: FeatureMap, prior: Floats) -> Support:
    """Return the support for scores of a vector plus the weights `prior`."""
    place, n_rows, H, Kp = layout.place, layout.n_rows, layout.n_contexts, layout.padded
    table = aligned_zeros(n_rows + H + -(-layout.n_cells // Kp), Kp)
    behind = np.where(place < layout.n_row_slots, 0, H * Kp)  # cells follow the transitions
    table.reshape(-1)[place + behind] = prior[: features.n_state]
    table[n_rows + layout.rows_of(features), features.targets] = prior[features.n_state :]
    return support._replace(prior=table)


@noalloc_kernel
def add_prior(support, i, weights, edge_scores, lanes):
    """Add the prior's weights, if there is a prior, to the weights of block i. Writes: weights (local), edge_scores."""
    if len(support.prior) > 0:
        add_what_it_has(support, i, weights, edge_scores, lanes)


@outlined_kernel
def add_what_it_has(support, i, weights, edge_scores, lanes):
    """Add the prior's weights to the weights of block i. Writes: weights, edge_scores."""
    add_rows_of(support.prior, support.rows[support.row_starts[i] : support.row_starts[i + 1]], weights.rows, lanes)
    add_rows_of(support.prior, support.edges, edge_scores, lanes)
    first, cells = support.cell_starts[i], flat_rows(support.prior, len(support.masks), len(support.prior))
    for o in range(first, support.cell_starts[i + 1]):
        weights.cells[o - first] += cells[support.cells[o]]


@noalloc_kernel
def add_rows_of(source, rows, target, lanes):
    """Add source rows: target[o] += source[rows[o]]. Writes: target."""
    for o in range(len(rows)):
        for b in range(0, source.shape[1], len(lanes)):
            store(target, o, b, add(load(target, o, b, lanes), load(source, np.int64(rows[o]), b, lanes)))


def feature_masks(layout: Layout, features: FeatureMap) -> np.ndarray:
    """Return a bit mask: one bit for each slot of the dense rows and of the transition rows that has a weight."""
    slots = np.zeros((layout.n_rows + layout.n_contexts, layout.padded), np.bool_)
    slots.reshape(-1)[layout.place[layout.place < layout.n_row_slots]] = True
    slots[layout.n_rows + layout.rows_of(features), features.targets] = True
    panels = slots.reshape(len(slots), -1, layout.width).astype(np.uint64)
    return (panels << np.arange(layout.width, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)


def distinct(bounds: Longs, numbers: Indices, n_numbers: int) -> tuple[Longs, Indices, Indices]:
    """Return the distinct numbers within each slice bounds[i]:bounds[i + 1] as (their starts, the numbers, place of
    each).
    """
    last_seen, starts = np.full(n_numbers, -1), np.zeros(len(bounds), np.int64)
    found, place = (empty_beside(numbers, len(numbers), np.uint32) for _ in range(2))
    n_found = find_distinct(bounds, numbers, last_seen, starts, found, place)
    few = found[:n_found]
    if not folder_of(found) and 2 * n_found < len(found):  # or most of the memory would stay unused
        few = few.copy()
    return starts, few, place


@noalloc_kernel
def find_distinct(bounds, numbers, last_seen, starts, found, place):
    """Return how many distinct numbers there are. `last_seen` [n_numbers] is -1. Writes: last_seen, starts, found,
    place.
    """
    n_found = 0
    for i in range(len(bounds) - 1):
        for o in range(bounds[i], bounds[i + 1]):
            number = numbers[o]
            if last_seen[number] < starts[i]:  # its place among all distinct ones; not yet in this slice
                last_seen[number] = n_found
                found[n_found] = number
                n_found += 1
            place[o] = last_seen[number] - starts[i]
        starts[i + 1] = n_found
    return n_found
