"""What is kept of the gradient of each block between two visits: schmidt2015, section 4.

A stored gradient is all zeros at first, so that the first visit of a block needs no special case. What is stored are
residuals, expected minus observed, by position (from which the gradient follows) or summed by attribute (which is the
gradient). Either may be rounded to single precision: the rounding then counts as a part of the change, so that the d
of the solvers stays the sum of what is stored. Which kind is the smallest says draws/storage.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.blocks import add_rows, clear_rows, collect_change
from fastcrf.chain.expectations import Table
from fastcrf.chain.lanes import add, add_scaled, load, multiply, scale, store
from fastcrf.kernel import kernel, means, verb


@verb
def exchange(memory, sequences, i, growth, space, lanes):  # type: ignore[no-untyped-def]
    """memory.change (by attribute) and .edge_change: how the new gradient of block i differs from the stored one.

    The new one is in `space`, where `infer_block` left its residuals. Of the change, `growth` is stored: 1 replaces the
    old gradient by the new one, 0 keeps it. Writes: memory.
    """


class Mixed(NamedTuple):
    """Residuals of the labels at each position, those of the label bigrams summed over a block."""

    nodes: np.ndarray  # [P, Kp]
    edges: np.ndarray  # [B K, Kp] of block i in rows i K .. (i + 1) K
    node_change: np.ndarray  # [T, Kp] new minus old, by position
    change: Table  # local: the same by attribute
    edge_change: np.ndarray  # [Kp, Kp]


class Marginals(NamedTuple):
    """Residuals of the labels at each position and of the label bigrams at each transition."""

    nodes: np.ndarray  # [P, Kp]
    edges: np.ndarray  # [(P - N) K, Kp] of the transition to position p of sequence c in K rows from (p - c - 1) K
    node_change: np.ndarray  # [T, Kp] new minus old, by position
    bigrams: np.ndarray  # [Kp, Kp] room for those of one transition
    change: Table  # local: node_change by attribute
    edge_change: np.ndarray  # [Kp, Kp]


class ByAttribute(NamedTuple):
    """The gradients themselves, transitions apart: for each block all rows and cells (naive), or only its own (sparse).

    Row r of the support is stored in row r if only the support is, else in that of its number.
    """

    rows: np.ndarray  # [distinct rows of all blocks, or B n_rows, Kp]
    cells: np.ndarray  # [distinct cells of all blocks, or B n_cells]
    edges: np.ndarray  # [B K, Kp] of block i in rows i K .. (i + 1) K
    change: Table  # local: new minus old
    edge_change: np.ndarray  # [Kp, Kp]
    dense: bool  # whether all rows and cells are stored


@means(exchange, Mixed)
def exchange_mixed(memory, sequences, i, growth, space, lanes):
    exchange_nodes(memory, sequences, i, growth, space, lanes)
    exchange_edges(memory, sequences, i, growth, space, lanes)


@means(exchange, Marginals)
def exchange_marginals(memory, sequences, i, growth, space, lanes):
    chains, K = sequences.chains, sequences.layout.n_labels
    starts, blocks = chains.starts, chains.blocks
    exchange_nodes(memory, sequences, i, growth, space, lanes)
    clear_rows(memory.edge_change, K, lanes)
    base = starts[blocks[i]]
    for c in range(blocks[i], blocks[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        for p in range(starts[c] + 1, starts[c + 1]):
            transition = p - c - 1
            expect_bigrams(space, p - base, memory.bigrams, K, lanes)
            if transition == base - blocks[i]:  # of the log domain only a sum is known: it goes to the block's first
                add_rows(space.wide_edges, memory.bigrams, K, lanes)
            memory.bigrams[chains.labels[p - 1], chains.labels[p]] -= weight
            exchange_rows(memory.bigrams, memory.edges, transition * K, K, growth, memory.bigrams, lanes)
            add_rows(memory.bigrams, memory.edge_change, K, lanes)


@means(exchange, ByAttribute)
def exchange_by_attribute(memory, sequences, i, growth, space, lanes):
    support, layout, change = sequences.support, sequences.layout, memory.change
    collect_change(sequences.local, sequences.chains.blocks, support, i, space.lattice.scores, change, lanes)
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        place = i * layout.n_rows + support.rows[r] if memory.dense else r
        exchange_row(change.rows, r - first, memory.rows, place, growth, change.rows, lanes)
    first = support.cell_starts[i]
    for c in range(first, support.cell_starts[i + 1]):
        place = i * layout.n_cells + support.cells[c] if memory.dense else c
        change.cells[c - first] = exchange_number(change.cells[c - first], memory.cells, place, growth)
    exchange_edges(memory, sequences, i, growth, space, lanes)


@kernel
def exchange_nodes(memory, sequences, i, growth, space, lanes):
    """The part of label residuals, by position. Writes: memory.nodes, .node_change, .change."""
    starts, blocks = sequences.chains.starts, sequences.chains.blocks
    first, last = starts[blocks[i]], starts[blocks[i + 1]]
    exchange_rows(space.lattice.scores, memory.nodes, first, last - first, growth, memory.node_change, lanes)
    collect_change(sequences.local, blocks, sequences.support, i, memory.node_change, memory.change, lanes)


@kernel
def exchange_edges(memory, sequences, i, growth, space, lanes):
    """The part of bigram residuals, summed over the block. Writes: memory.edges, .edge_change."""
    K = sequences.layout.n_labels
    exchange_rows(space.edge_sums, memory.edges, i * K, K, growth, memory.edge_change, lanes)


@kernel
def expect_bigrams(space, t, bigrams, n_labels, lanes):
    """Expected label bigrams at the transition to row t of the lattice; 0 if log domain. Writes: bigrams."""
    alpha, follow, forward = space.lattice.alpha, space.lattice.follow, space.edges.forward
    for j in range(n_labels):
        for b in range(0, bigrams.shape[1], len(lanes)):
            reached = scale(alpha[t - 1, j], load(follow, t, b, lanes))
            store(bigrams, j, b, multiply(reached, load(forward, j, b, lanes)))


@kernel
def exchange_rows(new, stored, first, n_rows, growth, change, lanes):
    """change = new - stored[first:], stored[first:] += growth * change, over n_rows rows. Writes: stored, change."""
    for r in range(n_rows):
        exchange_row(new, r, stored, first + r, growth, change, lanes)


@kernel
def exchange_row(new, r, stored, place, growth, change, lanes):
    """change[r] = new[r] - stored[place], stored[place] += growth * change[r]. Writes: stored, change."""
    for b in range(0, new.shape[1], len(lanes)):
        old = load(stored, place, b, lanes)
        difference = add_scaled(-1.0, old, load(new, r, b, lanes))
        wanted = add_scaled(growth, difference, old)
        store(stored, place, b, wanted)
        rounding = add_scaled(-1.0, wanted, load(stored, place, b, lanes))  # 0 in double precision
        store(change, r, b, add(difference, rounding))


@kernel
def exchange_number(new, stored, place, growth):
    """The same for one number; returns the change. Writes: stored."""
    difference = new - stored[place]
    wanted = stored[place] + growth * difference
    stored[place] = wanted
    return difference + (stored[place] - wanted)
