"""Blocks of a few sequences, for stochastic solvers.

A sample takes a block: one sequence, or several adjacent ones. It uses only their attributes. These are copied from the
solver's (lazy) vector into a small local table, the batch kernels of expectations.py score and scatter on that table as
they do on the large one, and the result is added back. The cost of a sample therefore depends on its sequences and not
on the size of the model.

`Sequences.local` are the positions with each row and cell number replaced by its place in the local table of the block.
Transition weights are K more dense rows after those of the attributes, used by every sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.feature_space.layout import Layout, Positions
from fastcrf.feature_space.support import Support, make_support
from fastcrf.higher_order.any_order import lattice_of, no_edges, tree_of
from fastcrf.inference.edges import add_labeling, gold_score, settle_edges
from fastcrf.inference.expectations import Table, add_edges, infer, scatter_block
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.rows import clear_rows
from fastcrf.simd.widths import aligned_zeros


class Chains(NamedTuple):
    """The sequences of each block, with gold labels and weights."""

    bounds: Longs  # [B + 1] first sequence of each block
    starts: Longs  # [N + 1] first position of each sequence
    labels: Ints  # [P] gold labels
    weights: Floats  # [N] sequence weights, or [0] when all are 1


class Blocks(NamedTuple):
    """A corpus by block."""

    local: Positions  # rows and cells numbered within their block
    support: Support
    chains: Chains
    layout: Layout
    widest: tuple[int, int, int]  # maximum per block of distinct rows, distinct cells and positions


class Workspace(NamedTuple):
    """The work arrays of one thread for one block."""

    lattice: AnyLattice
    weights: Table  # local: weights of the block's attributes
    change: Table  # local: the change to add, by attribute
    edges: AnyEdges  # current transition scores and their exponentials
    edge_change: np.ndarray  # [contexts, Kp] the change to add, by label bigram, or by label context and label
    edge_sums: np.ndarray  # [contexts, Kp] transitions, expected minus observed
    wide_edges: np.ndarray  # [contexts, Kp] expected transitions from the log domain


def make_blocks(
    corpus: Corpus, features: FeatureMap, positions: Positions, layout: Layout, bounds: Longs | None = None
) -> Blocks:
    """Build blocks. `bounds`: first sequence of each block, and the number of sequences; one block per sequence if
    None.
    """
    if bounds is None:
        bounds = np.arange(corpus.n_sequences + 1)
    starts = positions.starts[bounds]
    support, local = make_support(positions, features, layout, bounds)
    sizes = (np.diff(bounds).max(initial=1) for bounds in (support.row_starts, support.cell_starts, starts))
    n_rows, n_cells, longest = map(int, sizes)
    return Blocks(
        local=local,
        support=support,
        chains=Chains(bounds, positions.starts, corpus.labels, corpus.weights),
        layout=layout,
        widest=(n_rows, n_cells, longest),
    )


def make_workspace(blocks: Blocks) -> Workspace:
    n_rows, n_cells, longest = blocks.widest
    layout = blocks.layout
    K, Kp, tree = layout.n_labels, layout.padded, tree_of(layout)
    weights, change = (Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells)) for _ in range(2))
    sums = (aligned_zeros(*layout.edge_shape) for _ in range(3))
    return Workspace(lattice_of(tree, longest, K, Kp), weights, change, no_edges(layout, tree), *sums)


@outlined_kernel
def infer_block(chains, i, edges, space, n_labels, lanes):
    """Return the weighted loss of the scored sequences of block i; compute their weighted residuals, expected minus
    observed.

    Writes: space.lattice (residuals of the labels in scores), space.edge_sums (of the bigrams), space.wide_edges.
    """
    starts, lattice, edge_sums = chains.starts, space.lattice, space.edge_sums
    base, loss = starts[chains.bounds[i]], 0.0
    clear_rows(space.wide_edges, len(edge_sums), lanes)
    clear_rows(edge_sums, len(edge_sums), lanes)
    for c in range(chains.bounds[i], chains.bounds[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        first, last = starts[c] - base, starts[c + 1] - base
        gold = gold_score(edges, chains.labels[starts[c] : starts[c + 1]], lattice.scores, first, n_labels)
        loss += weight * (infer(lattice, first, last, edges, weight, space.wide_edges, n_labels, lanes) - gold)
    add_edges(lattice, starts[chains.bounds[i + 1]] - base, edges, n_labels, edge_sums, lanes)
    settle_edges(edges, edge_sums, space.wide_edges, n_labels, lanes)
    subtract_gold(edges, chains, i, lattice.scores, edge_sums, n_labels)
    return loss


@noalloc_kernel
def subtract_gold(edges, chains, i, posteriors, edge_sums, n_labels):
    """Turn expectations of block i into residuals, expected minus observed. Writes: posteriors, edge_sums."""
    base = chains.starts[chains.bounds[i]]
    for c in range(chains.bounds[i], chains.bounds[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        for p in range(chains.starts[c], chains.starts[c + 1]):
            posteriors[p - base, chains.labels[p]] -= weight
        add_labeling(edges, chains.labels[chains.starts[c] : chains.starts[c + 1]], -weight, edge_sums, n_labels)


@outlined_kernel
def collect_change(positions, bounds, support, i, quantities, change, lanes):
    """Sum label quantities [T, Kp] of block i by attribute. Writes: change (a local table)."""
    clear_rows(change.rows, support.row_starts[i + 1] - support.row_starts[i], lanes)
    for o in range(support.cell_starts[i + 1] - support.cell_starts[i]):
        change.cells[o] = 0.0
    scatter_block(positions, bounds[i], bounds[i + 1], quantities, change, lanes)
