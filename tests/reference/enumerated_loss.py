"""f_i(w) = s_i nll_i(w), its gradient and Hessian, from a table of the feature counts of every labeling.

The loss of a sequence is a log-sum-exp of functions that are linear in w, so this is all there is to it; with the table
it is fast enough for a mean over many runs.
"""

from __future__ import annotations

import numpy as np

from reference import brute_force


class EnumeratedLoss:
    def __init__(self, corpus, features):
        self.n, self.n_weights = corpus.n_sequences, features.n_weights
        self.weights = corpus.weights if len(corpus.weights) else np.ones(self.n)
        self.counts, self.gold = zip(*(count_all(corpus, features, i) for i in range(self.n)), strict=True)

    def value(self, i, w):
        scores = self.counts[i] @ w
        return self.weights[i] * (scores.max() + np.log(np.exp(scores - scores.max()).sum()) - self.gold[i] @ w)

    def gradient(self, i, w):
        return self.weights[i] * (self.probabilities(i, w) @ self.counts[i] - self.gold[i])

    def hessian(self, i, w):
        p = self.probabilities(i, w)
        centred = self.counts[i] - p @ self.counts[i]
        return self.weights[i] * centred.T @ (p[:, None] * centred)

    def probabilities(self, i, w):
        """Of the labelings of sequence i."""
        scores = self.counts[i] @ w
        p = np.exp(scores - scores.max())
        return p / p.sum()


def count_all(corpus, features, i):
    """(counts of all labelings of sequence i, [labelings, weights], counts of its gold labels)."""
    length = int(corpus.starts[i + 1] - corpus.starts[i])
    paths = brute_force.all_paths(length, features.n_labels)
    gold = tuple(corpus.labels[corpus.starts[i] : corpus.starts[i + 1]].tolist())
    counts = np.empty((len(paths), features.n_weights))
    for f, w in enumerate(np.eye(features.n_weights)):  # scores are linear in w: those of a unit vector are counts
        scores = brute_force.label_scores(corpus, features, w, i)
        transitions = brute_force.transition_scores(features, w)
        counts[:, f] = [brute_force.path_score(scores, transitions, path) for path in paths]
    return counts, counts[paths.index(gold)]
