"""Products with the Hessian in chains of order 2: tangents.py's recursions with pairs of labels as states.

`'` marks the change along a direction r with label scores rU and step scores rV (a triple's, and its bigram's).
Nothing is kept between products: each begins with the forward half of inference.

    alpha'_t(k, l) = emission_t(l) sum_j (alpha'_{t-1}(j, k) M + alpha_{t-1}(j, k) M rV) + alpha_t(k, l) rU_t(l)
    beta'_{t-1}(j, k) = sum_l (M follow'_t(k, l) + M rV follow_t(k, l)),      beta'_last = -ebar beta_last
    follow'_t(k, l) = emission_t(l) beta'_t(k, l) + follow_t(k, l) rU_t(l),   emission_t = B_t / z_{t-1}
    node'_t(l) = sum_k alpha'_t(k, l) beta_t(k, l) + alpha_t(k, l) beta'_t(k, l)
    triples' = M sum_t (alpha'_{t-1} follow_t + alpha_{t-1} follow'_t) + M rV sum_t alpha_{t-1} follow_t

Sequences whose scores are too wide for the probability domain are told apart, for plain_tangents.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.expectations import Table, add_edges, scatter_block, score_block
from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.forward_backward import WIDEST_SPREAD, row_times, shift_scores
from fastcrf.chain.histories import with_bigrams
from fastcrf.chain.lanes import add, aligned_zeros, flat_rows, load, multiply, scale, store, total, zeros
from fastcrf.chain.pair_lattice import (
    PairEdges,
    PairLattice,
    beta_of_first,
    column_times,
    make_pair_lattice,
    pair_forward,
)
from fastcrf.kernel import borrowing_kernel, standing_kernel


class PairDirection(NamedTuple):
    """The vector r that the Hessian is multiplied with."""

    table: Table  # its state weights
    forward: np.ndarray  # [K + K K, Kp] M rV, element by element
    backward: np.ndarray  # [K K + SPARE, Kp] the same as edges.backward


def make_pair_direction(table: Table, scores: np.ndarray, edges: PairEdges) -> PairDirection:
    """`scores` [K + K K, K] are the transition weights of r, `edges` those of the point."""
    K = scores.shape[1]
    forward, backward = aligned_zeros(*edges.forward.shape), aligned_zeros(*edges.backward.shape)
    forward[:, :K] = edges.forward[:, :K] * with_bigrams(scores)
    backward[: K * K, :K] = forward[K:, :K].reshape(K, K, K).transpose(0, 2, 1).reshape(K * K, K)
    return PairDirection(table, forward, backward)


def make_pair_change(n_positions: int, n_labels: int, padded: int) -> PairLattice:
    """A lattice for what changes. Padding scores 0, the change of a constant."""
    lattice = make_pair_lattice(n_positions, n_labels, padded)
    lattice.bias[:] = 0.0
    return lattice


@standing_kernel
def pair_forward_changed(lattice, change, first, last, edges, direction, n_labels, lanes):
    """alpha' of a sequence whose alpha is known; ebar. Writes: change.alpha, change.opening."""
    B, rU, before, sums = lattice.scores, change.scores, first * n_labels, zeros(lanes)
    for b in range(0, B.shape[1], len(lanes)):
        moved = multiply(load(lattice.opening, first, b, lanes), load(rU, first, b, lanes))
        store(change.opening, first, b, moved)
        sums = add(sums, moved)
        for j in range(n_labels):
            store(change.alpha, before + j, b, zeros(lanes))
    for t in range(first + 1, last):
        before, sums = (t - 1) * n_labels, zeros(lanes)
        for b in range(0, B.shape[1], len(lanes)):
            emission, slope = scale(lattice.scaling[t], load(B, t, b, lanes)), load(rU, t, b, lanes)
            store(change.opening, t, b, zeros(lanes))
            for k in range(n_labels):
                if t == first + 1:
                    reached = add(
                        scale(change.opening[first, k], load(edges.forward, k, b, lanes)),
                        scale(lattice.opening[first, k], load(direction.forward, k, b, lanes)),
                    )
                else:
                    h = n_labels + k * n_labels
                    reached = add(
                        column_times(change.alpha, before, k, edges.forward, h, n_labels, b, lanes),
                        column_times(lattice.alpha, before, k, direction.forward, h, n_labels, b, lanes),
                    )
                here = multiply(load(lattice.alpha, t * n_labels + k, b, lanes), slope)
                moved = add(multiply(emission, reached), here)
                store(change.alpha, t * n_labels + k, b, moved)
                sums = add(sums, moved)
    return total(sums) / lattice.scaling[first]


@standing_kernel
def pair_backward_changed(lattice, change, first, last, edges, direction, weight, ebar, n_labels, lanes):
    """follow, follow' and node', times the sequence's weight.

    Writes: change.scores (node'), .follow of both, .beta of both, lattice.scaling.
    """
    beta_last = weight / lattice.scaling[first]
    lattice.scaling[first] = 0.0
    for k in range(n_labels):
        for j in range(n_labels):
            lattice.beta[k, j], change.beta[k, j] = beta_last, -ebar * beta_last
    for t in range(last - 1, first, -1):
        if t < last - 1:
            for k in range(n_labels):
                row, block = (t + 1) * n_labels + k, k * n_labels
                for b in range(0, lattice.beta.shape[1], len(lanes)):
                    moved = row_times(change.follow, row, edges.backward, block, n_labels, b, lanes)
                    more = row_times(lattice.follow, row, direction.backward, block, n_labels, b, lanes)
                    found = row_times(lattice.follow, row, edges.backward, block, n_labels, b, lanes)
                    store(lattice.beta, k, b, found)
                    store(change.beta, k, b, add(moved, more))
        follow_changed_pairs(lattice, change, t, n_labels)
    for k in range(n_labels):
        beta, moved = beta_last, -ebar * beta_last
        if last - first > 1:
            beta = beta_of_first(lattice.follow, first, k, edges.forward, n_labels, lanes)
            moved = beta_of_first(change.follow, first, k, edges.forward, n_labels, lanes)
            moved += beta_of_first(lattice.follow, first, k, direction.forward, n_labels, lanes)
        change.scores[first, k] = change.opening[first, k] * beta + lattice.opening[first, k] * moved
        for b in range(0, lattice.follow.shape[1], len(lanes)):
            store(lattice.follow, first * n_labels + k, b, zeros(lanes))
            store(change.follow, first * n_labels + k, b, zeros(lanes))


@standing_kernel
def follow_changed_pairs(lattice, change, t, n_labels):
    """From beta and beta' at position t to follow, follow' and node'. Writes: rows t of them."""
    rU, node = change.scores, change.posterior
    for k in range(n_labels):
        node[k] = 0.0
    for j in range(n_labels):
        row = t * n_labels + j
        for k in range(n_labels):
            beta, moved = lattice.beta[k, j], change.beta[k, j]
            emission = lattice.scores[t, k] * lattice.scaling[t]
            lattice.follow[row, k] = emission * beta
            change.follow[row, k] = emission * moved + emission * beta * rU[t, k]
            node[k] += change.alpha[row, k] * beta + lattice.alpha[row, k] * moved
    for k in range(n_labels):
        rU[t, k] = node[k]


@borrowing_kernel
def with_forward_of(lattice, other):
    """The lattice with alpha of another one."""
    return PairLattice(
        lattice.scores,
        other.alpha,
        lattice.follow,
        other.opening,
        lattice.scaling,
        lattice.bias,
        lattice.start,
        lattice.beta,
        lattice.posterior,
    )


@standing_kernel
def multiply_sequence(
    positions, weights, i, table, edges, direction, lattice, change, at_point, product, wide, n_labels, lanes
):
    """The product's share of sequence i, or wide[i] = True. Writes: product, at_point, wide, work space.

    at_point: sums of edges at the point, in units of edges.forward.
    """
    last, first = positions.starts[i + 1] - positions.starts[i], i - i
    score_block(positions, table, lattice.bias, i, i + 1, lattice.scores, lanes)
    score_block(positions, direction.table, change.bias, i, i + 1, change.scores, lanes)
    if shift_scores(lattice, first, last, lanes)[1] + edges.spread > WIDEST_SPREAD:
        wide[i] = True
        return
    weight = weights[i] if len(weights) > 0 else 1.0
    exponentiate(flat_rows(lattice.scores, first, last))
    pair_forward(lattice, first, last, edges, n_labels, lanes)
    ebar = pair_forward_changed(lattice, change, first, last, edges, direction, n_labels, lanes)
    pair_backward_changed(lattice, change, first, last, edges, direction, weight, ebar, n_labels, lanes)
    for t in range(first, last):
        change.scaling[t] = lattice.scaling[t]
    add_edges(lattice, last, n_labels, at_point, lanes)
    add_edges(with_forward_of(lattice, change), last, n_labels, product.edges, lanes)
    add_edges(with_forward_of(change, lattice), last, n_labels, product.edges, lanes)
    scatter_block(positions, i, i + 1, change.scores, product.table, lanes)


@borrowing_kernel
def multiply_sequences(
    positions, weights, sequences, first, last, table, edges, direction, lattice, change, at_point, product, wide,
    n_labels, lanes,
):  # fmt: skip
    """The same for sequences[first:last], in any order and as often as they are named. Writes: the same."""
    for n in range(first, last):
        i = sequences[n]
        multiply_sequence(
            positions, weights, i, table, edges, direction, lattice, change, at_point, product, wide, n_labels, lanes
        )
