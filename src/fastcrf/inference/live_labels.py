"""Inference over allowed label sequences.

A label is live at a position if some allowed sequence has it there. The scores of other labels are MASKED when `infer`
is called, and transitions that are not allowed have a factor of 0 in the edges. So the recursions of
forward_backward.py need no change: what is not allowed has no probability.

What changes is the range of numbers. There, every label can follow every other one, which bounds how unlikely a label
can become. Here a label that few sequences lead to may become as unlikely as any number, and be the only one that is
allowed later. `all_dense` finds a forward probability near underflow. A step multiplies by exp(-WIDEST_SPREAD) = 5e-131
or more, so none above LEAST can vanish unseen. Such a sequence goes to the log domain, as those with a large range of
scores do. Labels that are not live must be masked, because nothing bounds what follows them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.inference.entropy import expected_bigram_score, expected_edge_score
from fastcrf.inference.expectations import add_bigrams, add_edges, infer, log_partition
from fastcrf.inference.forward_backward import WIDEST_SPREAD, Edges, Lattice, backward, forward, make_edges
from fastcrf.inference.log_domain import log_backward, log_forward
from fastcrf.inference.score_range import IMPOSSIBLE, MASKED
from fastcrf.jit.kernel import kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import flat_rows

NO_SCORE = 1e-200  # the exponential of a masked score is below, those of others above
LEAST = 1e-150  # forward probabilities below are taken for a sign of underflow


class LiveLattice(NamedTuple):
    """The work arrays of a Lattice, for scores of which some are MASKED."""

    scores: np.ndarray
    alpha: np.ndarray
    follow: np.ndarray
    scaling: np.ndarray
    bias: np.ndarray
    start: np.ndarray


def live_lattice(lattice: Lattice) -> LiveLattice:
    return LiveLattice(*lattice)


def allowed_edges(scores: np.ndarray, transitions: np.ndarray, padded: int) -> Edges:
    """Build the edges of a transition matrix [K, K] of which some are not allowed."""
    K, least = len(scores), scores[transitions].min(initial=np.inf)
    edges = make_edges(np.where(transitions, scores, least if transitions.any() else 0.0), padded)
    edges.scores[:K, :K][~transitions] = MASKED
    edges.forward[:K, :K][~transitions] = 0.0
    edges.backward[:K, :K][~transitions.T] = 0.0
    return edges


@kernel
def live_labels(starts, allowed):
    """Return which labels some allowed sequence has at each position, [P, K]: none where no sequence is allowed."""
    K, transitions = len(allowed.transitions), allowed.transitions
    live = np.zeros((starts[-1], K), np.bool_)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        for t in range(first, last):
            for m in range(allowed.starts[allowed.set_of[t]], allowed.starts[allowed.set_of[t] + 1]):
                k = allowed.members[m]
                live[t, k] = t == first
                if t > first:
                    for j in range(K):
                        if live[t - 1, j] and transitions[j, k]:
                            live[t, k] = True
                            break
        for t in range(last - 2, first - 1, -1):
            for j in range(K):
                if live[t, j]:
                    live[t, j] = False
                    for k in range(K):
                        if live[t + 1, k] and transitions[j, k]:
                            live[t, j] = True
                            break
    return live


@outlined_kernel
def shift_live(scores, first, last, n_labels):
    """Subtract the maximum of each row; return (sum of the maxima, widest max - min) of live labels. Writes: scores."""
    maxima, spread = 0.0, 0.0
    for t in range(first, last):
        top, bottom = -math.inf, math.inf
        for k in range(n_labels):
            score = scores[t, k]
            top = max(top, score)
            bottom = min(bottom, score if score > IMPOSSIBLE else math.inf)
        maxima += top
        spread = max(spread, top - bottom)
        for k in range(n_labels):
            scores[t, k] = scores[t, k] - top if scores[t, k] > IMPOSSIBLE else MASKED
    return maxima, spread


@outlined_kernel
def exponentiate_live(scores, first, last):
    """Replace shifted scores by their exponentials, masked ones by exactly 0. Writes: scores."""
    exponentiate(flat_rows(scores, first, last))
    for t in range(first, last):
        for k in range(scores.shape[1]):
            if scores[t, k] < NO_SCORE:
                scores[t, k] = 0.0


@outlined_kernel
def all_dense(alpha, first, last):
    """Return whether no forward probability is near underflow; those of 0 are not reached."""
    for t in range(first, last):
        for h in range(alpha.shape[1]):
            if not alpha[t, h] >= LEAST and alpha[t, h] != 0.0:  # a NaN is not dense
                return False
    return True


@outlined_kernel
def back_to_logs(scores, first, last, n_labels):
    """Undo the exponential of scores. Writes: scores."""
    for t in range(first, last):
        for k in range(n_labels):
            scores[t, k] = math.log(scores[t, k]) if scores[t, k] > 0.0 else MASKED


@infer.register(LiveLattice)
@outlined_kernel
def infer_live(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):
    """Implement `infer` for live labels. Writes: as `infer`."""
    maxima, spread = shift_live(lattice.scores, first, last, n_labels)
    if spread + edges.spread <= WIDEST_SPREAD:
        exponentiate_live(lattice.scores, first, last)
        log_z = forward(lattice, first, last, edges, n_labels, lanes)
        if all_dense(lattice.alpha, first, last):
            backward(lattice, first, last, edges, weight, n_labels, lanes)
            return maxima + log_z + (last - first - 1) * edges.top
        back_to_logs(lattice.scores, first, last, n_labels)
    log_z = log_forward(lattice, first, last, edges, n_labels)
    log_backward(lattice, first, last, edges, weight, n_labels, wide_edges)
    return maxima + log_z


@log_partition.register(LiveLattice)
@outlined_kernel
def log_partition_of_live(lattice, first, last, edges, n_labels, lanes):
    """Implement `log_partition` for live labels. Writes: lattice."""
    maxima, spread = shift_live(lattice.scores, first, last, n_labels)
    if spread + edges.spread <= WIDEST_SPREAD:
        exponentiate_live(lattice.scores, first, last)
        log_z = forward(lattice, first, last, edges, n_labels, lanes)
        if all_dense(lattice.alpha, first, last):
            return maxima + log_z + (last - first - 1) * edges.top
        back_to_logs(lattice.scores, first, last, n_labels)
    return maxima + log_forward(lattice, first, last, edges, n_labels)


@add_edges.register(LiveLattice)
@outlined_kernel
def add_bigrams_of_live(lattice, n_positions, edges, n_labels, sums, lanes):
    """Implement `add_edges`. Writes: sums."""
    add_bigrams(lattice, n_positions, edges, n_labels, sums, lanes)


@expected_edge_score.register(LiveLattice)
@outlined_kernel
def expected_score_of_live(lattice, first, last, edges, wide_edges, n_labels, lanes):
    """Implement `expected_edge_score`. Writes: wide_edges (zeros)."""
    return expected_bigram_score(lattice, first, last, edges, wide_edges, n_labels, lanes)
