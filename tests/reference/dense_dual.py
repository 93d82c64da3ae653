"""Exponentiated gradient and dual coordinate ascent over explicit distributions, written from the papers.

Collins et al. (2008) with footnote 9 of schmidt2015, and Le Priol, Piche & Lacoste-Julien (2018). A distribution is a
probability for each labeling of a sequence, as the papers define it; nothing is factorized. In the sum scale,

    D(alpha) = sum_i s_i H(alpha_i) - c2 |w(alpha)|^2,    w(alpha) = sum_i s_i (F(x_i, y_i) - E_i F) / (2 c2)
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from reference import brute_force
from reference.enumerated_loss import EnumeratedLoss


class Dual:
    """Dual points of a corpus: `logs[i]`, log probabilities of the labelings of sequence i."""

    def __init__(self, corpus, features, c2, start):
        """start: (log) probability of a labeling, up to a constant, given (labeling, gold labeling)."""
        self.loss, self.c2, self.n = EnumeratedLoss(corpus, features), c2, corpus.n_sequences
        self.lengths = np.diff(corpus.starts)
        self.n_labels = features.n_labels
        self.paths = [brute_force.all_paths(int(length), self.n_labels) for length in self.lengths]
        self.logs = []
        for i, paths in enumerate(self.paths):
            gold = corpus.labels[corpus.starts[i] : corpus.starts[i + 1]].tolist()
            self.logs.append(normalized([start(path, gold) for path in paths]))

    def residual(self, i, logs):
        """s_i (E F - F(x_i, y_i)) of a distribution."""
        return self.loss.weights[i] * (np.exp(logs) @ self.loss.counts[i] - self.loss.gold[i])

    def entropy(self, i, logs):
        return -self.loss.weights[i] * (np.exp(logs) @ logs)

    def weights_of(self, all_logs):
        return -sum(self.residual(i, logs) for i, logs in enumerate(all_logs)) / (2 * self.c2)

    def value(self, all_logs):
        w = self.weights_of(all_logs)
        return sum(self.entropy(i, logs) for i, logs in enumerate(all_logs)) - self.c2 * (w @ w)

    def moved(self, i, logs, w, rate):
        """alpha ** (1 - rate) p(. | x_i, w) ** rate, normalized (Collins et al., section 4)."""
        return normalized((1 - rate) * logs + rate * (self.loss.counts[i] @ w))


def favoring(initial, order):
    """schmidt2015, footnote 9: parts with the correct label are set to `initial`, others to 0."""
    return lambda path, gold: initial * right_parts(path, gold, max(2, order))


def smoothed(smoothing, n_labels):
    """A lot of the gold labeling, and a bit of the uniform distribution."""

    def start(path, gold):
        return np.log((1 - smoothing) * (list(path) == list(gold)) + smoothing / n_labels ** len(gold))

    return start


def right_parts(path, gold, length):
    """Labels of `path`, and slices of up to so many labels behind the first, that are those of the gold labeling at
    their place: bigrams or, in a chain of higher order all of whose contexts are known, states."""
    right = sum(a == b for a, b in zip(path, gold, strict=True))
    ends = ((max(0, t - length), t) for t in range(2, len(path) + 1))
    return right + sum(list(path[first:last]) == list(gold[first:last]) for first, last in ends)


def normalized(scores):
    scores = np.asarray(scores, float)
    top = scores.max()
    return scores - top - np.log(np.exp(scores - top).sum())


def oeg(corpus, features, c2, orders, initial=3.0):
    """schmidt2015, footnote 9; orders[k] are the sequences of pass k. Yields (w, dual, evaluations) after each pass."""
    dual = Dual(corpus, features, c2, favoring(initial, features.order))
    rates, evaluations = np.full(dual.n, 0.5), dual.n
    yield dual.weights_of(dual.logs), dual.value(dual.logs), evaluations
    for k, order in enumerate(orders):
        for i in order:
            w, before = dual.weights_of(dual.logs), dual.value(dual.logs)
            for _ in range(1 + (2 if k == 0 else 5)):
                evaluations += 1
                trial = [*dual.logs[:i], dual.moved(i, dual.logs[i], w, rates[i]), *dual.logs[i + 1 :]]
                if dual.value(trial) >= before - 1e-13 * abs(before):
                    dual.logs = trial
                    break
                rates[i] /= 2
            rates[i] = min(1.0, 1.05 * rates[i])
        yield dual.weights_of(dual.logs), dual.value(dual.logs), evaluations


def eg(corpus, features, c2, n_steps, initial=3.0):
    """Collins et al., the batch algorithm: one rate, halved until the dual rises. Yields as `oeg`, after each step."""
    dual = Dual(corpus, features, c2, favoring(initial, features.order))
    rate, evaluations = 0.5, dual.n
    yield dual.weights_of(dual.logs), dual.value(dual.logs), evaluations
    for _ in range(n_steps):
        w, before = dual.weights_of(dual.logs), dual.value(dual.logs)
        while True:
            evaluations += dual.n
            trial = [dual.moved(i, logs, w, rate) for i, logs in enumerate(dual.logs)]
            if dual.value(trial) >= before - 1e-13 * abs(before):
                break
            rate /= 2
        dual.logs, rate = trial, min(1.0, 1.05 * rate)
        yield dual.weights_of(dual.logs), dual.value(dual.logs), evaluations


class Marginals:
    """What a dual point of SDCA is: for each sequence the marginals of as many labels in a row as the model looks at,
    by position, and of those that two such slices share."""

    def __init__(self, paths, n_labels, order):
        T, K = len(paths[0]), n_labels
        size = min(T, order + 1)
        wholes = [(t - size, t) for t in range(size, T + 1)]
        slices = wholes + [(first + 1, last) for first, last in wholes[:-1]]
        columns = [np.zeros((len(paths), K ** (last - first))) for first, last in slices]
        for (first, last), column in zip(slices, columns, strict=True):
            digits = np.array(paths)[:, first:last] @ K ** np.arange(last - first)
            column[np.arange(len(paths)), digits] = 1.0
        self.table = np.hstack(columns)
        self.shared = np.repeat([1.0] * len(wholes) + [-1.0] * (len(wholes) - 1), [c.shape[1] for c in columns])

    def of(self, logs):
        return np.exp(logs) @ self.table

    def coefficients(self):
        """H = sum of -m log m over slices, minus that over what two of them share."""
        return self.shared


def entropy(m, coefficients):
    return -(coefficients * m) @ np.log(np.maximum(m, 1e-300))


def sdca(corpus, features, c2, uniforms, smoothing=1e-3, line_search="exact", share=1.0):
    """Le Priol et al., Algorithm 1 with gap sampling (a uniform draw with probability `share`).

    Yields (w, dual, the gap of each sequence when last seen) after each draw.
    """
    dual = Dual(corpus, features, c2, smoothed(smoothing, features.n_labels))
    loss, s, ridge = dual.loss, dual.loss.weights, 2 * c2
    shapes = [Marginals(paths, dual.n_labels, features.order) for paths in dual.paths]
    m = [shape.of(logs) for shape, logs in zip(shapes, dual.logs, strict=True)]
    w, gaps = dual.weights_of(dual.logs), np.full(dual.n, 100.0)
    counts = [feature_counts(shape, loss, i) for i, shape in enumerate(shapes)]
    entropies = np.array([entropy(m[i], shapes[i].coefficients()) for i in range(dual.n)])
    yield w, s @ entropies - c2 * (w @ w), gaps
    for u in uniforms:
        i = draw(u, share, gaps)
        logs, a = normalized(loss.counts[i] @ w), shapes[i].coefficients()
        target = shapes[i].of(logs)
        direction, change = target - m[i], (target - m[i]) @ counts[i]
        along = w @ change
        log_z = (loss.counts[i] @ w - logs)[0]
        gaps[i] = s[i] * (log_z - entropies[i] - m[i] @ counts[i] @ w)

        def slope(x, i=i, direction=direction, change=change, a=a, along=along):
            there = m[i] + x * direction
            return -(a * direction) @ np.log(np.maximum(there, 1e-300)) + along - s[i] * x * (change @ change) / ridge

        def value(x, i=i, direction=direction, change=change, a=a, along=along):
            return entropy(m[i] + x * direction, a) + x * along - s[i] * x * x * (change @ change) / (2 * ridge)

        end = -s[i] * (change @ change) / ridge
        if end == 0.0:
            x = 1.0
        elif line_search == "exact":
            x = brentq(slope, 1e-14, 1.0 - 1e-9, xtol=1e-15) if slope(1.0 - 1e-9) < 0.0 else 1.0
        else:
            start, right, right_slope = slope(0.0), 1.0, end
            x = start / (start - right_slope)
            while value(x) < value(0.0):
                right, right_slope = x, slope(x)
                x = right * start / (start - right_slope)
        m[i] = m[i] + x * direction
        w = w - x * s[i] * change / ridge
        entropies[i] = entropy(m[i], a)
        yield w, s @ entropies - c2 * (w @ w), gaps


def draw(u, share, gaps):
    """A uniform draw with probability `share`, else one in proportion to the gaps."""
    if u < share:
        return int(u / share * len(gaps))
    reached = np.cumsum(gaps)
    return int(np.searchsorted(reached, (u - share) / (1 - share) * reached[-1], side="right"))


def feature_counts(shape, loss, i):
    """The matrix that takes marginals to expected features: F is linear in the parts of a labeling."""
    return np.linalg.lstsq(shape.table, loss.counts[i], rcond=None)[0]
