"""Dual points as marginals: what SDCA remembers of each sequence, and the dual along a direction.

A mixture of two chains is no chain, but among all distributions with its marginals of labels and bigrams the chain has
the largest entropy, which is therefore a function of the marginals:

    H(m) = sum_t h(m_{t-1,t}) - sum_{inner t} h(m_t),        h(p) = - sum p log p

Between m and m', x of the way, D changes by  s (H(m + x (m' - m)) - H(m)) + s x w . g - s^2 x^2 |g|^2 / (4 c2),  with g
the change of the expected features; divided by s, that is the function whose highest point is searched for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.chain.blocks import Blocks, clear_rows, copy_rows
from fastcrf.chain.expectations import infer
from fastcrf.chain.forward_backward import WIDEST_SPREAD, shift_scores
from fastcrf.chain.lanes import add_scaled, aligned_zeros, flat_rows, load, store
from fastcrf.chain.log_domain import log_forward, step_back
from fastcrf.chain.logarithm import take_logarithms
from fastcrf.draws.stored_gradients import expect_bigrams
from fastcrf.kernel import borrowing_kernel, standing_kernel

SMALLEST = 1e-300  # of a probability whose logarithm is taken


class ChainMarginals(NamedTuple):
    """Of all sequences, or, in the same form, of one."""

    labels: np.ndarray  # [P, Kp]
    bigrams: np.ndarray  # [(P - N) K, Kp] of the transition to position p of sequence i in K rows from (p - i - 1) K


def make_marginals(blocks: Blocks, smoothing: float) -> ChainMarginals:
    """The gold labelling with probability 1 - smoothing, else any labelling with the same one."""
    chains, K, Kp = blocks.chains, blocks.layout.n_labels, blocks.layout.padded
    P, n = len(chains.labels), len(chains.starts) - 1
    labels, bigrams = aligned_zeros(P, Kp), aligned_zeros((P - n) * K, Kp)
    labels[:, :K] = smoothing / K
    labels[np.arange(P), chains.labels] += 1.0 - smoothing
    bigrams[:, :K] = smoothing / K**2
    into = np.delete(np.arange(P), chains.starts[:-1])  # positions that a transition leads to
    bigrams[np.arange(P - n) * K + chains.labels[into - 1], chains.labels[into]] += 1.0 - smoothing
    return ChainMarginals(labels, bigrams)


def make_goal(blocks: Blocks) -> ChainMarginals:
    longest, K, Kp = blocks.widest[2], blocks.layout.n_labels, blocks.layout.padded
    return ChainMarginals(aligned_zeros(longest, Kp), aligned_zeros(longest * K, Kp))


def size_of(blocks: Blocks) -> int:
    """Bytes of the marginals of all sequences."""
    n, P, K, Kp = len(blocks.chains.starts) - 1, len(blocks.chains.labels), blocks.layout.n_labels, blocks.layout.padded
    return 8 * (P * Kp + (P - n) * K * Kp)


@standing_kernel
def infer_goal(lattice, length, edges, space, goal, n_labels, lanes):
    """log Z of a scored sequence; its marginals, by position. Writes: goal, lattice."""
    first = np.int64(0)
    maxima, spread = shift_scores(lattice, first, length, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        return maxima + infer_wide_goal(lattice, length, edges, goal, n_labels, lanes)
    log_z = infer(lattice, first, length, edges, 1.0, space.wide_edges, n_labels, lanes)
    copy_rows(lattice.scores, goal.labels, length, lanes)
    for t in range(1, length):
        expect_bigrams(space, t, goal.bigrams[(t - 1) * n_labels :], n_labels, lanes)
    return maxima + log_z


@borrowing_kernel
def infer_wide_goal(lattice, length, edges, goal, n_labels, lanes):
    """The same in the log domain, for shifted scores. Writes: goal, lattice."""
    log_z, last = log_forward(lattice, np.int64(0), length, edges, n_labels), length - 1
    clear_rows(goal.labels, length, lanes)
    for k in range(n_labels):
        lattice.follow[last, k] = 0.0
        goal.labels[last, k] = math.exp(lattice.alpha[last, k])
    for t in range(last, 0, -1):
        bigrams = goal.bigrams[(t - 1) * n_labels :]
        clear_rows(bigrams, n_labels, lanes)
        step_back(lattice, t, edges, 1.0, n_labels, bigrams)
        for j in range(n_labels):
            for k in range(n_labels):
                goal.labels[t - 1, j] += bigrams[j, k]
    return log_z


@borrowing_kernel
def expected_score(marginals, first, transition, length, scores, edge_scores, n_labels):
    """The mean score of a sequence whose marginals begin in rows `first` and `transition`."""
    total = 0.0
    for t in range(length):
        for k in range(n_labels):
            total += marginals.labels[first + t, k] * scores[t, k]
    for r in range((length - 1) * n_labels):
        for k in range(n_labels):
            total += marginals.bigrams[transition + r, k] * edge_scores[r % n_labels, k]
    return total


@standing_kernel
def entropy_between(marginals, first, transition, length, goal, x, logs, n_labels):
    """(H, its first and its second derivative) x of the way from a sequence's marginals to `goal`. Writes: logs."""
    entropy, slope, curvature = 0.0, 0.0, 0.0
    for r in range(0, (length - 1) * n_labels, n_labels):
        part = add_entropy(marginals.bigrams, transition + r, goal.bigrams, r, n_labels, x, logs)
        entropy, slope, curvature = entropy + part[0], slope + part[1], curvature + part[2]
    sign, begin, end = (-1.0, 1, length - 1) if length > 1 else (1.0, 0, 1)  # inner labels are in two bigrams
    for t in range(begin, end):
        part = add_entropy(marginals.labels, first + t, goal.labels, t, np.int64(1), x, logs)
        entropy, slope, curvature = entropy + sign * part[0], slope + sign * part[1], curvature + sign * part[2]
    return entropy, slope, curvature


@standing_kernel
def add_entropy(rows, first, goal, row, n_rows, x, logs):
    """The part of some rows of probabilities: h, h', h'' at rows[first:] + x (goal[row:] - rows[first:]).

    Padding is 0 in both: 0 log 0 = 0. Writes: logs.
    """
    here, there = flat_rows(rows, first, first + n_rows), flat_rows(goal, row, row + n_rows)
    flat = flat_rows(logs, np.int64(0), n_rows)
    entropy, slope, curvature = 0.0, 0.0, 0.0
    for f in range(len(flat)):
        flat[f] = max(here[f] + x * (there[f] - here[f]), SMALLEST)
    take_logarithms(flat)
    for f in range(len(flat)):
        way = there[f] - here[f]
        p = max(here[f] + x * way, SMALLEST)
        entropy -= p * flat[f]
        slope -= way * flat[f]
        curvature -= way * way / p
    return entropy, slope, curvature


@borrowing_kernel
def move_towards(marginals, first, transition, length, goal, x, n_labels, lanes):
    """m <- m + x (goal - m) for one sequence. Writes: marginals."""
    mix_rows(marginals.labels, first, goal.labels, length, x, lanes)
    mix_rows(marginals.bigrams, transition, goal.bigrams, (length - 1) * n_labels, x, lanes)


@borrowing_kernel
def mix_rows(target, first, source, n_rows, x, lanes):
    """target[first:] += x (source - target[first:]), over n_rows rows. Writes: target."""
    for r in range(n_rows):
        for b in range(0, target.shape[1], len(lanes)):
            here = load(target, first + r, b, lanes)
            way = add_scaled(-1.0, here, load(source, r, b, lanes))
            store(target, first + r, b, add_scaled(x, way, here))
