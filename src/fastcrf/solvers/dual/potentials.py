"""Distributions over labellings as potentials: what exponentiated gradient remembers of each sequence.

A distribution of EG's is always a chain, because each update mixes logarithms of chains:

    alpha_i(y)  is proportional to  exp( sum_t theta_t(y_t) + sum_t [ tau(y_{t-1}, y_t) + c 1(gold bigram at t) ] )

Weights of transitions do not depend on the position, so the part tau of the bigrams does not either; what does, is the
start, which favours the gold bigram at each position by c. An update scales it by (1 - rate), so that T K + K^2 + 1
numbers a sequence are enough. (With both parts at the start, a right label counts `initial`, and so does a right
bigram.) While c matters, each position has a matrix of its own, made for the recursions and forgotten; when c has
faded below what a double can show, all share one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.chain.blocks import Blocks, copy_rows, refresh_edges
from fastcrf.chain.forward_backward import WIDEST_SPREAD, Edges
from fastcrf.chain.lanes import add_scaled, aligned_zeros, load, scale, store
from fastcrf.draws.evaluation import infer_current
from fastcrf.kernel import borrowing_kernel, standing_kernel
from fastcrf.solvers.options import check_positive
from fastcrf.types import Floats

FIRST_RATE, GROWTH = 0.5, 1.05  # schmidt2015, footnote 9
FADED = 1e-17  # of c: exp(c) is 1
LARGEST_INITIAL = 100.0  # beyond, the first potentials would be too wide for the recursions


class Potentials(NamedTuple):
    """The distributions of all sequences."""

    labels: np.ndarray  # [P, Kp] theta; padding -1e300
    bigrams: np.ndarray  # [N K, Kp] tau of sequence i in rows i K .. (i + 1) K
    favour: Floats  # [N] c


class Trial(NamedTuple):
    """Room for the potentials of one sequence that are tried."""

    goal: np.ndarray  # [T, Kp] label scores at the weights, where a rate of 1 would lead
    labels: np.ndarray  # [T, Kp] potentials
    bigrams: Edges  # tau; the matrices of all positions, of which the first is tau's


def check_initial(solver: str, initial: object) -> None:
    """The option `initial` of a solver must be a number above 0, and not so large that probabilities underflow."""
    check_positive(solver, "initial", initial)
    if initial > LARGEST_INITIAL:  # type: ignore[operator]
        raise ValueError(f"{solver}: initial must be at most {LARGEST_INITIAL:g}; got initial={initial!r}.")


def make_potentials(blocks: Blocks, initial: float) -> Potentials:
    """A right label or bigram counts `initial`, a wrong one 0 (schmidt2015, footnote 9)."""
    chains, layout = blocks.chains, blocks.layout
    n, P, K, Kp = len(chains.starts) - 1, len(chains.labels), layout.n_labels, layout.padded
    labels = aligned_zeros(P, Kp)
    labels[:, K:] = -1e300
    labels[np.arange(P), chains.labels] = initial
    return Potentials(labels, aligned_zeros(n * K, Kp), np.full(n, float(initial)))


def make_trial(blocks: Blocks) -> Trial:
    longest, Kp = blocks.widest[2], blocks.layout.padded
    matrices = aligned_zeros(longest * Kp, Kp), aligned_zeros(longest * Kp, Kp)
    bigrams = Edges(aligned_zeros(Kp, Kp), *matrices, 0.0, 0.0, 0)
    return Trial(aligned_zeros(longest, Kp), aligned_zeros(longest, Kp), bigrams)


def size_of(blocks: Blocks) -> int:
    """Bytes of the potentials and of a trial's matrices."""
    n, P, longest = len(blocks.chains.starts) - 1, len(blocks.chains.labels), blocks.widest[2]
    K, Kp = blocks.layout.n_labels, blocks.layout.padded
    return 8 * (P * Kp + n * K * Kp + n + 2 * longest * Kp * Kp)


@standing_kernel
def blend(potentials, blocks, i, rate, edge_scores, trial, target, lanes):
    """(1 - rate) potentials + rate scores of sequence i, to `target` (labels) and trial.bigrams.scores; c of these.

    Writes: target, trial.
    """
    starts, K, Kp, W = blocks.chains.starts, blocks.layout.n_labels, edge_scores.shape[1], len(lanes)
    first, kept = starts[i], 1.0 - rate
    for p in range(first, starts[i + 1]):
        for b in range(0, Kp, W):
            old = scale(kept, load(potentials.labels, p, b, lanes))
            store(target, p - first, b, add_scaled(rate, load(trial.goal, p - first, b, lanes), old))
    for j in range(K):
        for b in range(0, Kp, W):
            old = scale(kept, load(potentials.bigrams, i * K + j, b, lanes))
            store(trial.bigrams.scores, j, b, add_scaled(rate, load(edge_scores, j, b, lanes), old))
    c = kept * potentials.favour[i]
    return c if c > FADED else 0.0


@standing_kernel
def infer_chain(blocks, i, c, trial, space, lanes):
    """Weighted entropy of the chain of sequence i whose label potentials are in space.lattice.scores, the others in
    `trial`; its residuals go where `infer_block` leaves them. Minus infinity where favoured bigrams and very wide
    potentials meet, which the recursions cannot take: such a trial is a vain one.

    Writes: space, trial (labels: the potentials again).
    """
    shared = refresh_edges(trial.bigrams, blocks.layout.n_labels, space.lattice.bias, lanes)
    if c == 0.0:
        return infer_current(blocks, i, shared, space, trial.labels, lanes)[1]
    length = blocks.chains.starts[i + 1] - blocks.chains.starts[i]
    if not widest_row(space.lattice.scores, length, blocks.layout.n_labels) + shared.spread + c <= WIDEST_SPREAD:
        return -math.inf
    favour_gold(blocks, i, math.exp(c), shared, lanes)
    stride = np.int64(shared.scores.shape[1])
    edges = Edges(shared.scores, shared.forward, shared.backward, shared.top, 0.0, stride)  # type: ignore[arg-type]
    entropy = infer_current(blocks, i, edges, space, trial.labels, lanes)[1]
    return entropy - count_favoured(blocks, i, c, shared, space)


@borrowing_kernel
def widest_row(scores, n_rows, n_labels):
    """The largest difference between two labels of one row."""
    widest = 0.0
    for t in range(n_rows):
        high, low = scores[t, 0], scores[t, 0]
        for k in range(1, n_labels):
            high, low = max(high, scores[t, k]), min(low, scores[t, k])
        if not high - low <= widest:  # a NaN is wide
            widest = high - low
    return widest


@borrowing_kernel
def favour_gold(blocks, i, factor, edges, lanes):
    """Matrices of each position: tau's, the gold bigram times `factor`. Writes: edges.forward, edges.backward."""
    starts, labels, Kp = blocks.chains.starts, blocks.chains.labels, edges.scores.shape[1]
    for p in range(starts[i] + 1, starts[i + 1]):
        row, before, after = (p - starts[i]) * Kp, labels[p - 1], labels[p]
        copy_rows(edges.forward, edges.forward[row:], blocks.layout.n_labels, lanes)
        copy_rows(edges.backward, edges.backward[row:], blocks.layout.n_labels, lanes)
        edges.forward[row + before, after] *= factor
        edges.backward[row + after, before] *= factor


@borrowing_kernel
def count_favoured(blocks, i, c, edges, space):
    """What c adds to the expected score, after `infer_current` took it for 0: of the bigrams that it left out, and of
    c itself. Writes: space.edge_sums (completed).
    """
    starts, labels, lattice = blocks.chains.starts, blocks.chains.labels, space.lattice
    factor, missing = math.exp(c), 0.0
    for p in range(starts[i] + 1, starts[i + 1]):
        t, j, k = p - starts[i], labels[p - 1], labels[p]
        plain = lattice.alpha[t - 1, j] * edges.forward[j, k] * lattice.follow[t, k]
        space.edge_sums[j, k] += (factor - 1.0) * plain
        missing += (factor - 1.0) * plain * edges.scores[j, k] + factor * plain * c
    return missing


@borrowing_kernel
def keep_trial(potentials, blocks, i, c, labels, trial, lanes):
    """What was tried becomes the potentials of sequence i: `labels`, the bigrams of `trial`, c. Writes: potentials."""
    starts, K = blocks.chains.starts, blocks.layout.n_labels
    copy_rows(labels, potentials.labels[starts[i] :], starts[i + 1] - starts[i], lanes)
    copy_rows(trial.bigrams.scores, potentials.bigrams[i * K :], K, lanes)
    potentials.favour[i] = c
