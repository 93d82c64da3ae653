"""The stored gradient of each block between two visits (Schmidt et al. 2015, section 4).

A stored gradient is all zeros at first, so that the first visit of a block needs no special case. It consists of
residuals, expected minus observed, by position (from which the gradient follows) or summed by attribute (which is the
gradient). Either may be rounded to single precision. The rounding then counts as a part of the change, so that the d of
the solvers stays the sum of the stored gradients. stochastic/gradient_storage.py determines the smallest format.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.expectations import Table
from fastcrf.inference.steps import expect_step
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.objective.blocks import collect_change
from fastcrf.simd.lanes import add, add_scaled, load, store
from fastcrf.simd.rows import add_rows, clear_rows, copy_rows


@generic
def exchange(gradients, blocks, i, growth, space, lanes):  # type: ignore[no-untyped-def]
    """Compute gradients.change (by attribute) and .edge_change: the new gradient of block i minus the stored one.

    The new one is in `space`, where `infer_block` wrote its residuals. The fraction `growth` of the change is stored: 1
    replaces the old gradient by the new one, 0 keeps it. Writes: gradients.

    Implemented in recomputed_gradients.py and stored_gradients.py.
    """


@generic
def recursions(gradients):  # type: ignore[no-untyped-def]
    """Return the forward-backward recursions that an exchange without growth costs in addition to the new gradient's.

    Implemented in recomputed_gradients.py and stored_gradients.py.
    """


class Mixed(NamedTuple):
    """Residuals of the labels at each position, those of the label bigrams summed over a block."""

    nodes: np.ndarray  # [P, Kp]
    edges: np.ndarray  # [B H, Kp] of block i in rows i H .. (i + 1) H
    node_change: np.ndarray  # [T, Kp] new minus old, by position
    change: Table  # local: the same by attribute
    edge_change: np.ndarray  # [H, Kp]


class Marginals(NamedTuple):
    """Residuals of the labels at each position and of the label bigrams at each transition."""

    nodes: np.ndarray  # [P, Kp]
    edges: np.ndarray  # [(P - N) K, Kp] of the transition to position p of sequence c in K rows from (p - c - 1) K
    node_change: np.ndarray  # [T, Kp] new minus old, by position
    bigrams: np.ndarray  # [Kp, Kp] work array for one transition
    change: Table  # local: node_change by attribute
    edge_change: np.ndarray  # [H, Kp]


class ByAttribute(NamedTuple):
    """The gradients themselves, transitions separate: for each block all rows and cells (naive), or only its own
    (sparse).

    Row r of the support is stored in row r if only the support is stored, else in the row of its number.
    """

    rows: np.ndarray  # [distinct rows of all blocks, or B n_rows, Kp]
    cells: np.ndarray  # [distinct cells of all blocks, or B n_cells]
    edges: np.ndarray  # [B H, Kp] of block i in rows i H .. (i + 1) H
    change: Table  # local: new minus old
    edge_change: np.ndarray  # [H, Kp]
    dense: bool  # whether all rows and cells are stored


class Unstored(NamedTuple):
    """No stored gradients: all of them stay zero, and a change is the new gradient itself."""

    change: Table  # local: by attribute
    edge_change: np.ndarray  # [H, Kp]


@recursions.register(Mixed, Marginals, ByAttribute, Unstored)
def no_recursions(gradients):
    return 0


@exchange.register(Mixed)
@outlined_kernel
def exchange_mixed(gradients, blocks, i, growth, space, lanes):
    exchange_nodes(gradients, blocks, i, growth, space, lanes)
    exchange_edges(gradients, blocks, i, growth, space, lanes)


@exchange.register(Marginals)
@outlined_kernel
def exchange_marginals(gradients, blocks, i, growth, space, lanes):
    chains, K = blocks.chains, blocks.layout.n_labels
    starts, bounds = chains.starts, chains.bounds
    exchange_nodes(gradients, blocks, i, growth, space, lanes)
    clear_rows(gradients.edge_change, K, lanes)
    base = starts[bounds[i]]
    for c in range(bounds[i], bounds[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        for p in range(starts[c] + 1, starts[c + 1]):
            transition = p - c - 1
            expect_step(space.edges, space.lattice, p - base, gradients.bigrams, K, lanes)
            if transition == base - bounds[i]:  # the log domain has only a sum: it goes to the block's first
                add_rows(space.wide_edges, gradients.bigrams, K, lanes)
            gradients.bigrams[chains.labels[p - 1], chains.labels[p]] -= weight
            exchange_rows(gradients.bigrams, gradients.edges, transition * K, K, growth, gradients.bigrams, lanes)
            add_rows(gradients.bigrams, gradients.edge_change, K, lanes)


@exchange.register(ByAttribute)
@outlined_kernel
def exchange_by_attribute(gradients, blocks, i, growth, space, lanes):
    support, layout, change = blocks.support, blocks.layout, gradients.change
    collect_change(blocks.local, blocks.chains.bounds, support, i, space.lattice.scores, change, lanes)
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        place = i * layout.n_rows + support.rows[r] if gradients.dense else r
        exchange_row(change.rows, r - first, gradients.rows, place, growth, change.rows, lanes)
    first = support.cell_starts[i]
    for c in range(first, support.cell_starts[i + 1]):
        place = i * layout.n_cells + support.cells[c] if gradients.dense else c
        change.cells[c - first] = exchange_number(change.cells[c - first], gradients.cells, place, growth)
    exchange_edges(gradients, blocks, i, growth, space, lanes)


@exchange.register(Unstored)
@outlined_kernel
def exchange_nothing(gradients, blocks, i, growth, space, lanes):
    collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, space.lattice.scores, gradients.change, lanes)
    copy_rows(space.edge_sums, gradients.edge_change, blocks.layout.n_contexts, lanes)


@noalloc_kernel
def exchange_nodes(gradients, blocks, i, growth, space, lanes):
    """Exchange label residuals, by position. Writes: gradients.nodes, .node_change, .change."""
    starts, bounds = blocks.chains.starts, blocks.chains.bounds
    first, last = starts[bounds[i]], starts[bounds[i + 1]]
    exchange_rows(space.lattice.scores, gradients.nodes, first, last - first, growth, gradients.node_change, lanes)
    collect_change(blocks.local, bounds, blocks.support, i, gradients.node_change, gradients.change, lanes)


@noalloc_kernel
def exchange_edges(gradients, blocks, i, growth, space, lanes):
    """Exchange bigram residuals, summed over the block. Writes: gradients.edges, .edge_change."""
    H = blocks.layout.n_contexts
    exchange_rows(space.edge_sums, gradients.edges, i * H, H, growth, gradients.edge_change, lanes)


@outlined_kernel
def exchange_rows(new, stored, first, n_rows, growth, change, lanes):
    """Set change = new - stored[first:], stored[first:] += growth * change, over n_rows rows. Writes: stored,
    change.
    """
    for r in range(n_rows):
        exchange_row(new, r, stored, first + r, growth, change, lanes)


@noalloc_kernel
def exchange_row(new, r, stored, place, growth, change, lanes):
    """Set change[r] = new[r] - stored[place], stored[place] += growth * change[r]. Writes: stored, change."""
    for b in range(0, new.shape[1], len(lanes)):
        old = load(stored, place, b, lanes)
        difference = add_scaled(-1.0, old, load(new, r, b, lanes))
        wanted = add_scaled(growth, difference, old)
        store(stored, place, b, wanted)
        rounding = add_scaled(-1.0, wanted, load(stored, place, b, lanes))  # 0 in double precision
        store(change, r, b, add(difference, rounding))


@noalloc_kernel
def exchange_number(new, stored, place, growth):
    """Exchange one number; return the change. Writes: stored."""
    difference = new - stored[place]
    wanted = stored[place] + growth * difference
    stored[place] = wanted
    return difference + (stored[place] - wanted)
