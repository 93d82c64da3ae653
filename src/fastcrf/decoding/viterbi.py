"""The best label sequence of each sequence of a corpus.

    best_t(k) = max_j best_{t-1}(j) + V(j, k) + U(t, k)

Ties go to the lowest label id, at every maximum, as in CRFsuite. Where scores are large, the largest is subtracted from
best_t at every position, so that they leave the differences after them as they are.
"""

from __future__ import annotations

import numpy as np

from fastcrf.decoding.scores import fill_transitions, score_positions
from fastcrf.inference.score_range import DENSE
from fastcrf.jit.kernel import kernel, strict_kernel


@kernel
def best_labels(corpus, features, weights):
    """Return the best label of each position of each sequence, [P]."""
    K, starts = features.n_labels, corpus.starts
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    transitions = np.zeros((K, K))
    fill_transitions(features, weights, transitions)
    widest = np.abs(transitions).max()
    scores = np.empty((longest, K))
    came_from, best = np.empty((longest, K), np.int32), np.empty(K)
    labels = np.empty(starts[-1], np.int32)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first < last:
            scores[: last - first] = 0.0
            score_positions(corpus, features, weights, first, last, scores)
            best_path(scores, transitions, widest, best, came_from, labels[first:last])
    return labels


@strict_kernel
def best_path(scores, transitions, widest, best, came_from, labels):
    """Return the best labels of one scored sequence; `widest` is the size of the largest transition.

    Writes: labels, scores (best_t, where it is large less the largest before), came_from; best [K] is work space.
    """
    T, K = len(labels), scores.shape[1]
    for t in range(1, T):
        for k in range(K):
            best[k] = scores[t - 1, 0] + transitions[0, k]
            came_from[t, k] = 0
        for j in range(1, K):
            so_far = scores[t - 1, j]
            for k in range(K):
                candidate = so_far + transitions[j, k]
                better = candidate > best[k]
                best[k] = candidate if better else best[k]
                came_from[t, k] = j if better else came_from[t, k]
        if max(widest, abs(best[0])) > DENSE:  # best[0] is as large as any, but for transitions
            top = best[0]
            for k in range(1, K):
                top = max(top, best[k])
            for k in range(K):
                best[k] -= top
        for k in range(K):
            scores[t, k] += best[k]
    label = 0
    for k in range(1, K):
        if scores[T - 1, k] > scores[T - 1, label]:
            label = k
    labels[T - 1] = label
    for t in range(T - 1, 0, -1):
        label = came_from[t, label]
        labels[t - 1] = label
