"""Viterbi in a chain of higher order, for each sequence of a corpus and for solvers that decode during training.

    best_t(h') = max of best_{t-1}(h) + step(h, l) + U(t, l) over all h, l that lead to h'

Ties go to the lowest label id, the last label first, then the previous one, as in viterbi.py, which also explains why
the largest is subtracted. Contexts of different lengths do not say which labels are lower, so ties are decided by
comparing their paths.
"""

from __future__ import annotations

import math

import numpy as np

from fastcrf.higher_order.lattice import ContextEdges
from fastcrf.inference.lane_viterbi import best_labeling
from fastcrf.inference.score_range import DENSE
from fastcrf.jit.kernel import outlined_kernel, strict_kernel
from fastcrf.simd.lanes import add, load, store


@best_labeling.register(ContextEdges)
@outlined_kernel
def best_labeling_of_contexts(edges, lattice, n_labels, labels, lanes):
    """Implement `best_labeling`. Writes: edges.steps (those of edges.scores), labels, lattice."""
    for h in range(len(edges.shorter)):
        for b in range(0, edges.steps.shape[1], len(lanes)):
            row = load(edges.scores, h, b, lanes)
            if edges.shorter[h] >= 0:
                row = add(row, load(edges.steps, edges.shorter[h], b, lanes))
            store(edges.steps, h, b, row)
    best_path_of_contexts(edges, lattice, n_labels, labels)


@strict_kernel
def best_path_of_contexts(edges, lattice, n_labels, labels):
    """Find the best labels of one sequence, whose label scores are in the lattice.

    Writes: labels, lattice.alpha (the best; minus the largest if that is large), lattice.came_from.
    """
    T, best, came_from, scores = len(labels), lattice.alpha, lattice.came_from, lattice.scores
    for h in range(best.shape[1]):
        best[0, h] = scores[0, h] if h < n_labels else -math.inf
    for t in range(1, T):
        for h in range(best.shape[1]):
            best[t, h] = -math.inf
        for h in range(best.shape[1]):
            if best[t - 1, h] > -math.inf:
                for k in range(n_labels):
                    there, found = edges.following[h, k], best[t - 1, h] + edges.steps[h, k]
                    other = np.int64(came_from[t, there])
                    if found > best[t, there] or (
                        found == best[t, there] and is_lower(edges.last, came_from, t - 1, h, other)
                    ):
                        best[t, there], came_from[t, there] = found, h
        add_label_scores(best, scores, edges.last, t)
    state = np.int64(0)
    for h in range(1, best.shape[1]):
        tie = best[T - 1, h] == best[T - 1, state]
        if best[T - 1, h] > best[T - 1, state] or (tie and is_lower(edges.last, came_from, T - 1, h, state)):
            state = np.int64(h)
    for t in range(T - 1, -1, -1):
        labels[t] = edges.last[state]
        state = np.int64(came_from[t, state])


@strict_kernel
def add_label_scores(best, scores, last, t):
    """Compute best_t from the best steps, minus the largest if that is large. Writes: row t of best."""
    top = -math.inf
    for h in range(best.shape[1]):
        top = max(top, best[t, h])
    if abs(top) <= DENSE:
        top = 0.0
    for h in range(best.shape[1]):
        best[t, h] = (best[t, h] - top) + scores[t, last[h]]


@strict_kernel
def is_lower(last, came_from, t, one, other):
    """Return whether the best path to `one` at position t has a lower label than that to `other` at their last
    difference.
    """
    while t >= 0 and one != other:
        if last[one] != last[other]:
            return last[one] < last[other]
        one, other = came_from[t, one], came_from[t, other]
        t -= 1
    return False
