"""The best allowed label sequence of each sequence of a corpus, compiled (viterbi.py, with sets of labels).

A step goes from the members of one set to those of the next, so that a dictionary saves time. A large set is computed
as a whole, in vector lanes: what labels outside of it would get is never read. Transitions that are not allowed score
MASKED. Where no label sequence is allowed, the first label of the sequence is NONE.
"""

from __future__ import annotations

import math

import numpy as np

from fastcrf.decoding.scores import fill_transitions, score_positions
from fastcrf.inference.score_range import DENSE, MASKED
from fastcrf.jit.kernel import kernel, strict_kernel

NONE = -1
FEW = 4  # a set of fewer than a quarter of the labels is computed label by label


@kernel
def best_allowed_labels(corpus, features, weights, allowed):
    """Return the best allowed label of each position of each sequence, [P]."""
    K, starts = features.n_labels, corpus.starts
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    transitions = np.zeros((K, K))
    fill_transitions(features, weights, transitions)
    widest = 0.0
    for j in range(K):
        for k in range(K):
            if allowed.transitions[j, k]:
                widest = max(widest, abs(transitions[j, k]))
            else:
                transitions[j, k] = MASKED
    scores = np.empty((longest, K))
    came_from, best = np.zeros((longest, K), np.int32), np.empty(K)
    labels = np.empty(starts[-1], np.int32)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first < last:
            scores[: last - first] = 0.0
            score_positions(corpus, features, weights, first, last, scores)
            best_allowed_path(scores, transitions, widest, allowed, first, best, came_from, labels[first:last])
            mark_if_not_allowed(allowed, first, labels[first:last])
    return labels


@kernel
def best_allowed_of_scores(starts, scores, allowed):
    """Return the labels with the highest sum of scores [P, K] among those that are allowed, [P]. Writes: scores."""
    K = scores.shape[1]
    transitions = np.where(allowed.transitions, 0.0, MASKED)
    labels, best = np.empty(starts[-1], np.int32), np.empty(K)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first < last:
            came_from = np.zeros((last - first, K), np.int32)
            best_allowed_path(scores[first:last], transitions, 0.0, allowed, first, best, came_from, labels[first:last])
            mark_if_not_allowed(allowed, first, labels[first:last])
    return labels


@strict_kernel
def best_allowed_path(scores, transitions, widest, allowed, first, best, came_from, labels):
    """Find the best labels of one scored sequence, whose first position is `first`.

    Writes: labels, scores (best_t, where it is large less the largest before), came_from; best [K] is work space.
    """
    T, K, starts, members = len(labels), scores.shape[1], allowed.starts, allowed.members
    for t in range(1, T):
        before, here = allowed.set_of[first + t - 1], allowed.set_of[first + t]
        a, b, c, d = starts[before], starts[before + 1], starts[here], starts[here + 1]
        for k in range(K):
            best[k] = -math.inf
        if (d - c) * FEW < K:
            for m in range(a, b):
                j = members[m]
                for n in range(c, d):
                    k = members[n]
                    candidate = scores[t - 1, j] + transitions[j, k]
                    if candidate > best[k]:
                        best[k], came_from[t, k] = candidate, j
        else:
            for m in range(a, b):
                j = members[m]
                so_far = scores[t - 1, j]
                for k in range(K):
                    candidate = so_far + transitions[j, k]
                    better = candidate > best[k]
                    best[k] = candidate if better else best[k]
                    came_from[t, k] = j if better else came_from[t, k]
        top = -math.inf
        for n in range(c, d):
            top = max(top, best[members[n]])
        if max(widest, abs(top)) <= DENSE:
            top = 0.0
        for n in range(c, d):
            scores[t, members[n]] += best[members[n]] - top
    end = allowed.set_of[first + T - 1]
    label, highest = members[starts[end]] if starts[end] < starts[end + 1] else np.int32(0), -math.inf
    for n in range(starts[end], starts[end + 1]):
        if scores[T - 1, members[n]] > highest:
            label, highest = members[n], scores[T - 1, members[n]]
    labels[T - 1] = label
    for t in range(T - 1, 0, -1):
        label = came_from[t, label]
        labels[t - 1] = label


@strict_kernel
def mark_if_not_allowed(allowed, first, labels):
    """Set the first label to NONE if any label is not allowed. Writes: labels."""
    right = True
    for t in range(len(labels)):
        right = right and allowed.sets[allowed.set_of[first + t], labels[t]]
        right = right and (t == 0 or allowed.transitions[labels[t - 1], labels[t]])
    if not right:
        labels[0] = NONE
