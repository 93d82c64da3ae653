"""Scaled forward-backward in the probability domain, on padded rows of label scores.

A block holds the positions of one or more whole sequences. Row t of `scores` begins as the label scores U[t, :] and
ends as the posterior p(y_t = k | x). With B_t = exp(U_t - max U_t) and M = exp(V - max V):

    alpha_t(k) = sum_j alpha_{t-1}(j) M(j, k) B_t(k) / z_{t-1},     z_t = sum_k alpha_t(k)
    beta_{t-1}(j) = sum_k M(j, k) B_t(k) beta_t(k) / z_{t-1},       beta_last = weight / z_last
    posterior_t(k) = alpha_t(k) beta_t(k)
    edge_t(j, k) = alpha_{t-1}(j) M(j, k) follow_t(k),              follow_t = B_t beta_t / z_{t-1}

Each position is scaled by the sum of the position *before* it, which takes the division off the critical path. The
weight of the sequence enters through beta_last, so that posteriors and edges are weighted at no cost.

Let s bound max U_t - min U_t + max V - min V. Then z_t >= exp(-s), alpha_t(k) >= exp(-2 s), and beta_t, follow_t are at
most exp(2 s): no significant number underflows while s stays below `WIDEST_SPREAD`. Sequences with a larger score range
use log_domain.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastcrf.jit.kernel import inlined_kernel, outlined_kernel
from fastcrf.simd.lanes import (
    add,
    add_scaled,
    larger,
    largest,
    load,
    multiply,
    scale,
    shift,
    size_of,
    store,
    total,
    zeros,
)
from fastcrf.simd.widths import aligned_zeros

WIDEST_SPREAD = 300.0
FOUR_HIDE = 96  # bytes of lanes that are too few for two accumulators to hide the latency of a multiply-add
SMALLEST_PRODUCT, LARGEST_PRODUCT = 1e-200, 1e200  # the log of a product of scales is taken outside this range


class Edges(NamedTuple):
    """Transition scores between labels, in the forms the recursions read. Padding is masked: rows and columns of 0."""

    scores: np.ndarray  # [Kp, Kp] V(j, k); 0 where there is no weight
    forward: np.ndarray  # [Kp, Kp] exp(V - top), row j
    backward: np.ndarray  # [Kp, Kp] its transpose
    top: float  # max V
    spread: float  # max V - min V
    stride: int  # rows between the matrices of two positions: 0, all positions share one matrix


class Lattice(NamedTuple):
    """Work arrays for one block of positions, owned by one thread."""

    scores: np.ndarray  # [B, Kp] U, then exp, then posterior
    alpha: np.ndarray  # [B, Kp] scaled forward
    follow: np.ndarray  # [B, Kp] B_t beta_t / z_{t-1}; 0 at the first position of a sequence
    scaling: np.ndarray  # [B] 1 / z_{t-1}
    bias: np.ndarray  # [2, Kp] row 0: 0, padding -1e300; row 1: 0, padding -2e300
    start: np.ndarray  # [1, Kp] 1, padding 0


def make_lattice(n_positions: int, n_labels: int, padded: int, number: type = np.float64) -> Lattice:
    """Allocate a lattice. number: the precision."""
    bias, mask = aligned_zeros(2, padded, number), 1e300 if number is np.float64 else 1e37
    bias[0, n_labels:], bias[1, n_labels:] = -mask, -2.0 * mask
    start = aligned_zeros(1, padded, number)
    start[0, :n_labels] = 1.0
    scores, alpha, follow = (aligned_zeros(n_positions, padded, number) for _ in range(3))
    return Lattice(scores, alpha, follow, np.zeros(n_positions), bias, start)


def make_edges(scores: np.ndarray, padded: int, number: type = np.float64) -> Edges:
    """Build the edges of one transition matrix [K, K] that all positions share."""
    K, top, low = len(scores), float(scores.max()), float(scores.min())
    padded_scores, forward, backward = (aligned_zeros(padded, padded, number) for _ in range(3))
    padded_scores[:K, :K] = scores
    forward[:K, :K] = np.exp(scores - top)
    backward[:K, :K] = forward[:K, :K].T
    return Edges(padded_scores, forward, backward, top, top - low, 0)


@outlined_kernel
def shift_scores(lattice, first, last, lanes):
    """Subtract each row's maximum; return (sum of the maxima, widest max - min). Writes: lattice.scores."""
    scores, bias, W = lattice.scores, lattice.bias, len(lanes)
    maxima, spread = 0.0, 0.0
    for t in range(first, last):
        high = load(scores, t, 0, lanes)
        low = add(load(bias, 1, 0, lanes), scale(-1.0, high))
        for b in range(W, scores.shape[1], W):
            row = load(scores, t, b, lanes)
            high = larger(high, row)
            low = larger(low, add(load(bias, 1, b, lanes), scale(-1.0, row)))
        top = largest(high)
        spread = max(spread, top + largest(low))
        maxima += top
        for b in range(0, scores.shape[1], W):
            store(scores, t, b, shift(load(scores, t, b, lanes), -top))
    return maxima, spread


@inlined_kernel
def row_times(vector, t, matrix, first_row, n_labels, b, lanes):
    """Return panel b of vector[t, :] @ matrix[first_row:, :]; several accumulators hide the latency of a multiply-add.

    Rows are padded to a multiple of four. The condition is constant, so the compiler keeps one of the two loops. Both
    loops together would be too long for it to inline, and a call for each narrow panel doubles their time.
    """
    even, odd = zeros(lanes), zeros(lanes)
    if size_of(lanes) > FOUR_HIDE:
        for j in range(0, n_labels, 2):
            even = add_scaled(vector[t, j], load(matrix, first_row + j, b, lanes), even)
            odd = add_scaled(vector[t, j + 1], load(matrix, first_row + j + 1, b, lanes), odd)
        return add(even, odd)
    third, fourth = zeros(lanes), zeros(lanes)
    for j in range(0, n_labels, 4):
        even = add_scaled(vector[t, j], load(matrix, first_row + j, b, lanes), even)
        odd = add_scaled(vector[t, j + 1], load(matrix, first_row + j + 1, b, lanes), odd)
        third = add_scaled(vector[t, j + 2], load(matrix, first_row + j + 2, b, lanes), third)
        fourth = add_scaled(vector[t, j + 3], load(matrix, first_row + j + 3, b, lanes), fourth)
    return add(add(even, odd), add(third, fourth))


@outlined_kernel
def forward(lattice, first, last, edges, n_labels, lanes):
    """Return the log of the sum over label sequences of the shifted scores of positions first..last-1.

    Writes: lattice.alpha, lattice.scaling (whose first entry holds the last z until `backward` has read it).
    """
    scores, alpha, scaling, W = lattice.scores, lattice.alpha, lattice.scaling, len(lanes)
    sums = zeros(lanes)
    for b in range(0, scores.shape[1], W):
        row = multiply(load(scores, first, b, lanes), load(lattice.start, 0, b, lanes))
        store(alpha, first, b, row)
        sums = add(sums, row)
    z = total(sums)
    product, logs = 1.0, 0.0
    for t in range(first + 1, last):
        scaling[t] = 1.0 / z
        product *= z
        if product < SMALLEST_PRODUCT or product > LARGEST_PRODUCT:
            logs += math.log(product)
            product = 1.0
        sums = zeros(lanes)
        for b in range(0, scores.shape[1], W):
            reached = row_times(alpha, t - 1, edges.forward, t * edges.stride, n_labels, b, lanes)
            row = multiply(reached, scale(scaling[t], load(scores, t, b, lanes)))
            store(alpha, t, b, row)
            sums = add(sums, row)
        z = total(sums)
    scaling[first] = z
    return logs + math.log(product) + math.log(z)


@outlined_kernel
def backward(lattice, first, last, edges, weight, n_labels, lanes):
    """Compute posteriors times the sequence's weight. Writes: lattice.scores (posteriors), lattice.follow,
    lattice.scaling.
    """
    scores, alpha, follow, scaling, W = lattice.scores, lattice.alpha, lattice.follow, lattice.scaling, len(lanes)
    beta_last = weight / scaling[first]
    scaling[first] = 0.0  # makes follow 0 at the first position: no edge leads there
    for b in range(0, scores.shape[1], W):
        store(follow, last - 1, b, scale(beta_last * scaling[last - 1], load(scores, last - 1, b, lanes)))
        store(scores, last - 1, b, scale(beta_last, load(alpha, last - 1, b, lanes)))
    for t in range(last - 2, first - 1, -1):
        for b in range(0, scores.shape[1], W):
            beta = row_times(follow, t + 1, edges.backward, (t + 1) * edges.stride, n_labels, b, lanes)
            store(follow, t, b, multiply(load(scores, t, b, lanes), scale(scaling[t], beta)))
            store(scores, t, b, multiply(load(alpha, t, b, lanes), beta))


AnyEdges = Any  # Edges or ContextEdges: kernels select by type


AnyLattice = Any  # Lattice or ContextLattice
