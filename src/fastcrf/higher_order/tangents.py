"""Hessian-vector products in chains of higher order: the recursions of tangents.py with known label contexts as states.

`'` marks the change along a direction r with label scores rU and step scores rV. No inference is cached: each product
begins with the forward half of inference. With h l as in lattice.py, and emission_t = B_t / z_{t-1}:

    alpha'_t(h') = emission_t(l) sum (alpha'_{t-1}(h) M(h, l) + alpha_{t-1}(h) M(h, l) rV(h, l)) + alpha_t(h') rU_t(l)
    beta'_{t-1}(h) = sum_l M(h, l) (follow'_t(h l) + rV(h, l) follow_t(h l)),     beta'_last = -ebar beta_last
    follow'_t(h') = emission_t(l) beta'_t(h') + follow_t(h') rU_t(l)
    node'_t(l) = sum alpha'_t(h') beta_t(h') + alpha_t(h') beta'_t(h')
    steps' = M sum_t (alpha'_{t-1} follow_t + alpha_{t-1} follow'_t) + M rV sum_t alpha_{t-1} follow_t

Sequences whose score range is too large for the probability domain are marked for context_products.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.feature_space.label_contexts import Tree, with_shorter
from fastcrf.higher_order.lattice import (
    ContextEdges,
    ContextLattice,
    clear_ahead,
    context_forward,
    lead_on,
    look_ahead,
    make_context_lattice,
    row_product,
    too_wide,
)
from fastcrf.inference.expectations import Expected, Table, add_edges, scatter_block, score_block
from fastcrf.inference.forward_backward import shift_scores
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import flat_rows
from fastcrf.simd.widths import aligned_zeros


class ContextDirection(NamedTuple):
    """The vector r of a Hessian-vector product."""

    table: Table  # its state weights
    forward: np.ndarray  # [H, Kp] M rV, element by element


class ContextBench(NamedTuple):
    """The work arrays and sums of one thread for a product."""

    lattice: ContextLattice
    change: ContextLattice  # of the same quantities along r
    at_point: np.ndarray  # [H, Kp] sums of steps at the point, in units of edges.forward
    product: Expected
    wide: np.ndarray  # [N] bool: sequences that were skipped


def make_context_direction(table: Table, scores: Floats, edges: ContextEdges, tree: Tree) -> ContextDirection:
    """Build a direction. `scores` [H, K] are the transition weights of r, `edges` those of the point."""
    forward = aligned_zeros(*edges.forward.shape)
    forward[:, : scores.shape[1]] = edges.forward[:, : scores.shape[1]] * with_shorter(scores, tree)
    return ContextDirection(table, forward)


def make_context_change(n_positions: int, tree: Tree, padded: int) -> ContextLattice:
    """Allocate a lattice of changes. Padding scores 0, the change of a constant."""
    lattice = make_context_lattice(n_positions, tree, padded)
    lattice.bias[:] = 0.0
    return lattice


@outlined_kernel
def forward_changed(lattice, change, first, last, edges, direction, n_labels, lanes):
    """Compute alpha' of a sequence whose alpha is known; return ebar. Writes: change.alpha, .beta, .rows (zeros
    again).
    """
    alpha, rU, moved, total = lattice.alpha, change.scores, change.alpha, 0.0
    for h in range(alpha.shape[1]):
        moved[first, h] = alpha[first, h] * rU[first, edges.last[h]]
        total += moved[first, h]
    for t in range(first + 1, last):
        lead_on(moved, t, edges, edges.forward, change.rows, moved[t], n_labels, lanes)
        lead_on(alpha, t, edges, direction.forward, change.rows, change.beta, n_labels, lanes)
        total = 0.0
        for h in range(alpha.shape[1]):
            k = edges.last[h]
            reached = (moved[t, h] + change.beta[h]) * lattice.scores[t, k] * lattice.scaling[t]
            moved[t, h] = reached + alpha[t, h] * rU[t, k]
            total += moved[t, h]
    return total / lattice.scaling[first]


@outlined_kernel
def backward_changed(lattice, change, first, last, edges, direction, ebar, n_labels, lanes):
    """Compute follow, follow' and node', times the sequence's weight, which lattice.beta holds over z for all contexts.

    Writes: change.scores (node'), .follow, .beta and .rows of both (rows: zeros again), lattice.scaling.
    """
    beta, moved = lattice.beta, change.beta
    for h in range(len(beta)):
        moved[h] = -ebar * beta[h]
    lattice.scaling[first] = 0.0
    for t in range(last - 1, first - 1, -1):
        if t < last - 1:
            look_ahead(lattice.follow, t + 1, edges, lattice.rows, n_labels, lanes)
            look_ahead(change.follow, t + 1, edges, change.rows, n_labels, lanes)
            for h in range(len(beta)):
                place = edges.place[h]
                beta[h] = row_product(edges.forward, h, lattice.rows, place, lanes)
                moved[h] = row_product(edges.forward, h, change.rows, place, lanes)
                moved[h] += row_product(direction.forward, h, lattice.rows, place, lanes)
        follow_changed(lattice, change, t, edges)
    clear_ahead(lattice.rows, lanes)
    clear_ahead(change.rows, lanes)


@outlined_kernel
def follow_changed(lattice, change, t, edges):
    """Compute follow, follow' and node' at position t from beta and beta'. Writes: rows t of them."""
    alpha, beta, moved, rU = lattice.alpha, lattice.beta, change.beta, change.scores
    for h in range(len(beta)):
        k = edges.last[h]
        emission = lattice.scores[t, k] * lattice.scaling[t]
        lattice.follow[t, h] = emission * beta[h]
        change.follow[t, h] = emission * moved[h] + emission * beta[h] * rU[t, k]
    for k in range(rU.shape[1]):
        rU[t, k] = 0.0
    for h in range(len(beta)):
        rU[t, edges.last[h]] += change.alpha[t, h] * beta[h] + alpha[t, h] * moved[h]


@noalloc_kernel
def with_forward_of(lattice, other):
    """Return the lattice with alpha of another one."""
    return ContextLattice(
        lattice.scores, other.alpha, lattice.follow, lattice.scaling, lattice.bias, lattice.start, lattice.rows,
        lattice.beta, lattice.came_from, lattice.favored,
    )  # fmt: skip


@outlined_kernel
def multiply_sequence(sequences, i, direction, bench, n_labels, lanes):
    """Add the product of sequence i, or set bench.wide[i] = True. Writes: bench."""
    positions, weights, edges = sequences.positions, sequences.weights, sequences.edges
    lattice, change, last, first = bench.lattice, bench.change, positions.starts[i + 1] - positions.starts[i], i - i
    score_block(positions, sequences.table, lattice.bias, i, i + 1, lattice.scores, lanes)
    score_block(positions, direction.table, change.bias, i, i + 1, change.scores, lanes)
    if too_wide(edges, shift_scores(lattice, first, last, lanes)[1]):
        bench.wide[i] = True
        return
    exponentiate(flat_rows(lattice.scores, first, last))
    context_forward(lattice, first, last, edges, n_labels, lanes)
    ebar = forward_changed(lattice, change, first, last, edges, direction, n_labels, lanes)
    beta = (weights[i] if len(weights) > 0 else 1.0) / lattice.scaling[first]
    for h in range(len(lattice.beta)):
        lattice.beta[h] = beta
    backward_changed(lattice, change, first, last, edges, direction, ebar, n_labels, lanes)
    for t in range(first, last):
        change.scaling[t] = lattice.scaling[t]
    add_edges(lattice, last, edges, n_labels, bench.at_point, lanes)
    add_edges(with_forward_of(lattice, change), last, edges, n_labels, bench.product.edges, lanes)
    add_edges(with_forward_of(change, lattice), last, edges, n_labels, bench.product.edges, lanes)
    scatter_block(positions, i, i + 1, change.scores, bench.product.table, lanes)


@noalloc_kernel
def multiply_sequences(sequences, chosen, first, last, direction, bench, n_labels, lanes):
    """Add the products of chosen[first:last], in any order and with repetitions. Writes: bench."""
    for n in range(first, last):
        multiply_sequence(sequences, chosen[n], direction, bench, n_labels, lanes)
