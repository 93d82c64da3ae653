"""A few sequences at a time: what stochastic solvers ask of a corpus.

A draw takes a block: one sequence, or several that lie side by side. It touches only their attributes. These are copied
from the solver's (lazy) vector into a small local table, the batch kernels of expectations.py score and scatter on that
table as they do on the big one, and the result is added back; so a draw costs what its sequences cost, whatever the
size of the model.

`Sequences.local` are the positions with each row and cell number replaced by its place in the local table of the block.
Transition weights are K more dense rows behind those of the attributes, touched by every draw.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.expectations import Table, add_edges, infer, scatter_block
from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.forward_backward import Edges
from fastcrf.chain.lane_widths import aligned_zeros
from fastcrf.chain.lanes import add, add_scaled, flat_rows, larger, largest, load, multiply, shift, store, zeros
from fastcrf.chain.layout import Layout, Positions
from fastcrf.chain.orders import AnyEdges, AnyLattice, lattice_of, no_edges, tree_of
from fastcrf.chain.support import Support, make_support
from fastcrf.generic import generic
from fastcrf.kernel import borrowing_kernel, standing_kernel
from fastcrf.types import Corpus, FeatureMap, Floats, Ints, Longs

LOWEST_SCORE = -1e299  # below every score of a label, above every score of padding


@generic
def refresh_edges(edges, n_labels, bias, lanes):  # type: ignore[no-untyped-def]
    """Edges with new exponentials of edges.scores; `bias` is Lattice.bias. Writes: edges, all but the scores."""


@generic
def gold_score(edges, labels, scores, first, n_labels):  # type: ignore[no-untyped-def]
    """Score of a labelling [T], given label scores (rows first..) and edges."""


@generic
def add_labelling(edges, labels, amount, counts, n_labels):  # type: ignore[no-untyped-def]
    """Add `amount` for each transition of a labelling [T], as its weights count it. Writes: counts."""


@generic
def settle_edges(edges, edge_sums, wide_edges, n_labels, lanes):  # type: ignore[no-untyped-def]
    """From sums in units of edges.forward, and plain counts, to expected counts of transitions. Writes: edge_sums."""


@generic
def count_shorter(edges, counts, n_labels, lanes):  # type: ignore[no-untyped-def]
    """From counts of steps to counts of weights: a step counts for all weights that it has. Writes: counts."""


class Chains(NamedTuple):
    """The sequences of each block, and what is to be learnt from them."""

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
    widest: tuple[int, int, int]  # most distinct rows, most distinct cells, most positions of a block


class Workspace(NamedTuple):
    """Arrays that one thread needs to treat one block."""

    lattice: AnyLattice
    weights: Table  # local: weights of the block's attributes
    change: Table  # local: what is to be added, by attribute
    edges: AnyEdges  # current transition scores and their exponentials
    edge_change: np.ndarray  # [histories, Kp] what is to be added, by label bigram, or by history and label
    edge_sums: np.ndarray  # [histories, Kp] transitions, expected minus observed
    wide_edges: np.ndarray  # [histories, Kp] those expected that come from the log domain


def make_blocks(
    corpus: Corpus, features: FeatureMap, positions: Positions, layout: Layout, bounds: Longs | None = None
) -> Blocks:
    """`blocks`: first sequence of each block, and the number of sequences; each by itself when not given."""
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


@refresh_edges.register(Edges)
def refresh_bigrams(edges, n_labels, bias, lanes):
    Kp, W = edges.scores.shape[1], len(lanes)
    high = shift(zeros(lanes), LOWEST_SCORE)
    low = high
    for j in range(n_labels):
        for b in range(0, Kp, W):
            row = load(edges.scores, j, b, lanes)
            high = larger(high, add(row, load(bias, 0, b, lanes)))
            low = larger(low, add_scaled(-1.0, row, load(bias, 0, b, lanes)))
    top, bottom = largest(high), -largest(low)
    for j in range(n_labels):
        for b in range(0, Kp, W):
            store(edges.forward, j, b, shift(load(edges.scores, j, b, lanes), -top))
    exponentiate(flat_rows(edges.forward, 0, n_labels))
    for j in range(n_labels):
        for k in range(n_labels):
            edges.backward[k, j] = edges.forward[j, k]
        for k in range(n_labels, Kp):
            edges.forward[j, k] = 0.0
    return Edges(edges.scores, edges.forward, edges.backward, top, top - bottom, 0)


@gold_score.register(Edges)
def gold_score_of_bigrams(edges, labels, scores, first, n_labels):
    score = scores[first, labels[0]]
    for t in range(1, len(labels)):
        score += scores[first + t, labels[t]] + edges.scores[labels[t - 1], labels[t]]
    return score


@standing_kernel
def infer_block(chains, i, edges, space, n_labels, lanes):
    """Weighted loss of the scored sequences of block i; their residuals, expected minus observed, weighted.

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


@settle_edges.register(Edges)
def settle_bigrams(edges, edge_sums, wide_edges, n_labels, lanes):
    for j in range(n_labels):
        for b in range(0, edge_sums.shape[1], len(lanes)):
            expected = multiply(load(edge_sums, j, b, lanes), load(edges.forward, j, b, lanes))
            store(edge_sums, j, b, add(expected, load(wide_edges, j, b, lanes)))


@count_shorter.register(Edges)
def count_bigrams(edges, counts, n_labels, lanes):
    """A step has one weight."""


@add_labelling.register(Edges)
def add_bigrams_of_labelling(edges, labels, amount, counts, n_labels):
    for t in range(1, len(labels)):
        counts[labels[t - 1], labels[t]] += amount


@borrowing_kernel
def subtract_gold(edges, chains, i, posteriors, edge_sums, n_labels):
    """Turn expectations of block i into residuals, expected minus observed. Writes: posteriors, edge_sums."""
    base = chains.starts[chains.bounds[i]]
    for c in range(chains.bounds[i], chains.bounds[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        for p in range(chains.starts[c], chains.starts[c + 1]):
            posteriors[p - base, chains.labels[p]] -= weight
        add_labelling(edges, chains.labels[chains.starts[c] : chains.starts[c + 1]], -weight, edge_sums, n_labels)


@standing_kernel
def collect_change(positions, bounds, support, i, quantities, change, lanes):
    """Sum label quantities [T, Kp] of block i by attribute. Writes: change (a local table)."""
    clear_rows(change.rows, support.row_starts[i + 1] - support.row_starts[i], lanes)
    for o in range(support.cell_starts[i + 1] - support.cell_starts[i]):
        change.cells[o] = 0.0
    scatter_block(positions, bounds[i], bounds[i + 1], quantities, change, lanes)


@borrowing_kernel
def clear_rows(target, n_rows, lanes):
    """target[:n_rows] = 0. Writes: target."""
    for r in range(n_rows):
        for b in range(0, target.shape[1], len(lanes)):
            store(target, r, b, zeros(lanes))


@borrowing_kernel
def copy_rows(source, target, n_rows, lanes):
    """target[:n_rows] = source[:n_rows]. Writes: target."""
    for r in range(n_rows):
        for b in range(0, source.shape[1], len(lanes)):
            store(target, r, b, load(source, r, b, lanes))


@borrowing_kernel
def add_rows(source, target, n_rows, lanes):
    """target[:n_rows] += source[:n_rows]. Writes: target."""
    for r in range(n_rows):
        for b in range(0, source.shape[1], len(lanes)):
            store(target, r, b, add(load(target, r, b, lanes), load(source, r, b, lanes)))
