"""The trainers that learn from mistakes, with dense vectors in plain Python.

Written from the definitions of CRFsuite's train_averaged_perceptron, train_passive_aggressive and train_arow, and from
Crammer & Singer's condition for MIRA. The best labeling is found by enumeration.
"""

from __future__ import annotations

import math

import numpy as np

from reference import brute_force


class Labelings:
    """Feature vectors of the labelings of each sequence of a corpus."""

    def __init__(self, corpus, features):
        self.corpus, self.features = corpus, features

    def gold(self, i):
        return self.corpus.labels[self.corpus.starts[i] : self.corpus.starts[i + 1]]

    def weight(self, i):
        return self.corpus.weights[i] if len(self.corpus.weights) else 1.0

    def vector(self, i, labels):
        """F(x_i, labels)."""
        corpus, features = self.corpus, self.features
        edges = list(zip(features.sources, features.targets, strict=True))
        found = np.zeros(features.n_weights)
        for t, p in enumerate(range(corpus.starts[i], corpus.starts[i + 1])):
            for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
                a, value = corpus.attributes[o], corpus.values[o] if len(corpus.values) else 1.0
                for f in range(features.offsets[a], features.offsets[a + 1]):
                    if features.labels[f] == labels[t]:
                        found[f] += value
            if t and (labels[t - 1], labels[t]) in edges:
                found[features.n_state + edges.index((labels[t - 1], labels[t]))] += 1.0
        return found

    def best(self, i, w):
        """The labeling with the highest score."""
        scores = brute_force.label_scores(self.corpus, self.features, w, i)
        return brute_force.best_path(scores, brute_force.transition_scores(self.features, w))

    def compare(self, i, w):
        """(wrong labels, features of gold minus those of the best labeling)."""
        gold, best = self.gold(i), self.best(i, w)
        wrong = sum(a != b for a, b in zip(gold, best, strict=True))
        return wrong, self.vector(i, gold) - self.vector(i, best)


def perceptron(corpus, features, w, orders):
    """Yield (averaged weights, loss) for each epoch."""
    labelings, ws, c = Labelings(corpus, features), np.zeros_like(w), 1
    for order in orders:
        loss = 0.0
        for i in order:
            wrong, delta = labelings.compare(i, w)
            s = labelings.weight(i)
            if wrong:
                w, ws = w + s * delta, ws + c * s * delta
                loss += wrong / len(labelings.gold(i)) * s
            c += 1
        yield w - ws / c, loss


def passive_aggressive(corpus, features, w, orders, pa_type=1, c=1.0, error_sensitive=True, averaging=True):
    """Yield (weights, loss) for each epoch."""
    margin = math.sqrt if error_sensitive else lambda wrong: 1.0
    step = {
        0: lambda cost, square: cost / square,
        1: lambda cost, square: min(c, cost / square),
        2: lambda cost, square: cost / (square + 1 / (2 * c)),
    }[pa_type]
    yield from large_margin(corpus, features, w, orders, margin, step, averaging)


def mira(corpus, features, w, orders, c=None, averaging=True):
    """The smallest move after which gold beats the best labeling by the number of its wrong labels."""

    def step(cost, square):
        return cost / square if c is None else min(c, cost / square)

    yield from large_margin(corpus, features, w, orders, float, step, averaging)


def large_margin(corpus, features, w, orders, margin, step, averaging):
    labelings, ws, u = Labelings(corpus, features), np.zeros_like(w), 1
    for order in orders:
        loss = 0.0
        for i in order:
            wrong, delta = labelings.compare(i, w)
            if wrong and delta.any():
                s = labelings.weight(i)
                cost = -(w @ delta) + margin(wrong)
                tau = step(cost, delta @ delta) * s
                w, ws = w + tau * delta, ws + tau * u * delta
                loss += cost * s
            u += 1
        yield w - ws / u if averaging else w, loss


def arow(corpus, features, w, orders, variance=1.0, gamma=1.0):
    """Yield (weights, loss) for each epoch."""
    labelings, cov = Labelings(corpus, features), np.full_like(w, variance)
    for order in orders:
        loss = 0.0
        for i in order:
            wrong, delta = labelings.compare(i, w)
            if wrong:
                s = labelings.weight(i)
                cost = -(w @ delta) + wrong
                delta = s * delta
                alpha = cost / (gamma + delta @ (cov * delta))
                w = w + alpha * cov * delta
                cov = 1 / (1 / cov + delta**2 / gamma)
                loss += cost * s
        yield w, loss
