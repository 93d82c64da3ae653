"""Viterbi decoding of higher-order chains, compiled."""

from __future__ import annotations

import numpy as np

from fastcrf.decoding.allowed_viterbi import mark_if_not_allowed
from fastcrf.decoding.scores import score_positions
from fastcrf.higher_order.viterbi import best_path_of_contexts
from fastcrf.inference.score_range import MASKED
from fastcrf.jit.kernel import kernel


@kernel
def best_labels_of_contexts(corpus, features, weights, edges, lattice):
    """Return the best label of each position of each sequence, [P]. Writes: lattice."""
    K, starts = features.n_labels, corpus.starts
    labels = np.empty(starts[-1], np.int32)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first < last:
            lattice.scores[: last - first] = 0.0
            score_positions(corpus, features, weights, first, last, lattice.scores)
            best_path_of_contexts(edges, lattice, K, labels[first:last])
    return labels


@kernel
def best_allowed_labels_of_contexts(corpus, features, weights, edges, lattice, allowed):
    """Return the best allowed label of each position of each sequence, [P]. Writes: lattice."""
    K, starts = features.n_labels, corpus.starts
    labels = np.empty(starts[-1], np.int32)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first < last:
            lattice.scores[: last - first] = 0.0
            score_positions(corpus, features, weights, first, last, lattice.scores)
            for t in range(last - first):
                for k in range(K):
                    if not allowed.sets[allowed.set_of[first + t], k]:
                        lattice.scores[t, k] = MASKED
            best_path_of_contexts(edges, lattice, K, labels[first:last])
            mark_if_not_allowed(allowed, first, labels[first:last])
    return labels
