"""The linear-chain CRF by enumeration of all label sequences: slow, obvious, and written from the definition.

Transitions are V [K, K]; of a chain of higher order {labels in a row: weight}, of two labels or more.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np


def path_score(scores, transitions, labels):
    """sum_t U[t, y_t] + sum_{t>0} V[y_{t-1}, y_t], or the weights of all labels in a row."""
    total = sum(scores[t][k] for t, k in enumerate(labels))
    if not isinstance(transitions, dict):
        return total + sum(transitions[j][k] for j, k in pairwise(labels))
    return total + sum(transitions.get(gram, 0.0) for gram in grams_of(labels))


def grams_of(labels):
    """All slices of two labels or more."""
    return [tuple(labels[first:last]) for last in range(2, len(labels) + 1) for first in range(last - 1)]


def all_paths(n_positions, n_labels):
    return list(product(range(n_labels), repeat=n_positions))


def log_partition(scores, transitions):
    totals = np.array([path_score(scores, transitions, path) for path in all_paths(*np.shape(scores))])
    return totals.max() + np.log(np.exp(totals - totals.max()).sum())


def marginals(scores, transitions):
    """(node marginals [T, K], edge marginals [T - 1, K, K])."""
    T, K = np.shape(scores)
    nodes, edges = np.zeros((T, K)), np.zeros((max(T - 1, 0), K, K))
    log_z = log_partition(scores, transitions)
    for path in all_paths(T, K):
        p = np.exp(path_score(scores, transitions, path) - log_z)
        for t, k in enumerate(path):
            nodes[t, k] += p
        for t in range(T - 1):
            edges[t, path[t], path[t + 1]] += p
    return nodes, edges


def best_path(scores, transitions):
    """The best path; among equals the one whose last label is lowest, then the label before it, and so on."""
    paths = all_paths(*np.shape(scores))
    return max(paths, key=lambda path: (path_score(scores, transitions, path), [-k for k in reversed(path)]))


def label_scores(corpus, features, weights, i):
    """U of sequence i, [T, K], from the compact weights."""
    first, last = corpus.starts[i], corpus.starts[i + 1]
    scores = np.zeros((last - first, features.n_labels))
    for p in range(first, last):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            a = corpus.attributes[o]
            value = corpus.values[o] if len(corpus.values) else 1.0
            for f in range(features.offsets[a], features.offsets[a + 1]):
                scores[p - first, features.labels[f]] += value * weights[f]
    return scores


def transition_scores(features, weights):
    if features.order > 1:
        return transition_scores_of_grams(features, weights)
    matrix = np.zeros((features.n_labels, features.n_labels))
    for e, (j, k) in enumerate(zip(features.sources, features.targets, strict=True)):
        matrix[j, k] = weights[len(features.labels) + e]
    return matrix


def transition_scores_of_grams(features, weights):
    """{labels in a row: weight}."""
    return dict(zip(grams_with_weights(features), weights[len(features.labels) :], strict=True))


def grams_with_weights(features):
    """The labels in a row that each transition weight belongs to. A source below K is the label before, one below
    K + K^2 is K + k K + j for the labels j, k before, and so on."""
    K, grams = features.n_labels, []
    for source, label in zip(features.sources.tolist(), features.targets.tolist(), strict=True):
        length = 1
        while source >= K**length:
            source, length = source - K**length, length + 1
        before = [source // K**digit % K for digit in range(length)]  # the farthest is the last digit
        grams.append((*before, label))
    return grams


def loss(corpus, features, weights):
    """sum_i s_i * -log p(y_i | x_i)."""
    total, transitions = 0.0, transition_scores(features, weights)
    for i in range(len(corpus.starts) - 1):
        scores = label_scores(corpus, features, weights, i)
        gold = corpus.labels[corpus.starts[i] : corpus.starts[i + 1]]
        weight = corpus.weights[i] if len(corpus.weights) else 1.0
        total += weight * (log_partition(scores, transitions) - path_score(scores, transitions, gold))
    return total


def entropy(scores, transitions):
    log_z = log_partition(scores, transitions)
    logs = np.array([path_score(scores, transitions, path) for path in all_paths(*np.shape(scores))]) - log_z
    return -(np.exp(logs) * logs).sum()
