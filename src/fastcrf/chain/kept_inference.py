"""What inference leaves behind at a point: enough for any number of products with the Hessian there, without an exp.

tsuboi2011 keeps the marginals of nodes and edges, T K + T K^2 numbers a sequence. With one matrix M for all edges of
forward_backward.py the marginals are products of three rows a position, so these are kept instead, 3 T K numbers:

    alpha_t(k),  beta_t(k) = posterior_t(k) / alpha_t(k),  emission_t(k) = B_t(k) / z_{t-1}  (0 where a sequence begins)

    p(y_t = k | x) = alpha_t(k) beta_t(k)
    p(y_{t-1} = j, y_t = k | x) = alpha_{t-1}(j) M(j, k) emission_t(k) beta_t(k)

Like the posteriors, beta is weighted by the sequence's weight. A sequence whose scores are too wide for the probability
domain leaves its (shifted) label scores instead, and log_tangents.py begins anew from those.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.expectations import add_edges, end_of_block, infer, scatter_block, score_block
from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.forward_backward import WIDEST_SPREAD, backward, forward, shift_scores
from fastcrf.chain.lanes import aligned_zeros, flat_rows, load, scale, store
from fastcrf.kernel import borrowing_kernel, standing_kernel

ROWS = 3  # arrays of K numbers a position


class Left(NamedTuple):
    """What inference left of some positions, a row each."""

    alpha: np.ndarray  # [R, Kp]; 0 in a wide sequence
    beta: np.ndarray  # [R, Kp]
    emission: np.ndarray  # [R, Kp]; the shifted label scores of a wide sequence
    wide: np.ndarray  # [R] bool, at the first position of a sequence: whether its scores are too wide


def make_left(n_positions: int, padded: int) -> Left:
    alpha, beta, emission = (aligned_zeros(n_positions, padded) for _ in range(ROWS))
    return Left(alpha, beta, emission, np.zeros(n_positions, np.bool_))


@standing_kernel
def infer_and_keep(lattice, first, last, edges, weight, wide_edges, left, row, n_labels, lanes):
    """As `infer`, with rows row..row+last-first-1 of `left` written. Writes: left, lattice, wide_edges."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    Kp, W, end = lattice.scores.shape[1], len(lanes), row + last - first
    left.wide[row] = spread + edges.spread > WIDEST_SPREAD
    if left.wide[row]:
        for t in range(first, last):
            for k in range(Kp):
                left.alpha[row + t - first, k] = left.beta[row + t - first, k] = 0.0
                left.emission[row + t - first, k] = lattice.scores[t, k]
        return maxima + infer(lattice, first, last, edges, weight, wide_edges, n_labels, lanes)
    exponentiate(flat_rows(lattice.scores, first, last))
    log_z = forward(lattice, first, last, edges, n_labels, lanes)
    for t in range(first, last):
        scaling = lattice.scaling[t] if t > first else 0.0
        for b in range(0, Kp, W):
            store(left.emission, row + t - first, b, scale(scaling, load(lattice.scores, t, b, lanes)))
            store(left.alpha, row + t - first, b, load(lattice.alpha, t, b, lanes))
    backward(lattice, first, last, edges, weight, n_labels, lanes)
    posterior = flat_rows(lattice.scores, first, last)
    alpha, beta = flat_rows(left.alpha, row, end), flat_rows(left.beta, row, end)
    for i in range(len(beta)):
        beta[i] = posterior[i] / alpha[i] if alpha[i] > 0.0 else 0.0  # padding is 0 / 0
    return maxima + log_z + (last - first - 1) * edges.top


@standing_kernel
def infer_and_keep_block(positions, weights, first, end, table, edges, lattice, expected, left, row, n_labels, lanes):
    """As `expect_block` before it scatters, with what is left of the block's positions from `row` on.

    Writes: left, expected.edges and .wide_edges, lattice (whose scores are the posteriors).
    """
    starts, loss = positions.starts, 0.0
    base = starts[first]
    score_block(positions, table, lattice.bias, first, end, lattice.scores, lanes)
    for i in range(first, end):
        weight = weights[i] if len(weights) > 0 else 1.0
        a, b = starts[i] - base, starts[i + 1] - base
        wide_edges = expected.wide_edges
        loss += weight * infer_and_keep(lattice, a, b, edges, weight, wide_edges, left, row + a, n_labels, lanes)
    add_edges(lattice, starts[end] - base, n_labels, expected.edges, lanes)
    return loss


@borrowing_kernel
def expect_and_keep(positions, weights, first, last, table, edges, lattice, expected, left, n_labels, lanes):
    """As `expect`, with what is left of the positions of sequences first..last-1. Writes: left, expected, lattice."""
    starts, loss, begin = positions.starts, 0.0, positions.starts[first]
    while first < last:
        end, row = end_of_block(starts, first, last), starts[first] - begin
        loss += infer_and_keep_block(
            positions, weights, first, end, table, edges, lattice, expected, left, row, n_labels, lanes
        )
        scatter_block(positions, first, end, lattice.scores, expected.table, lanes)
        first = end
    return loss
