"""Distributions over label sequences as potentials: the state of exponentiated gradient for each sequence.

A distribution of EG is always a chain, because each update interpolates logarithms of chains:

    alpha_i(y)  is proportional to  exp( sum_t theta_t(y_t) + sum_t [ tau(y_{t-1}, y_t) + c 1(gold bigram at t) ] )

Weights of transitions do not depend on the position, and neither does the part tau of the bigrams. Only the start does:
it favors the gold bigram at each position by c. An update scales c by (1 - rate), so that T K + K^2 + 1 numbers per
sequence suffice. (With both parts at the start, a gold label counts `initial`, and so does a gold bigram.) While c
matters, each position has a matrix of its own, built for the recursions and discarded. When c is too small to change a
double, all positions share one matrix.

In a chain of higher order tau has a number for each known label context and label (feature_space/label_contexts.py),
and the start favors the state at each position: the context that the gold label sequence ends with there. This needs
no matrices.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.higher_order.any_order import no_edges, tree_of
from fastcrf.higher_order.lattice import ContextEdges
from fastcrf.inference.edges import refresh_edges
from fastcrf.inference.forward_backward import AnyEdges, Edges
from fastcrf.inference.steps import is_wide
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.objective.blocks import Blocks
from fastcrf.simd.lanes import add_scaled, load, scale, store
from fastcrf.simd.rows import copy_rows
from fastcrf.simd.widths import aligned_zeros
from fastcrf.solvers.options import check_positive
from fastcrf.stochastic.block_evaluation import infer_current

FIRST_RATE, GROWTH = 0.5, 1.05  # Schmidt et al. (2015), footnote 9
FADED = 1e-17  # of c: exp(c) is 1
LARGEST_INITIAL = 100.0  # larger values make the first potentials' range too large for the recursions


@generic
def favor_gold(edges, blocks, i, c, lanes):  # type: ignore[no-untyped-def]
    """Return edges that add c for sequence i's gold bigrams, or states, at their positions. Writes: edges."""


@generic
def count_favored(edges, blocks, i, c, space):  # type: ignore[no-untyped-def]
    """Return what c adds to the expected score of sequence i, after `infer_current` assumed c = 0.

    This includes the bigrams that `infer_current` omitted. Writes: space.edge_sums (completed).
    """


class Potentials(NamedTuple):
    """The distributions of all sequences."""

    labels: np.ndarray  # [P, Kp] theta; padding -1e300
    transitions: np.ndarray  # [N H, Kp] tau of sequence i in rows i H .. (i + 1) H
    favor: Floats  # [N] c


class Trial(NamedTuple):
    """Work arrays for the trial potentials of one sequence."""

    goal: np.ndarray  # [T, Kp] label scores at the weights, the target for a rate of 1
    labels: np.ndarray  # [T, Kp] potentials
    edges: AnyEdges  # tau; in a chain of order 1 the matrices of all positions, of which the first is tau's


def check_initial(solver: str, initial: object) -> None:
    """Raise `OptionError` unless `initial` is above 0, and small enough that probabilities do not underflow."""
    check_positive(solver, "initial", initial)
    if initial > LARGEST_INITIAL:  # type: ignore[operator]
        raise ValueError(f"{solver}: initial must be at most {LARGEST_INITIAL:g}; got initial={initial!r}.")


def make_potentials(blocks: Blocks, initial: float) -> Potentials:
    """Return potentials in which a gold label or bigram (or state) counts `initial`, any other 0 (Schmidt et al.
    (2015), footnote 9).
    """
    chains, layout = blocks.chains, blocks.layout
    n, P, K, Kp = len(chains.starts) - 1, len(chains.labels), layout.n_labels, layout.padded
    labels = aligned_zeros(P, Kp)
    labels[:, K:] = -1e300
    labels[np.arange(P), chains.labels] = initial
    return Potentials(labels, aligned_zeros(n * layout.n_contexts, Kp), np.full(n, float(initial)))


def make_trial(blocks: Blocks) -> Trial:
    longest, Kp = blocks.widest[2], blocks.layout.padded
    return Trial(aligned_zeros(longest, Kp), aligned_zeros(longest, Kp), make_trial_edges(blocks))


def make_trial_edges(blocks: Blocks) -> AnyEdges:
    longest, Kp, layout = blocks.widest[2], blocks.layout.padded, blocks.layout
    if layout.order > 1:
        return no_edges(layout, tree_of(layout))._replace(favored=np.zeros(longest, np.int64))
    matrices = aligned_zeros(longest * Kp, Kp), aligned_zeros(longest * Kp, Kp)
    return Edges(aligned_zeros(Kp, Kp), *matrices, 0.0, 0.0, 0)


def size_of(blocks: Blocks) -> int:
    """Return the bytes of the potentials and of a trial's matrices."""
    n, P, longest = len(blocks.chains.starts) - 1, len(blocks.chains.labels), blocks.widest[2]
    H, Kp, squares = blocks.layout.n_contexts, blocks.layout.padded, 2 * longest if blocks.layout.order == 1 else 0
    return 8 * (P * Kp + n * H * Kp + n + squares * Kp * Kp)


@outlined_kernel
def blend(potentials, blocks, i, rate, edge_scores, trial, target, lanes):
    """Write (1 - rate) potentials + rate scores of sequence i to `target` (labels) and trial.edges.scores; return their
    c.

    Writes: target, trial.
    """
    starts, H, Kp, W = blocks.chains.starts, blocks.layout.n_contexts, edge_scores.shape[1], len(lanes)
    first, kept = starts[i], 1.0 - rate
    for p in range(first, starts[i + 1]):
        for b in range(0, Kp, W):
            old = scale(kept, load(potentials.labels, p, b, lanes))
            store(target, p - first, b, add_scaled(rate, load(trial.goal, p - first, b, lanes), old))
    for h in range(H):
        for b in range(0, Kp, W):
            old = scale(kept, load(potentials.transitions, i * H + h, b, lanes))
            store(trial.edges.scores, h, b, add_scaled(rate, load(edge_scores, h, b, lanes), old))
    c = kept * potentials.favor[i]
    return c if c > FADED else 0.0


@outlined_kernel
def infer_chain(blocks, i, c, trial, space, lanes):
    """Return the weighted entropy of the chain of sequence i; write its residuals where `infer_block` does.

    Its label potentials are in space.lattice.scores, the others in `trial`. Returns minus infinity if favored bigrams
    and potentials with a large range occur together, which the recursions do not support: such a trial fails.

    Writes: space, trial (labels: the potentials again).
    """
    shared = refresh_edges(trial.edges, blocks.layout.n_labels, space.lattice.bias, lanes)
    edges = shared
    if c > 0.0:
        length = blocks.chains.starts[i + 1] - blocks.chains.starts[i]
        if is_wide(shared, widest_row(space.lattice.scores, length, blocks.layout.n_labels) + c):
            return -math.inf
        edges = favor_gold(shared, blocks, i, c, lanes)
    entropy = infer_current(blocks, i, edges, space, trial.labels, lanes)[1]
    return entropy - count_favored(shared, blocks, i, c, space) if c > 0.0 else entropy


@noalloc_kernel
def widest_row(scores, n_rows, n_labels):
    """Return the largest difference between two labels of one row."""
    widest = 0.0
    for t in range(n_rows):
        high, low = scores[t, 0], scores[t, 0]
        for k in range(1, n_labels):
            high, low = max(high, scores[t, k]), min(low, scores[t, k])
        if not high - low <= widest:  # a NaN counts as too large
            widest = high - low
    return widest


@favor_gold.register(Edges)
def favor_bigrams(edges, blocks, i, c, lanes):
    """Build matrices of each position: tau's, the gold bigram times exp(c). Writes: edges.forward, edges.backward."""
    starts, labels, Kp, factor = blocks.chains.starts, blocks.chains.labels, edges.scores.shape[1], math.exp(c)
    for p in range(starts[i] + 1, starts[i + 1]):
        row, before, after = (p - starts[i]) * Kp, labels[p - 1], labels[p]
        copy_rows(edges.forward, edges.forward[row:], blocks.layout.n_labels, lanes)
        copy_rows(edges.backward, edges.backward[row:], blocks.layout.n_labels, lanes)
        edges.forward[row + before, after] *= factor
        edges.backward[row + after, before] *= factor
    return Edges(edges.scores, edges.forward, edges.backward, edges.top, 0.0, np.int64(Kp))  # type: ignore[arg-type]


@count_favored.register(Edges)
def count_favored_bigrams(edges, blocks, i, c, space):
    starts, labels, lattice = blocks.chains.starts, blocks.chains.labels, space.lattice
    factor, missing = math.exp(c), 0.0
    for p in range(starts[i] + 1, starts[i + 1]):
        t, j, k = p - starts[i], labels[p - 1], labels[p]
        plain = lattice.alpha[t - 1, j] * edges.forward[j, k] * lattice.follow[t, k]
        space.edge_sums[j, k] += (factor - 1.0) * plain
        missing += (factor - 1.0) * plain * edges.scores[j, k] + factor * plain * c
    return missing


@favor_gold.register(ContextEdges)
def favor_states(edges, blocks, i, c, lanes):
    """Set the favored states of sequence i and their factor. Writes: edges.favored."""
    starts, labels = blocks.chains.starts, blocks.chains.labels
    edges.favored[0] = labels[starts[i]]
    for p in range(starts[i] + 1, starts[i + 1]):
        t = p - starts[i]
        edges.favored[t] = edges.following[edges.favored[t - 1], labels[p]]
    return ContextEdges(
        edges.scores, edges.steps, edges.forward, edges.shorter, edges.last, edges.following, edges.starts,
        edges.longer, edges.place, edges.below, edges.favored, math.exp(c), edges.longest, edges.top, 0.0,
    )  # fmt: skip


@count_favored.register(ContextEdges)
def count_favored_states(edges, blocks, i, c, space):
    expected = 0.0
    for t in range(1, blocks.chains.starts[i + 1] - blocks.chains.starts[i]):
        expected += c * space.lattice.favored[t]
    return expected


@noalloc_kernel
def keep_trial(potentials, blocks, i, c, labels, trial, lanes):
    """Store the trial as the potentials of sequence i: `labels`, the edges of `trial`, c. Writes: potentials."""
    starts, H = blocks.chains.starts, blocks.layout.n_contexts
    copy_rows(labels, potentials.labels[starts[i] :], starts[i + 1] - starts[i], lanes)
    copy_rows(trial.edges.scores, potentials.transitions[i * H :], H, lanes)
    potentials.favor[i] = c
