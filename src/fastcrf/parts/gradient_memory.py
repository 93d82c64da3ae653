"""What is kept of the gradient of each block between two visits.

A stored gradient is all zeros at first, so that the first visit of a block needs no special case. What is stored are
residuals, expected minus observed, from which the gradient follows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.expectations import Table
from fastcrf.chain.lanes import add_scaled, aligned_zeros, load, store
from fastcrf.chain.sequences import Sequences, collect_change
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


def make_mixed(sequences: Sequences) -> Mixed:
    n_rows, n_cells, longest = sequences.widest
    K, Kp = sequences.layout.n_labels, sequences.layout.padded
    n_positions, n_blocks = len(sequences.chains.labels), len(sequences.chains.blocks) - 1
    stored = aligned_zeros(n_positions, Kp), aligned_zeros(n_blocks * K, Kp)
    change = Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells))
    return Mixed(*stored, aligned_zeros(longest, Kp), change, aligned_zeros(Kp, Kp))


@means(exchange, Mixed)
def exchange_mixed(memory, sequences, i, growth, space, lanes):
    starts, blocks, K = sequences.chains.starts, sequences.chains.blocks, sequences.layout.n_labels
    first, last = starts[blocks[i]], starts[blocks[i + 1]]
    exchange_rows(space.lattice.scores, memory.nodes, first, last - first, growth, memory.node_change, lanes)
    exchange_rows(space.edge_sums, memory.edges, i * K, K, growth, memory.edge_change, lanes)
    collect_change(sequences.local, blocks, sequences.support, i, memory.node_change, memory.change, lanes)


@kernel
def exchange_rows(new, stored, first, n_rows, growth, change, lanes):
    """change = new - stored[first:], stored[first:] += growth * change, over n_rows rows. Writes: stored, change."""
    for r in range(n_rows):
        for b in range(0, new.shape[1], len(lanes)):
            old = load(stored, first + r, b, lanes)
            difference = add_scaled(-1.0, old, load(new, r, b, lanes))
            store(change, r, b, difference)
            store(stored, first + r, b, add_scaled(growth, difference, old))
