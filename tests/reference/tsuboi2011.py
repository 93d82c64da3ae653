"""The Hessian-vector product of Tsuboi et al. (2011) to the letter, by its tables A, B and M.

All conditional probabilities are quotients of the marginals of equation 1, which come from enumeration.
"""

from __future__ import annotations

import numpy as np

from reference import brute_force


class ByTables:
    """f, its gradient and its Hessian, one product for each column, with 1 / sigma^2 = 2 c2."""

    def __init__(self, loss, c2):
        self.loss, self.ridge = loss, 2 * c2

    def gradient(self, theta):
        f = sum(self.loss.value(i, theta) for i in range(self.loss.n)) + self.ridge / 2 * theta @ theta
        return f, sum(self.loss.gradient(i, theta) for i in range(self.loss.n)) + self.ridge * theta

    def hessian(self, theta):
        return np.array([self.product(theta, r) for r in np.eye(len(theta))])

    def product(self, theta, r):
        return sum(instance_product(self.loss, n, theta, r) for n in range(self.loss.n)) + self.ridge * r


def instance_product(loss, n, theta, r):
    """H(x, y) r, the sum of phi(x, i, j) M(t, i, j) over positions and label pairs."""
    corpus, features = loss.corpus, loss.features
    single, pair = brute_force.marginals(
        brute_force.label_scores(corpus, features, theta, n), brute_force.transition_scores(features, theta)
    )
    at, between = brute_force.label_scores(corpus, features, r, n), brute_force.transition_scores(features, r)
    T, K = single.shape
    A, B = np.zeros((T, K)), np.zeros((T, K))  # phi(x, i, E) is 0
    A[0] = at[0]  # phi(x, S, j) r
    for t in range(1, T):
        for j in range(K):
            A[t, j] = sum(pair[t - 1, i, j] / single[t, j] * (at[t, j] + between[i, j] + A[t - 1, i]) for i in range(K))
    for t in reversed(range(T - 1)):
        for i in range(K):
            B[t, i] = sum(pair[t, i, j] / single[t, i] * (at[t + 1, j] + between[i, j] + B[t + 1, j]) for j in range(K))
    expected = (single * at).sum() + (pair * between).sum()  # E(Phi(x, y)) r
    of_labels, of_pairs = np.zeros((T, K)), np.zeros((K, K))
    of_labels[0] = single[0] * (at[0] + B[0] - expected)  # M(1, S, j)
    for t in range(1, T):
        for i in range(K):
            for j in range(K):
                M = pair[t - 1, i, j] * (A[t - 1, i] + at[t, j] + between[i, j] + B[t, j] - expected)
                of_labels[t, j] += M
                of_pairs[i, j] += M
    return in_features(loss, n, of_labels, of_pairs)


def in_features(loss, n, of_labels, of_pairs):
    corpus, features = loss.corpus, loss.features
    found = np.zeros(features.n_weights)
    for t, p in enumerate(range(corpus.starts[n], corpus.starts[n + 1])):
        for a in corpus.attributes[corpus.offsets[p] : corpus.offsets[p + 1]]:
            for f in range(features.offsets[a], features.offsets[a + 1]):
                found[f] += of_labels[t, features.labels[f]]
    found[features.n_state :] = of_pairs[features.sources, features.targets]
    return found
