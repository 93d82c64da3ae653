"""Scaled forward-backward of chains of higher order: the states are the known label contexts (label_contexts.py).

With B_t, M and the scaling of forward_backward.py, M of a step from a context h to a label l, and h l the longest known
context that h and l end with:

    alpha_t(h') = sum of alpha_{t-1}(h) M(h, l) B_t(l) / z_{t-1} over all h, l with h l = h',    z_t = sum_h alpha_t(h)
    follow_t(h') = B_t(l) beta_t(h') / z_{t-1},       beta_{t-1}(h) = sum_l M(h, l) follow_t(h l)
    posterior_t(l) = sum of alpha_t(h) beta_t(h) over all h that end with l
    step_t(h, l) = alpha_{t-1}(h) M(h, l) follow_t(h l)

Most steps lead to the same state as those of the next shorter context. Rows over l therefore stay rows. In the forward
recursion, a row of alpha(h) M(h, l) loses the steps that lead to longer contexts than those of the shorter one, and the
rest is added to the shorter one's row. In the backward recursion, a row of follow(h l) is that of the shorter one with
a few numbers replaced. A context without known continuations has no row of its own, but its shorter one's (`place`). A
token therefore costs H rows of multiply-adds and H single numbers.

With s as there, alpha_t(h) >= exp(-n s) / K^(n-1) for a context of n labels, and follow_t <= exp(n s): the limit of the
spread shrinks in proportion to the length of contexts longer than two labels (`longest`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.feature_space.label_contexts import Tree, lengths_of, with_shorter
from fastcrf.inference.forward_backward import LARGEST_PRODUCT, SMALLEST_PRODUCT, WIDEST_SPREAD, make_lattice
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel, outlined_kernel
from fastcrf.simd.lanes import add, add_scaled, load, multiply, store, total, zeros
from fastcrf.simd.widths import aligned_zeros


class ContextEdges(NamedTuple):
    """Transition scores of a chain of higher order, a row for each known context; contexts.Tree has the target of each
    step.
    """

    scores: np.ndarray  # [H, Kp] weights; 0 where there is none
    steps: np.ndarray  # [H, Kp] scores of steps: the weights of the whole context and of all contexts that it ends with
    forward: np.ndarray  # [H, Kp] exp(steps - top)
    shorter: Longs
    last: Longs
    following: Longs
    starts: Longs
    longer: Longs
    place: Longs
    below: Longs
    favored: Longs  # [T] row that counts `factor` times at each position but the first, or [0] (solvers/dual)
    factor: float
    longest: float  # labels of the longest context, at least 2
    top: float  # largest step
    spread: float  # largest - smallest step


class ContextLattice(NamedTuple):
    """Work arrays for one block of positions, owned by one thread."""

    scores: np.ndarray  # [B, Kp] U, then exp, then posterior of the labels
    alpha: np.ndarray  # [B, H] scaled forward
    follow: np.ndarray  # [B, H] B_t beta_t / z_{t-1}; 0 at the first position of a sequence
    scaling: np.ndarray  # [B] 1 / z_{t-1}
    bias: np.ndarray  # [2, Kp] row 0: 0, padding -1e300; row 1: 0, padding -2e300
    start: np.ndarray  # [1, Kp] 1, padding 0
    rows: np.ndarray  # [H + 1, Kp] of the steps to the next position; 0 between two uses in `forward`
    beta: np.ndarray  # [H] of one position
    came_from: np.ndarray  # [B, H] int32, for decoding
    favored: np.ndarray  # [B] posterior of the favored row


def make_context_lattice(n_positions: int, tree: Tree, padded: int) -> ContextLattice:
    H, K = len(tree.numbers), tree.following.shape[1]
    of_labels = make_lattice(n_positions, K, padded)
    return ContextLattice(
        scores=of_labels.scores,
        alpha=np.zeros((n_positions, H)),
        follow=np.zeros((n_positions, H)),
        scaling=of_labels.scaling,
        bias=of_labels.bias,
        start=of_labels.start,
        rows=aligned_zeros(H + 1, padded),
        beta=np.zeros(H),
        came_from=np.zeros((n_positions, H), np.int32),
        favored=np.zeros(n_positions),
    )


def make_context_edges(scores: Floats, tree: Tree, padded: int) -> ContextEdges:
    """Build the edges of the weights [H, K] of label contexts and labels."""
    H, K = scores.shape
    steps = with_shorter(scores, tree)
    top, low = float(steps.max()), float(steps.min())
    padded_scores, padded_steps, forward = (aligned_zeros(H, padded) for _ in range(3))
    padded_scores[:, :K], padded_steps[:, :K], forward[:, :K] = scores, steps, np.exp(steps - top)
    longest = float(max(2, lengths_of(tree.numbers, K).max()))
    nobody = np.empty(0, np.int64)
    return ContextEdges(
        padded_scores, padded_steps, forward, *tree[1:], nobody, 1.0, longest, top, top - low
    )  # fmt: skip


@noalloc_kernel
def too_wide(edges, spread):
    """Return whether the score range of a sequence is too large for probabilities, given the spread of its label
    scores.
    """
    return not (spread + edges.spread) * edges.longest <= 2.0 * WIDEST_SPREAD  # a NaN counts as too large


@outlined_kernel
def lead_on(alpha, t, edges, matrix, rows, reached, n_labels, lanes):
    """Compute reached[h'] = sum of alpha[t - 1, h] matrix(h, l) over all steps that lead to h'.

    Writes: reached [H]; rows, which are 0 before and after.
    """
    Kp, W, root = rows.shape[1], len(lanes), len(edges.shorter)
    end = root
    while end > 0:
        row, begin = edges.place[end - 1], end - 1
        while begin > 0 and edges.place[begin - 1] == row:  # neighbors mostly share their shorter one
            begin -= 1
        for b in range(0, Kp, W):
            add_rows_times(alpha, t - 1, matrix, begin, end, rows, row, b, lanes)
        if row == begin:
            for o in range(edges.starts[row], edges.starts[row + 1]):
                longer = edges.longer[o]
                reached[longer] = rows[row, edges.last[longer]]
                rows[row, edges.last[longer]] = 0.0
            for b in range(0, Kp, W):
                store(rows, edges.below[row], b, add(load(rows, row, b, lanes), load(rows, edges.below[row], b, lanes)))
                store(rows, row, b, zeros(lanes))
        end = begin
    for k in range(n_labels):
        reached[k] = rows[root, k]
    for b in range(0, Kp, W):
        store(rows, root, b, zeros(lanes))


@inlined_kernel
def add_rows_times(vectors, t, matrix, first, last, target, row, b, lanes):
    """Add panel b of target[row] += vectors[t, first:last] @ matrix[first:last]; two accumulators hide the latency.

    Writes: target.
    """
    even, odd = load(target, row, b, lanes), zeros(lanes)
    for h in range(first, last - 1, 2):
        even = add_scaled(vectors[t, h], load(matrix, h, b, lanes), even)
        odd = add_scaled(vectors[t, h + 1], load(matrix, h + 1, b, lanes), odd)
    if (last - first) % 2 == 1:
        even = add_scaled(vectors[t, last - 1], load(matrix, last - 1, b, lanes), even)
    store(target, row, b, add(even, odd))


@outlined_kernel
def look_ahead(follow, t, edges, rows, n_labels, lanes):
    """Set rows[place(h), l] = follow[t, h l], the successors of each context. Writes: rows, except those of no
    place.
    """
    root = len(edges.shorter)
    for k in range(n_labels):
        rows[root, k] = follow[t, k]
    for h in range(root):
        if edges.place[h] == h:
            for b in range(0, rows.shape[1], len(lanes)):
                store(rows, h, b, load(rows, edges.below[h], b, lanes))
            for o in range(edges.starts[h], edges.starts[h + 1]):
                longer = edges.longer[o]
                rows[h, edges.last[longer]] = follow[t, longer]


@outlined_kernel
def clear_ahead(rows, lanes):
    """Set the rows to 0, as `lead_on` requires. Writes: rows."""
    for r in range(len(rows)):
        for b in range(0, rows.shape[1], len(lanes)):
            store(rows, r, b, zeros(lanes))


@noalloc_kernel
def row_product(matrix, h, rows, place, lanes):
    """Return matrix[h] . rows[place]."""
    sums = zeros(lanes)
    for b in range(0, rows.shape[1], len(lanes)):
        sums = add(sums, multiply(load(matrix, h, b, lanes), load(rows, place, b, lanes)))
    return total(sums)


@outlined_kernel
def context_forward(lattice, first, last, edges, n_labels, lanes):
    """Return the log of the sum over label sequences of the shifted scores of positions first..last-1.

    Writes: lattice.alpha, lattice.scaling (whose first entry holds the last z until it is read by `context_backward`),
    lattice.rows (zeros again).
    """
    scores, alpha, H = lattice.scores, lattice.alpha, len(edges.shorter)
    z, product, logs = 0.0, 1.0, 0.0
    for h in range(H):
        alpha[first, h] = scores[first, h] if h < n_labels else 0.0
        z += alpha[first, h]
    for t in range(first + 1, last):
        lattice.scaling[t] = 1.0 / z
        product *= z
        if product < SMALLEST_PRODUCT or product > LARGEST_PRODUCT:
            logs += math.log(product)
            product = 1.0
        lead_on(alpha, t, edges, edges.forward, lattice.rows, alpha[t], n_labels, lanes)
        if edges.factor != 1.0:
            alpha[t, edges.favored[t - first]] *= edges.factor
        z = 0.0
        for h in range(H):
            alpha[t, h] *= scores[t, edges.last[h]] * lattice.scaling[t]
            z += alpha[t, h]
    lattice.scaling[first] = z
    return logs + math.log(product) + math.log(z)


@outlined_kernel
def context_backward(lattice, first, last, edges, weight, n_labels, lanes):
    """Compute posteriors of the labels, times the sequence's weight.

    Writes: lattice.scores (posteriors), lattice.follow, .scaling, .beta, .favored; lattice.rows (zeros again).
    """
    beta, scaling, H = lattice.beta, lattice.scaling, len(edges.shorter)
    for h in range(H):
        beta[h] = weight / scaling[first]
    scaling[first] = 0.0  # makes follow 0 at the first position: no step leads there
    for t in range(last - 1, first - 1, -1):
        if t < last - 1:
            look_ahead(lattice.follow, t + 1, edges, lattice.rows, n_labels, lanes)
            for h in range(H):
                beta[h] = row_product(edges.forward, h, lattice.rows, edges.place[h], lanes)
        follow_contexts(lattice, t, edges)
        if edges.factor != 1.0 and t > first:
            gold = edges.favored[t - first]
            lattice.favored[t] = lattice.alpha[t, gold] * beta[gold]
            lattice.follow[t, gold] *= edges.factor
    clear_ahead(lattice.rows, lanes)


@outlined_kernel
def follow_contexts(lattice, t, edges):
    """Compute follow and posteriors at position t from beta. Writes: rows t of lattice.follow and lattice.scores."""
    scores, beta = lattice.scores, lattice.beta
    for h in range(len(beta)):
        lattice.follow[t, h] = scores[t, edges.last[h]] * lattice.scaling[t] * beta[h]
    for k in range(scores.shape[1]):
        scores[t, k] = 0.0
    posterior, label = 0.0, edges.last[0]
    for h in range(len(beta)):  # neighbors mostly end with the same label
        if edges.last[h] != label:
            scores[t, label] += posterior
            posterior, label = 0.0, edges.last[h]
        posterior += lattice.alpha[t, h] * beta[h]
    scores[t, label] += posterior
