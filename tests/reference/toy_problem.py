"""A small maximum-entropy problem in plain numpy: what solvers and driver need of a Problem, and an independent optimum.

Multinomial logistic regression is a CRF on sequences of length one, so value, gradient and certificate follow the same
formulas, here written out densely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Certificate(NamedTuple):
    gap: float
    relative: float
    lower_bound: float


class ToyProblem:
    """F(W) = sum_i -log softmax(x_i W)[y_i] + c1 |W|_1 + c2 |W|_2^2, with W flattened."""

    provides = frozenset({"gradient"})

    def __init__(self, c1=0.0, c2=1.0, n=60, n_inputs=7, n_labels=3, seed=0, scale=1.0):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, n_inputs)) * scale
        truth = rng.normal(size=(n_inputs, n_labels)) * (rng.random((n_inputs, n_labels)) < 0.5)
        self.y = (self.x @ truth + rng.gumbel(size=(n, n_labels))).argmax(1)
        self.c1, self.c2 = c1, c2
        self.n_sequences, self.n_weights = n, n_inputs * n_labels
        self.evaluations = 0

    def _probabilities(self, w):
        scores = self.x @ w.reshape(self.x.shape[1], -1)
        scores = scores - scores.max(1, keepdims=True)
        log_p = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        return np.exp(log_p), log_p

    def gradient(self, w):
        self.evaluations += 1
        p, log_p = self._probabilities(w)
        rows = np.arange(len(self.y))
        loss = -log_p[rows, self.y].sum()
        p[rows, self.y] -= 1.0
        return float(loss + self.c2 * (w @ w)), (self.x.T @ p).ravel() + 2.0 * self.c2 * w

    def value(self, w):
        return self.gradient(w)[0] + self.c1 * float(np.abs(w).sum())

    def certificate(self, w, objective=None, gradient=None):
        """The dual bound of the objective, from the entropies; mixed with the gold labels when c2 = 0."""
        p, log_p = self._probabilities(w)
        rows = np.arange(len(self.y))
        objective = -log_p[rows, self.y].sum() + self.c1 * np.abs(w).sum() + self.c2 * (w @ w)
        gold = np.zeros_like(p)
        gold[rows, self.y] = 1.0
        slope = np.abs(self.x.T @ (p - gold))
        mix = 1.0 if self.c2 > 0 else min(1.0, self.c1 / slope.max())
        q = (1.0 - mix) * gold + mix * p
        entropy = -(q * np.log(np.maximum(q, 1e-300))).sum()
        bound = entropy
        if self.c2 > 0:
            bound -= (np.maximum(slope - self.c1, 0.0) ** 2).sum() / (4.0 * self.c2)
        gap = objective - bound
        return Certificate(gap, gap / abs(objective), bound)
