"""The best label sequence in a chain of order 2: of each sequence of a corpus, and for solvers that decode while they
learn.

    best_t(k, l) = max_j best_{t-1}(j, k) + step(j, k, l) + U(t, l)

Ties go to the lowest label id, at every maximum, as in viterbi.py; there, too, is why the largest is subtracted.
"""

from __future__ import annotations

import numpy as np

from fastcrf.chain.lane_viterbi import best_labelling
from fastcrf.chain.lanes import add, larger, largest, load, shift, store, zeros
from fastcrf.chain.pair_lattice import PairEdges
from fastcrf.chain.score_range import DENSE
from fastcrf.chain.scores import score_positions
from fastcrf.kernel import kernel, ordered_kernel, standing_kernel


@kernel
def best_labels_of_pairs(corpus, features, weights, steps):
    """Best label of each position of each sequence, [P]; steps [K + K K, K] are the scores of histories and labels."""
    K, starts = features.n_labels, corpus.starts
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    widest = np.abs(steps).max()
    scores, best, found = np.empty((longest, K)), np.empty((K, K)), np.empty((K, K))
    came_from = np.empty((longest, K, K), np.int32)
    labels = np.empty(starts[-1], np.int32)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first < last:
            scores[: last - first] = 0.0
            score_positions(corpus, features, weights, first, last, scores)
            best_path_of_pairs(scores, steps, widest, best, found, came_from, labels[first:last])
    return labels


@ordered_kernel
def best_path_of_pairs(scores, steps, widest, best, found, came_from, labels):
    """Best labels of one scored sequence. Writes: labels, came_from; best and found [K, K] are room to work in."""
    T, K = len(labels), scores.shape[1]
    for j in range(K):
        for k in range(K):
            best[j, k] = scores[0, k]  # before the second position there is one label only: any j will do
    for t in range(1, T):
        for k in range(K):
            for m in range(K):
                found[k, m] = best[0, k] + steps[k if t == 1 else K + k * K, m]
                came_from[t, k, m] = 0
            if t > 1:
                for j in range(1, K):
                    for m in range(K):
                        candidate = best[j, k] + steps[K + k * K + j, m]
                        better = candidate > found[k, m]
                        found[k, m] = candidate if better else found[k, m]
                        came_from[t, k, m] = j if better else came_from[t, k, m]
        top = 0.0
        if max(widest, abs(found[0, 0])) > DENSE:
            top = found[0, 0]
            for k in range(K):
                for m in range(K):
                    top = max(top, found[k, m])
        for k in range(K):
            for m in range(K):
                best[k, m] = (found[k, m] - top) + scores[t, m]
    before, label = 0, 0
    for m in range(K):  # the last label counts first, then the one before
        for k in range(K):
            if best[k, m] > best[before, label]:
                before, label = k, m
    labels[T - 1] = label
    for t in range(T - 1, 0, -1):
        labels[t - 1] = before
        before, label = came_from[t, before, label], before


@best_labelling.register(PairEdges)
@standing_kernel
def best_labelling_of_pairs(edges, lattice, n_labels, labels, lanes):
    """As `best_labelling`. Writes: labels, lattice.alpha (the best of pairs; where that is large, less the largest)."""
    T, best, scores = len(labels), lattice.alpha, edges.scores
    for b in range(0, best.shape[1], len(lanes)):
        store(best, 0, b, load(lattice.scores, 0, b, lanes))
    for t in range(1, T):
        top, before = -1e308, (t - 1) * n_labels
        for b in range(0, best.shape[1], len(lanes)):
            for k in range(n_labels):
                h = n_labels + k * n_labels
                found = shift(zeros(lanes), best[before, k])
                if t > 1:
                    found = add(found, load(scores, h, b, lanes))
                    for j in range(1, n_labels):
                        found = larger(found, shift(load(scores, h + j, b, lanes), best[before + j, k]))
                found = add(add(found, load(scores, k, b, lanes)), load(lattice.scores, t, b, lanes))
                store(best, t * n_labels + k, b, found)
                top = max(top, largest(found))
        if abs(top) > DENSE:  # large numbers are far apart: keep the differences
            for r in range(t * n_labels, (t + 1) * n_labels):
                for b in range(0, best.shape[1], len(lanes)):
                    store(best, r, b, shift(load(best, r, b, lanes), -top))
    trace_back(edges, best, n_labels, labels)


@standing_kernel
def trace_back(edges, best, n_labels, labels):
    """From the best pairs at each position to the best labelling; of equals the lowest. Writes: labels."""
    T, scores = len(labels), edges.scores
    last, nearer, label = (T - 1) * n_labels, 0, 0
    for m in range(n_labels):
        for k in range(n_labels if T > 1 else 1):
            if best[last + k, m] > best[last + nearer, label]:
                nearer, label = k, m
    labels[T - 1] = label
    for t in range(T - 1, 0, -1):
        labels[t - 1] = nearer
        row, farther = (t - 1) * n_labels, 0
        if t > 1:
            h = n_labels + nearer * n_labels
            for j in range(1, n_labels):
                if (
                    best[row + j, nearer] + scores[h + j, label]
                    > best[row + farther, nearer] + scores[h + farther, label]
                ):
                    farther = j
        nearer, label = farther, nearer
