"""Hessian-vector products: the change of the expected counts when the weights move along a direction r.

Tsuboi, Unno, Kashima & Okazaki (2011), "Fast Newton-CG method for batch learning of conditional random fields", AAAI.
With the label scores rU and the transition scores rV of r, their tables are conditional expectations,

    A[t, k] = E[r . features up to t | y_t = k],  B[t, j] = E[r . features behind t | y_t = j],  ebar = E[r . features]

and a product needs p(y_t = k) (A + B - ebar) for nodes, and the same with both ends for edges. Here the tables are
stored multiplied by alpha and beta (cached_inference.py), which removes the divisions from the recursions and makes
them row-matrix products. `'` marks the change along r:

    alpha'_t = emission_t (alpha'_{t-1} M + alpha_{t-1} (M rV)) + alpha_t rU_t             = alpha_t A[t]
    beta'_{t-1} = follow'_t M^T + follow_t (M rV)^T,   beta'_last = -ebar beta_last        = beta_t (B[t] - ebar)
    follow'_t = emission_t beta'_t + follow_t rU_t,    follow_t = emission_t beta_t
    node'_t = alpha'_t beta_t + alpha_t beta'_t
    edges' = M sum_t (alpha'_{t-1} follow_t + alpha_{t-1} follow'_t) + M rV sum_t alpha_{t-1} follow_t

The last sum does not depend on r and is cached with the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.cached_inference import AHEAD, CachedInference, Caching, ask_for, infer_and_cache
from fastcrf.inference.expectations import (
    Expected,
    Table,
    add_edges,
    add_outer,
    end_of_block,
    scatter_block,
    score_block,
)
from fastcrf.inference.forward_backward import Edges, Lattice, make_lattice, row_times
from fastcrf.inference.log_tangents import log_differentiate
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.lanes import add, load, multiply, scale, store, total, zeros
from fastcrf.simd.widths import aligned_zeros

STRIP = 32  # positions


class Bench(NamedTuple):
    """The work arrays and sums of one thread for a product."""

    lattice: Lattice
    change: Lattice  # of the same quantities along r
    block: CachedInference  # cached inference, of one block or of everything that is cached
    point: Expected  # only its sums of edges are used
    product: Expected


class Direction(NamedTuple):
    """The vector r of a Hessian-vector product, and M."""

    edges: Edges  # the transition weights of the point
    table: Table  # its state weights
    scores: np.ndarray  # [Kp, Kp] rV; 0 where there is no weight
    forward: np.ndarray  # [Kp, Kp] M rV, element by element
    backward: np.ndarray  # [Kp, Kp] its transpose


def make_direction(table: Table, scores: np.ndarray, edges: Edges) -> Direction:
    """Build a direction. `scores` [K, K] are the transition scores of r, `edges` those of the point."""
    padded, K = edges.forward.shape[1], len(scores)
    wide, forward, backward = (aligned_zeros(padded, padded) for _ in range(3))
    wide[:K, :K] = scores
    forward[:K, :K] = edges.forward[:K, :K] * scores
    backward[:K, :K] = forward[:K, :K].T
    return Direction(edges, table, wide, forward, backward)


def make_change(n_positions: int, n_labels: int, padded: int) -> Lattice:
    """Allocate a lattice of changes: rU and then node', alpha', follow'. Padding scores 0, the change of a constant."""
    lattice = make_lattice(n_positions, n_labels, padded)
    lattice.bias[:] = 0.0
    return lattice


@outlined_kernel
def differentiate(row, first, last, direction, bench, n_labels, lanes):
    """Run the recursions above for one sequence: rU in bench.change.scores, cached rows in bench.block from `row` on.

    Writes: bench.change (.scores: node'; .alpha, .follow), bench.lattice.follow.
    """
    left, lattice, change, edges = bench.block, bench.lattice, bench.change, direction.edges
    alpha, rU, Kp, W, off = change.alpha, change.scores, change.scores.shape[1], len(lanes), row - first
    changes, sums = zeros(lanes), zeros(lanes)
    for t in range(first, last):
        ask_for(left, t + off + AHEAD)
        changes, sums = zeros(lanes), zeros(lanes)
        for b in range(0, Kp, W):
            here = load(left.alpha, t + off, b, lanes)
            moved = multiply(here, load(rU, t, b, lanes))
            if t > first:
                reached = add(
                    row_times(alpha, t - 1, edges.forward, t * edges.stride, n_labels, b, lanes),
                    row_times(left.alpha, t - 1 + off, direction.forward, t * edges.stride, n_labels, b, lanes),
                )
                moved = add(moved, multiply(load(left.emission, t + off, b, lanes), reached))
            store(alpha, t, b, moved)
            changes, sums = add(changes, moved), add(sums, here)
    mean = total(changes) / total(sums)  # ebar
    for t in range(last - 1, first - 1, -1):
        for b in range(0, Kp, W):
            beta, emission = load(left.beta, t + off, b, lanes), load(left.emission, t + off, b, lanes)
            moved = scale(-mean, beta)
            if t < last - 1:
                moved = add(
                    row_times(change.follow, t + 1, edges.backward, t * edges.stride, n_labels, b, lanes),
                    row_times(lattice.follow, t + 1, direction.backward, t * edges.stride, n_labels, b, lanes),
                )
            follow, here = multiply(emission, beta), load(left.alpha, t + off, b, lanes)
            store(lattice.follow, t, b, follow)
            store(change.follow, t, b, add(multiply(emission, moved), multiply(follow, load(rU, t, b, lanes))))
            store(rU, t, b, add(multiply(load(alpha, t, b, lanes), beta), multiply(here, moved)))


@outlined_kernel
def add_changed_edges(alpha, row, lattice, change, n_positions, n_labels, sums, lanes):
    """Add sums(j, k) += sum_t alpha'_{t-1}(j) follow_t(k) + alpha_{t-1}(j) follow'_t(k); rows of alpha from `row` on.

    It takes a strip of positions at a time, whose rows stay in the first cache from one row of sums to the next.
    Writes: sums.
    """
    for first in range(1, n_positions, STRIP):
        last = min(first + STRIP, n_positions)
        add_outer(change.alpha, np.int64(-1), lattice.follow, first, last, n_labels, sums, lanes)
        add_outer(alpha, row - 1, change.follow, first, last, n_labels, sums, lanes)


@outlined_kernel
def multiply_sequence(sequences, i, base, row, direction, bench, n_labels, lanes):
    """Compute the changes of sequence i of a block that begins at position `base`; rU is in bench.change.scores.

    bench.block holds its rows from `row` on. Writes: as `differentiate` or `log_differentiate`.
    """
    starts, weights = sequences.positions.starts, sequences.weights
    first, last = starts[i] - base, starts[i + 1] - base
    if bench.block.wide[row]:
        weight = weights[i] if len(weights) > 0 else 1.0
        log_differentiate(row, first, last, direction, bench, weight, n_labels)
    else:
        differentiate(row, first, last, direction, bench, n_labels, lanes)


@outlined_kernel
def add_up_block(positions, first, end, row, bench, n_labels, lanes):
    """Add the product of sequences first..end-1 of a block after `multiply_sequence`.

    Writes: bench.product (all but the last sum above).
    """
    lattice, change, n_positions = bench.lattice, bench.change, positions.starts[end] - positions.starts[first]
    add_changed_edges(bench.block.alpha, row, lattice, change, n_positions, n_labels, bench.product.edges, lanes)
    scatter_block(positions, first, end, change.scores, bench.product.table, lanes)


@noalloc_kernel
def multiply_cached(sequences, first, last, direction, bench, n_labels, lanes):
    """Add the product of sequences first..last-1, for all of which `expect_and_cache` filled bench.block.

    Writes: bench.product (all but the last sum above), .change, .lattice.
    """
    positions, starts, change = sequences.positions, sequences.positions.starts, bench.change
    begin = starts[first]
    while first < last:
        end, base = end_of_block(starts, first, last), starts[first]
        score_block(positions, direction.table, change.bias, first, end, change.scores, lanes)
        for i in range(first, end):
            multiply_sequence(sequences, i, base, starts[i] - begin, direction, bench, n_labels, lanes)
        add_up_block(positions, first, end, base - begin, bench, n_labels, lanes)
        first = end


@outlined_kernel
def multiply_fresh_block(sequences, first, end, direction, bench, n_labels, lanes):
    """Add the product of the sequences first..end-1 of one block without cached inference.

    Writes: as `multiply_cached`; bench.block.
    """
    positions, starts, lattice, change = sequences.positions, sequences.positions.starts, bench.lattice, bench.change
    caching, base = Caching(lattice, bench.point.wide_edges, bench.block), starts[first]
    score_block(positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
    score_block(positions, direction.table, change.bias, first, end, change.scores, lanes)
    for i in range(first, end):
        row = starts[i] - base
        infer_and_cache(sequences, i, base, caching, row, n_labels, lanes)
        multiply_sequence(sequences, i, base, row, direction, bench, n_labels, lanes)
    add_up_block(positions, first, end, base - base, bench, n_labels, lanes)


@noalloc_kernel
def multiply_fresh(sequences, first, last, direction, bench, n_labels, lanes):
    """Add the product of sequences without cached inference. Writes: as `multiply_fresh_block`."""
    while first < last:
        end = end_of_block(sequences.positions.starts, first, last)
        multiply_fresh_block(sequences, first, end, direction, bench, n_labels, lanes)
        first = end


@noalloc_kernel
def multiply_some(sequences, chosen, first, last, direction, bench, n_labels, lanes):
    """Add the product of chosen[first:last], in any order and with repetitions, with the last sum above.

    Writes: as `multiply_fresh_block`; bench.point (sums of edges).
    """
    starts = sequences.positions.starts
    for n in range(first, last):
        i = chosen[n]
        multiply_fresh_block(sequences, i, i + 1, direction, bench, n_labels, lanes)
        add_edges(bench.lattice, starts[i + 1] - starts[i], sequences.edges, n_labels, bench.point.edges, lanes)
