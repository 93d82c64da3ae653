"""Viterbi for one sequence with padded score rows, for solvers that decode during training.

    best_t(k) = max_j best_{t-1}(j) + V(j, k) + U(t, k)

The forward pass stores only the maxima, in registers. The backward pass finds the predecessors along the best path
alone: T K comparisons instead of T K^2. Ties go to the lowest label id, as in viterbi.py, which computes the same sums.
"""

from __future__ import annotations

from fastcrf.inference.forward_backward import Edges
from fastcrf.inference.score_range import DENSE
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.simd.lanes import add, larger, largest, load, shift, store


@generic
def best_labeling(edges, lattice, n_labels, labels, lanes):  # type: ignore[no-untyped-def]
    """Find the best labels of one sequence, whose label scores are in the lattice. Writes: labels, lattice.

    Implemented in lane_viterbi.py and higher_order/viterbi.py.
    """


@best_labeling.register(Edges)
def best_labeling_of_bigrams(edges, lattice, n_labels, labels, lanes):
    best_path_in_lanes(lattice.scores, edges.scores, n_labels, labels, lanes)


@outlined_kernel
def best_path_in_lanes(scores, transitions, n_labels, labels, lanes):
    """Find the best labels of one scored sequence. Writes: labels, scores (best_t; minus the largest if that is
    large).
    """
    T, Kp, W = len(labels), scores.shape[1], len(lanes)
    for t in range(1, T):
        top = -1e308
        for b in range(0, Kp, W):
            best = shift(load(transitions, 0, b, lanes), scores[t - 1, 0])
            for j in range(1, n_labels):
                best = larger(best, shift(load(transitions, j, b, lanes), scores[t - 1, j]))
            best = add(best, load(scores, t, b, lanes))
            store(scores, t, b, best)
            top = max(top, largest(best))
        if abs(top) > DENSE:  # large numbers have few digits after the point: store the differences
            for b in range(0, Kp, W):
                store(scores, t, b, shift(load(scores, t, b, lanes), -top))
    label = 0
    for k in range(1, n_labels):
        if scores[T - 1, k] > scores[T - 1, label]:
            label = k
    labels[T - 1] = label
    for t in range(T - 1, 0, -1):
        before, highest = 0, scores[t - 1, 0] + transitions[0, label]
        for j in range(1, n_labels):
            found = scores[t - 1, j] + transitions[j, label]
            if found > highest:
                before, highest = j, found
        label = before
        labels[t - 1] = label
