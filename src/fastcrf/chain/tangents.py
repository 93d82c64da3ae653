"""Products with the Hessian: how expected counts change when the weights move along a direction r.

Tsuboi, Unno, Kashima & Okazaki (2011), "Fast Newton-CG method for batch learning of conditional random fields", AAAI.
With the label scores rU and the transition scores rV of r, their tables are conditional expectations,

    A[t, k] = E[r . features up to t | y_t = k],  B[t, j] = E[r . features behind t | y_t = j],  ebar = E[r . features]

and a product needs p(y_t = k) (A + B - ebar) for nodes, and the same with both ends for edges. Here the tables are kept
multiplied by alpha and beta (kept_inference.py), which takes the divisions out of the recursions and makes them rows
times matrices. `'` marks the change along r:

    alpha'_t = emission_t (alpha'_{t-1} M + alpha_{t-1} (M rV)) + alpha_t rU_t             = alpha_t A[t]
    beta'_{t-1} = follow'_t M^T + follow_t (M rV)^T,   beta'_last = -ebar beta_last        = beta_t (B[t] - ebar)
    follow'_t = emission_t beta'_t + follow_t rU_t,    follow_t = emission_t beta_t
    node'_t = alpha'_t beta_t + alpha_t beta'_t
    edges' = M sum_t (alpha'_{t-1} follow_t + alpha_{t-1} follow'_t) + M rV sum_t alpha_{t-1} follow_t

The last sum does not depend on r, and is kept with the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.expectations import Expected, Table, add_edges, end_of_block, scatter_block, score_block
from fastcrf.chain.forward_backward import Edges, Lattice, make_lattice, row_times
from fastcrf.chain.kept_inference import Keeping, Left, infer_and_keep_block
from fastcrf.chain.lanes import add, add_scaled, aligned_zeros, load, multiply, scale, store, total, zeros
from fastcrf.chain.log_tangents import log_differentiate
from fastcrf.kernel import borrowing_kernel, standing_kernel


class Bench(NamedTuple):
    """What one thread works with and sums up in a product."""

    lattice: Lattice
    change: Lattice  # of the same quantities along r
    block: Left  # what inference left, of one block or of all that was kept
    point: Expected  # only its sums of edges are used
    product: Expected


class Direction(NamedTuple):
    """The vector r that the Hessian is multiplied with, and M."""

    edges: Edges  # the transition weights of the point
    table: Table  # its state weights
    scores: np.ndarray  # [Kp, Kp] rV; 0 where there is no weight
    forward: np.ndarray  # [Kp, Kp] M rV, element by element
    backward: np.ndarray  # [Kp, Kp] its transpose


def make_direction(table: Table, scores: np.ndarray, edges: Edges) -> Direction:
    """`scores` [K, K] are the transition scores of r, `edges` those of the point."""
    padded, K = edges.forward.shape[1], len(scores)
    wide, forward, backward = (aligned_zeros(padded, padded) for _ in range(3))
    wide[:K, :K] = scores
    forward[:K, :K] = edges.forward[:K, :K] * scores
    backward[:K, :K] = forward[:K, :K].T
    return Direction(edges, table, wide, forward, backward)


def make_change(n_positions: int, n_labels: int, padded: int) -> Lattice:
    """A lattice for what changes: rU and then node', alpha', follow'. Padding scores 0, the change of a constant."""
    lattice = make_lattice(n_positions, n_labels, padded)
    lattice.bias[:] = 0.0
    return lattice


@standing_kernel
def differentiate(row, first, last, direction, bench, n_labels, lanes):
    """The recursions above for one sequence, whose rU is in bench.change.scores, and bench.block from `row` on.

    Writes: bench.change (.scores: node'; .alpha, .follow), bench.lattice.follow.
    """
    left, lattice, change, edges = bench.block, bench.lattice, bench.change, direction.edges
    alpha, rU, Kp, W, off = change.alpha, change.scores, change.scores.shape[1], len(lanes), row - first
    changes, sums = zeros(lanes), zeros(lanes)
    for t in range(first, last):
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


@standing_kernel
def add_changed_edges(left, row, lattice, change, n_positions, n_labels, sums, lanes):
    """sums(j, k) += sum_t alpha'_{t-1}(j) follow_t(k) + alpha_{t-1}(j) follow'_t(k), two rows at a time: four would not
    fit into sixteen registers. Writes: sums.
    """
    moved, alpha, before = change.alpha, left.alpha, row - 1
    for b in range(0, sums.shape[1], len(lanes)):
        for j in range(0, n_labels, 2):  # rows are padded to a multiple of 4
            sum0, sum1 = load(sums, j, b, lanes), load(sums, j + 1, b, lanes)
            for t in range(1, n_positions):
                follow = load(lattice.follow, t, b, lanes)
                sum0 = add_scaled(moved[t - 1, j], follow, sum0)
                sum1 = add_scaled(moved[t - 1, j + 1], follow, sum1)
                follow = load(change.follow, t, b, lanes)
                sum0 = add_scaled(alpha[before + t, j], follow, sum0)
                sum1 = add_scaled(alpha[before + t, j + 1], follow, sum1)
            store(sums, j, b, sum0)
            store(sums, j + 1, b, sum1)


@standing_kernel
def multiply_block(sequences, first, end, row, direction, bench, n_labels, lanes):
    """The product's share of sequences first..end-1, of which bench.block holds the rows from `row` on.

    Writes: bench.product (all but the last sum above), .change, .lattice.
    """
    positions, weights, starts = sequences.positions, sequences.weights, sequences.positions.starts
    left, lattice, change = bench.block, bench.lattice, bench.change
    base = starts[first]
    score_block(positions, direction.table, change.bias, first, end, change.scores, lanes)
    for i in range(first, end):
        a, b = starts[i] - base, starts[i + 1] - base
        if left.wide[row + a]:
            weight = weights[i] if len(weights) > 0 else 1.0
            log_differentiate(row + a, a, b, direction, bench, weight, n_labels)
        else:
            differentiate(row + a, a, b, direction, bench, n_labels, lanes)
    add_changed_edges(left, row, lattice, change, starts[end] - base, n_labels, bench.product.edges, lanes)
    scatter_block(positions, first, end, change.scores, bench.product.table, lanes)


@borrowing_kernel
def multiply_kept(sequences, first, last, direction, bench, n_labels, lanes):
    """The product's share of sequences first..last-1, of all of which `expect_and_keep` left bench.block.

    Writes: as `multiply_block`.
    """
    starts = sequences.positions.starts
    begin = starts[first]
    while first < last:
        end, row = end_of_block(starts, first, last), starts[first] - begin
        multiply_block(sequences, first, end, row, direction, bench, n_labels, lanes)
        first = end


@borrowing_kernel
def multiply_fresh(sequences, first, last, direction, bench, n_labels, lanes):
    """The same for sequences of which nothing was left. Writes: as `multiply_block`; bench.block."""
    keeping = Keeping(bench.lattice, bench.point.wide_edges, bench.block)
    while first < last:
        end, row = end_of_block(sequences.positions.starts, first, last), first - first
        infer_and_keep_block(sequences, first, end, keeping, row, n_labels, lanes)
        multiply_block(sequences, first, end, row, direction, bench, n_labels, lanes)
        first = end


@borrowing_kernel
def multiply_some(sequences, chosen, first, last, direction, bench, n_labels, lanes):
    """The same for chosen[first:last], in any order and as often as they are named, with the last sum above.

    Writes: as `multiply_fresh`; bench.point (sums of edges).
    """
    starts, keeping = sequences.positions.starts, Keeping(bench.lattice, bench.point.wide_edges, bench.block)
    for n in range(first, last):
        i = chosen[n]
        end, row = i + 1, i - i
        infer_and_keep_block(sequences, i, end, keeping, row, n_labels, lanes)
        add_edges(bench.lattice, starts[end] - starts[i], sequences.edges, n_labels, bench.point.edges, lanes)
        multiply_block(sequences, i, end, row, direction, bench, n_labels, lanes)
