"""What inference leaves behind at a point: enough for any number of products with the Hessian there, without an exp.

tsuboi2011 keeps the marginals of nodes and edges, T K + T K^2 numbers a sequence. With one matrix M for all edges of
forward_backward.py the marginals are products of three rows a position, so these are kept instead, 3 T K numbers:

    alpha_t(k),   beta_t(k),   emission_t(k) = B_t(k) / z_{t-1}  (0 where a sequence begins)

    p(y_t = k | x) = alpha_t(k) beta_t(k)
    p(y_{t-1} = j, y_t = k | x) = alpha_{t-1}(j) M(j, k) emission_t(k) beta_t(k)

Like the posteriors, beta is weighted by the sequence's weight. A sequence whose scores are too wide for the probability
domain leaves its (shifted) label scores instead, and log_tangents.py begins anew from those.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.expectations import add_edges, end_of_block, infer, scatter_block, score_block
from fastcrf.inference.forward_backward import WIDEST_SPREAD, Lattice, forward, row_times, shift_scores
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import flat_rows, load, multiply, scale, store
from fastcrf.simd.prefetch import prefetch
from fastcrf.simd.widths import CACHE_LINE, aligned_zeros

ROWS = 3  # arrays of K numbers a position
AHEAD = 32  # positions: how long before its turn a row is asked for


class Left(NamedTuple):
    """What inference left of some positions, a row each."""

    alpha: np.ndarray  # [R, Kp]; 0 in a wide sequence
    beta: np.ndarray  # [R, Kp]
    emission: np.ndarray  # [R, Kp]; the shifted label scores of a wide sequence
    wide: np.ndarray  # [R] bool, at the first position of a sequence: whether its scores are too wide
    far: bool  # more than the caches hold: rows are worth asking for before it is their turn


class Keeping(NamedTuple):
    """Where a thread infers, and what it leaves."""

    lattice: Lattice
    wide_edges: np.ndarray  # as in Expected
    left: Left


def make_left(n_positions: int, padded: int, far: bool) -> Left:
    alpha, beta, emission = (aligned_zeros(n_positions, padded) for _ in range(ROWS))
    return Left(alpha, beta, emission, np.zeros(n_positions, np.bool_), far)


@inlined_kernel
def ask_for(left, row):
    """Ask memory for a row, which need not exist: recursions would wait for it."""
    if left.far:
        for k in range(0, left.alpha.shape[1], CACHE_LINE // left.alpha.itemsize):
            prefetch(left.alpha, row, k)
            prefetch(left.beta, row, k)
            prefetch(left.emission, row, k)


@outlined_kernel
def infer_and_keep(sequences, i, base, keeping, row, n_labels, lanes):
    """As `infer` for sequence i of a scored block that begins at position `base`, but log Z is weighted, too; what is
    left of its positions are rows from `row` on. Writes: keeping.
    """
    starts, edges, lattice, left = sequences.positions.starts, sequences.edges, keeping.lattice, keeping.left
    weight = sequences.weights[i] if len(sequences.weights) > 0 else 1.0
    first, last = starts[i] - base, starts[i + 1] - base
    maxima, spread = shift_scores(lattice, first, last, lanes)
    Kp = lattice.scores.shape[1]
    left.wide[row] = spread + edges.spread > WIDEST_SPREAD
    if left.wide[row]:
        for t in range(first, last):
            for k in range(Kp):
                left.alpha[row + t - first, k] = left.beta[row + t - first, k] = 0.0
                left.emission[row + t - first, k] = lattice.scores[t, k]
        return weight * (maxima + infer(lattice, first, last, edges, weight, keeping.wide_edges, n_labels, lanes))
    exponentiate(flat_rows(lattice.scores, first, last))
    log_z = forward(lattice, first, last, edges, n_labels, lanes)
    backward_and_keep(keeping, first, last, row, edges, weight, n_labels, lanes)
    return weight * (maxima + log_z + (last - first - 1) * edges.top)


@outlined_kernel
def backward_and_keep(keeping, first, last, row, edges, weight, n_labels, lanes):
    """As `backward`, with what it passes by on its way. Writes: keeping."""
    lattice, left = keeping.lattice, keeping.left
    scores, alpha, follow, scaling, off = lattice.scores, lattice.alpha, lattice.follow, lattice.scaling, row - first
    beta_last = weight / scaling[first]
    scaling[first] = 0.0  # no edge leads to the first position
    for t in range(last - 1, first - 1, -1):
        ask_for(left, 2 * last - 1 - t + off)  # of the next sequence
        for b in range(0, scores.shape[1], len(lanes)):
            beta = scale(beta_last, load(lattice.start, 0, b, lanes))
            if t < last - 1:
                beta = row_times(follow, t + 1, edges.backward, (t + 1) * edges.stride, n_labels, b, lanes)
            here, emission = load(alpha, t, b, lanes), scale(scaling[t], load(scores, t, b, lanes))
            store(left.alpha, t + off, b, here)
            store(left.beta, t + off, b, beta)
            store(left.emission, t + off, b, emission)
            store(follow, t, b, multiply(emission, beta))
            store(scores, t, b, multiply(here, beta))


@noalloc_kernel
def expect_and_keep(sequences, first, last, lattice, expected, left, n_labels, lanes):
    """As `expect`, with what is left of the positions of sequences first..last-1. Writes: left, expected, lattice."""
    positions, starts, loss = sequences.positions, sequences.positions.starts, 0.0
    begin, keeping = starts[first], Keeping(lattice, expected.wide_edges, left)
    while first < last:
        end, base = end_of_block(starts, first, last), starts[first]
        score_block(positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
        for i in range(first, end):
            loss += infer_and_keep(sequences, i, base, keeping, starts[i] - begin, n_labels, lanes)
        add_edges(lattice, starts[end] - starts[first], sequences.edges, n_labels, expected.edges, lanes)
        scatter_block(positions, first, end, lattice.scores, expected.table, lanes)
        first = end
    return loss
