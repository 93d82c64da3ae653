"""Block coordinate descent from the paper's update, with marginals by enumeration at every block."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reference import brute_force


def sweeps(corpus, features, c1, c2, n, kappa=1.5):
    """Weights after 0..n sweeps from zero."""
    w, n_state = np.zeros(features.n_weights), len(features.labels)
    found = [w.copy()]
    blocks = [range(*bounds) for bounds in pairwise(features.offsets)] + [range(n_state, features.n_weights)]
    for _ in range(n):
        for block in blocks:
            update(w, list(block), *slopes_and_curvatures(corpus, features, w), c1, c2, kappa)
        found.append(w.copy())
    return found


def update(w, block, g, h, c1, c2, kappa):
    if not block:
        return
    h = h[block] * kappa * max(1.0, np.abs(g[block] / h[block]).max())
    z = h * w[block] - g[block]
    w[block] = np.sign(z) * np.maximum(np.abs(z) - c1, 0.0) / (h + 2.0 * c2)


def slopes_and_curvatures(corpus, features, w):
    """Of every weight: sum of x (p - gold), and sum of x^2 p (1 - p)."""
    g, h, n_state = np.zeros(len(w)), np.zeros(len(w)), len(features.labels)
    transitions = brute_force.transition_scores(features, w)
    for i in range(corpus.n_sequences):
        weight = corpus.weights[i] if len(corpus.weights) else 1.0
        scores = brute_force.label_scores(corpus, features, w, i)
        nodes, _ = brute_force.marginals(scores, transitions)
        first = corpus.starts[i]
        gold = corpus.labels[first : corpus.starts[i + 1]]
        for t, labels in enumerate(nodes):
            for o in range(corpus.offsets[first + t], corpus.offsets[first + t + 1]):
                a, x = corpus.attributes[o], corpus.values[o] if len(corpus.values) else 1.0
                for f in range(features.offsets[a], features.offsets[a + 1]):
                    p = labels[features.labels[f]]
                    g[f] += weight * x * (p - (gold[t] == features.labels[f]))
                    h[f] += weight * x * x * p * (1.0 - p)
        paths = {
            path: brute_force.path_score(scores, transitions, path) for path in brute_force.all_paths(*scores.shape)
        }
        log_z = brute_force.log_partition(scores, transitions)
        for e, gram in enumerate(brute_force.grams_with_weights(features)):
            for last in range(len(gram), len(gold) + 1):
                held = slice(last - len(gram), last)
                p = sum(np.exp(score - log_z) for path, score in paths.items() if path[held] == gram)
                g[n_state + e] += weight * (p - (tuple(gold[held]) == gram))
                h[n_state + e] += weight * p * (1.0 - p)
    return g, h
