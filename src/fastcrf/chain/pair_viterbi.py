"""The best label sequence of each sequence of a corpus, in a chain of order 2.

    best_t(k, l) = max_j best_{t-1}(j, k) + step(j, k, l) + U(t, l)

Ties go to the lowest label id, at every maximum, as in viterbi.py; there, too, is why the largest is subtracted.
"""

from __future__ import annotations

import numpy as np

from fastcrf.chain.score_range import DENSE
from fastcrf.chain.scores import score_positions
from fastcrf.kernel import kernel, ordered_kernel


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
