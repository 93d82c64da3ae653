"""Quasi-Newton methods on samples, with dense vectors and losses by enumeration, written from the papers."""

from __future__ import annotations

import math

import numpy as np

from reference.enumerated_loss import EnumeratedLoss
from reference.plain_quasi_newton import two_loop


def sampled(loss, c2, sample):
    """(value, gradient) of n / |B| sum of the losses in B + c2 |w|^2, as a function of w."""

    def evaluate(w):
        scale = loss.n / len(sample)
        value = scale * sum(loss.value(i, w) for i in sample) + c2 * (w @ w)
        return value, scale * sum(loss.gradient(i, w) for i in sample) + 2 * c2 * w

    return evaluate


def hybrid(corpus, features, c2, order, growth=1.1, memory=10):
    """Friedlander & Schmidt (2012) while the batch grows. Yields (w, evaluations of a sequence so far)."""
    loss, w, pairs, evaluations, batch = EnumeratedLoss(corpus, features), np.zeros(features.n_weights), [], 0, 0
    while True:
        yield w, evaluations
        batch = math.ceil(growth * batch + 1)
        if batch >= loss.n:
            return
        f = sampled(loss, c2, order[:batch])
        value, g = f(w)
        d = -two_loop(pairs, g)
        t = 1.0 if pairs else min(1.0, 1.0 / np.linalg.norm(g))
        evaluations += 2 * batch
        while f(w + t * d)[0] > value + 1e-4 * t * (g @ d):
            t /= 2
            evaluations += batch
        pairs = [*pairs, (t * d, f(w + t * d)[1] - g)][-memory:]
        w = w + t * d


def olbfgs(corpus, features, c2, batches, eta, tau, trust=0.0, memory=10):
    """Schraudolph, Yu & Guenter (2007) without the factor c. Yields w after each batch."""
    loss, w, pairs = EnumeratedLoss(corpus, features), np.zeros(features.n_weights), []
    for t, batch in enumerate(batches):
        f = sampled(loss, c2, batch)
        g = f(w)[1]
        s = -eta * tau / (tau + t) * averaged_two_loop(pairs, g)
        pairs = [*pairs, (s, f(w + s)[1] - g + trust * s)][-memory:]
        w = w + s
        yield w


def averaged_two_loop(pairs, g):
    """The direction update of the paper: the first scale is a mean over the pairs; without any, a small step."""
    if not pairs:
        return 1e-3 / np.linalg.norm(g) * g
    p, alphas = g, []
    for s, y in reversed(pairs):
        alphas.append((s @ p) / (s @ y))
        p = p - alphas[-1] * y
    p = p * np.mean([(s @ y) / (y @ y) for s, y in pairs])
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        p = p + (alpha - (y @ p) / (s @ y)) * s
    return p
