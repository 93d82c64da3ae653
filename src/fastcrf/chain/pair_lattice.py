"""Scaled forward-backward of chains of order 2: the states are pairs of labels, (y_{t-1}, y_t).

A pair is followed only by pairs that begin with its second label, so that a step costs K^3 and not K^4. With B_t and M
as in forward_backward.py, M of a step from labels j, k to l (histories.py):

    alpha_t(k, l) = sum_j alpha_{t-1}(j, k) M(j, k, l) B_t(l) / z_{t-1},      z_t = sum_kl alpha_t(k, l)
    beta_{t-1}(j, k) = sum_l M(j, k, l) follow_t(k, l),                       follow_t = B_t beta_t / z_{t-1}
    posterior_t(l) = sum_k alpha_t(k, l) beta_t(k, l)
    triple_t(j, k, l) = alpha_{t-1}(j, k) M(j, k, l) follow_t(k, l)

For each k this is a row over j times a matrix, as in a chain of order 1. The first position has a label and no pair:
its alpha is `opening`, and the step from it takes the bigram's M(k, l).

With s as there, sum_j alpha_t(j, k) >= exp(-s), alpha_t(k, l) >= exp(-2 s) / K, and follow_t <= exp(2 s): the same
spread of scores is safe.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.chain.forward_backward import LARGEST_PRODUCT, SMALLEST_PRODUCT, make_lattice, row_times
from fastcrf.chain.histories import with_bigrams
from fastcrf.chain.lanes import add, add_scaled, aligned_zeros, load, multiply, scale, store, total, zeros
from fastcrf.kernel import borrowing_kernel, standing_kernel

SPARE = 3  # rows behind a matrix that `row_times` may read, because it takes up to four at a time


class PairEdges(NamedTuple):
    """Transition scores of a chain of order 2. Row h is a history: label k in row k, labels j, k in row K + k K + j."""

    scores: np.ndarray  # [K + K K, Kp] weights of bigrams and triples; 0 where there is none
    steps: np.ndarray  # [K + K K, Kp] what a step scores: of a triple, its weight and its bigram's
    forward: np.ndarray  # [K + K K, Kp] exp(steps - top)
    backward: np.ndarray  # [K K + SPARE, Kp] row k K + l: forward(j, k, l) over j; the last rows are 0
    top: float  # largest step
    spread: float  # largest - smallest step


class PairLattice(NamedTuple):
    """Work space for one block of positions, owned by one thread. Row t K + j is that of the pairs (j, .) at t."""

    scores: np.ndarray  # [B, Kp] U, then exp, then posterior of the labels
    alpha: np.ndarray  # [B K, Kp] scaled forward; 0 at the first position of a sequence
    follow: np.ndarray  # [B K, Kp] B_t beta_t / z_{t-1}; 0 at the first position of a sequence
    opening: np.ndarray  # [B, Kp] scaled forward of the labels at the first position of a sequence; 0 elsewhere
    scaling: np.ndarray  # [B] 1 / z_{t-1}
    bias: np.ndarray  # [2, Kp] row 0: 0, padding -1e300; row 1: 0, padding -2e300
    start: np.ndarray  # [1, Kp] 1, padding 0
    beta: np.ndarray  # [Kp, Kp] beta(j, k) of one position, in row k and column j
    posterior: np.ndarray  # [Kp] of one position


def make_pair_lattice(n_positions: int, n_labels: int, padded: int) -> PairLattice:
    of_labels = make_lattice(n_positions, n_labels, padded)
    return PairLattice(
        scores=of_labels.scores,
        alpha=aligned_zeros(n_positions * n_labels, padded),
        follow=aligned_zeros(n_positions * n_labels, padded),
        opening=aligned_zeros(n_positions, padded),
        scaling=of_labels.scaling,
        bias=of_labels.bias,
        start=of_labels.start,
        beta=aligned_zeros(padded, padded),
        posterior=np.zeros(padded),
    )


def make_pair_edges(scores: np.ndarray, padded: int) -> PairEdges:
    """Edges of the weights [K + K K, K] of bigrams and triples."""
    K, H = scores.shape[1], len(scores)
    steps = with_bigrams(scores)
    top, low = float(steps.max()), float(steps.min())
    padded_scores, padded_steps, forward = (aligned_zeros(H, padded) for _ in range(3))
    padded_scores[:, :K], padded_steps[:, :K], forward[:, :K] = scores, steps, np.exp(steps - top)
    backward = aligned_zeros(K * K + SPARE, padded)
    triples = forward[K:, :K].reshape(K, K, K)  # k, j, l
    backward[: K * K, :K] = triples.transpose(0, 2, 1).reshape(K * K, K)
    return PairEdges(padded_scores, padded_steps, forward, backward, top, top - low)


@borrowing_kernel
def column_times(vectors, first_row, k, matrix, first_factor, n_rows, b, lanes):
    """Panel b of sum_j vectors[first_row + j, k] * matrix[first_factor + j, :]; two accumulators hide the latency."""
    even, odd = zeros(lanes), zeros(lanes)
    for j in range(0, n_rows - 1, 2):
        even = add_scaled(vectors[first_row + j, k], load(matrix, first_factor + j, b, lanes), even)
        odd = add_scaled(vectors[first_row + j + 1, k], load(matrix, first_factor + j + 1, b, lanes), odd)
    if n_rows % 2 == 1:
        j = n_rows - 1
        even = add_scaled(vectors[first_row + j, k], load(matrix, first_factor + j, b, lanes), even)
    return add(even, odd)


@standing_kernel
def pair_forward(lattice, first, last, edges, n_labels, lanes):
    """log of the sum over label sequences of the shifted scores of positions first..last-1.

    Writes: lattice.alpha, lattice.opening, lattice.scaling (whose first entry holds the last z until it is read by
    `pair_backward`).
    """
    scores, alpha, scaling, W = lattice.scores, lattice.alpha, lattice.scaling, len(lanes)
    sums = zeros(lanes)
    for b in range(0, scores.shape[1], W):
        row = multiply(load(scores, first, b, lanes), load(lattice.start, 0, b, lanes))
        store(lattice.opening, first, b, row)
        sums = add(sums, row)
        for j in range(n_labels):
            store(alpha, first * n_labels + j, b, zeros(lanes))
    z = total(sums)
    product, logs = 1.0, 0.0
    for t in range(first + 1, last):
        scaling[t] = 1.0 / z
        product *= z
        if product < SMALLEST_PRODUCT or product > LARGEST_PRODUCT:
            logs += math.log(product)
            product = 1.0
        before, sums = (t - 1) * n_labels, zeros(lanes)
        for b in range(0, scores.shape[1], W):
            emission = scale(scaling[t], load(scores, t, b, lanes))
            store(lattice.opening, t, b, zeros(lanes))
            for k in range(n_labels):
                if t == first + 1:
                    reached = scale(lattice.opening[first, k], load(edges.forward, k, b, lanes))
                else:
                    histories = n_labels + k * n_labels
                    reached = column_times(alpha, before, k, edges.forward, histories, n_labels, b, lanes)
                row = multiply(reached, emission)
                store(alpha, t * n_labels + k, b, row)
                sums = add(sums, row)
        z = total(sums)
    scaling[first] = z
    return logs + math.log(product) + math.log(z)


@standing_kernel
def pair_backward(lattice, first, last, edges, weight, n_labels, lanes):
    """Posteriors of the labels, times the sequence's weight.

    Writes: lattice.scores (posteriors), lattice.follow, lattice.scaling, lattice.beta.
    """
    scaling = lattice.scaling
    beta_last = weight / scaling[first]
    scaling[first] = 0.0
    for k in range(n_labels):
        for j in range(n_labels):
            lattice.beta[k, j] = beta_last
    for t in range(last - 1, first, -1):
        if t < last - 1:
            for k in range(n_labels):
                for b in range(0, lattice.beta.shape[1], len(lanes)):
                    row = (t + 1) * n_labels + k
                    found = row_times(lattice.follow, row, edges.backward, k * n_labels, n_labels, b, lanes)
                    store(lattice.beta, k, b, found)
        follow_pairs(lattice, t, n_labels)
    for k in range(n_labels):
        beta = (
            beta_last if last - first == 1 else beta_of_first(lattice.follow, first, k, edges.forward, n_labels, lanes)
        )
        lattice.scores[first, k] = lattice.opening[first, k] * beta
        for b in range(0, lattice.follow.shape[1], len(lanes)):
            store(lattice.follow, first * n_labels + k, b, zeros(lanes))


@standing_kernel
def follow_pairs(lattice, t, n_labels):
    """From beta at position t to follow and posteriors there. Writes: rows t of lattice.follow and lattice.scores."""
    alpha, follow, scores, beta, posterior = (
        lattice.alpha, lattice.follow, lattice.scores, lattice.beta, lattice.posterior,
    )  # fmt: skip
    for k in range(n_labels):
        posterior[k] = 0.0
        scores[t, k] *= lattice.scaling[t]
    for j in range(n_labels):
        row = t * n_labels + j
        for k in range(n_labels):
            follow[row, k] = scores[t, k] * beta[k, j]
            posterior[k] += alpha[row, k] * beta[k, j]
    for k in range(n_labels):
        scores[t, k] = posterior[k]


@borrowing_kernel
def beta_of_first(follow, first, k, matrix, n_labels, lanes):
    """sum_l matrix(k, l) follow(k, l) of the step from label k at the first position."""
    beta = zeros(lanes)
    for b in range(0, follow.shape[1], len(lanes)):
        ahead = multiply(load(matrix, k, b, lanes), load(follow, (first + 1) * n_labels + k, b, lanes))
        beta = add(beta, ahead)
    return total(beta)
