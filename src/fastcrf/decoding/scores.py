"""Label scores straight from the compact weights: for tagging, where a corpus is seen once and no layout pays."""

from __future__ import annotations

import math

from fastcrf.jit.kernel import kernel


@kernel
def score_positions(corpus, features, weights, first, last, scores):
    """Add to scores[t, k] the sum over the known attributes a of position first + t of value_a * w[a, k].

    Writes: scores.
    """
    has_values = len(corpus.values) > 0
    for p in range(first, last):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            a = corpus.attributes[o]
            if a < 0:
                continue
            value = corpus.values[o] if has_values else 1.0
            for f in range(features.offsets[a], features.offsets[a + 1]):
                scores[p - first, features.labels[f]] += value * weights[f]


@kernel
def fill_transitions(features, weights, matrix):
    """Set matrix[j, k] = w[j, k] for the label bigrams that have a weight; the rest stays 0. Writes: matrix."""
    n_state = len(features.labels)
    for e in range(len(features.sources)):
        matrix[features.sources[e], features.targets[e]] = weights[n_state + e]


@kernel
def score_allowed(corpus, features, weights, mask, first, last, scores):
    """Set scores[t, k] of positions first..last-1, and the row after them to 0.

    Labels that are not in the mask [P, K] get -inf; a mask [0, K] has all. Writes: scores.
    """
    scores[: last - first + 1] = 0.0
    score_positions(corpus, features, weights, first, last, scores)
    if len(mask) > 0:
        for p in range(first, last):
            for k in range(mask.shape[1]):
                if not mask[p, k]:
                    scores[p - first, k] = -math.inf
