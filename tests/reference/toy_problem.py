"""A small maximum-entropy problem in plain numpy, with what solvers and driver need of a Problem.

Multinomial logistic regression is a CRF on sequences of length one, so value, gradient and certificate follow the same
formulas, here written out densely.
"""

from __future__ import annotations

import numpy as np

from fastcrf.certificates.certificate import Certificate


class ToyProblem:
    """F(W) = sum_i -log softmax(x_i W)[y_i] + c1 |W|_1 + c2 |W|_2^2, with W flattened. Counts its evaluations."""

    provides = frozenset({"gradient", "hessian"})
    is_convex = True

    def __init__(self, c1=0.0, c2=1.0, n=60, n_inputs=7, n_labels=3, seed=0):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, n_inputs))
        truth = rng.normal(size=(n_inputs, n_labels)) * (rng.random((n_inputs, n_labels)) < 0.5)
        self.gold = np.eye(n_labels)[(self.x @ truth + rng.gumbel(size=(n, n_labels))).argmax(1)]
        self.c1, self.c2 = c1, c2
        self.n_sequences, self.n_weights, self.n_jobs = n, n_inputs * n_labels, 1
        self.c1_factors = np.empty(0)
        self.evaluations = 0

    def _log_probabilities(self, w):
        scores = self.x @ w.reshape(self.x.shape[1], -1)
        top = scores.max(1, keepdims=True)
        return scores - top - np.log(np.exp(scores - top).sum(1, keepdims=True))

    def gradient(self, w):
        self.evaluations += 1
        log_p = self._log_probabilities(w)
        loss = -(self.gold * log_p).sum()
        slope = (self.x.T @ (np.exp(log_p) - self.gold)).ravel()
        return float(loss + self.c2 * (w @ w)), slope + 2.0 * self.c2 * w

    def hessian(self, w):
        """The matrix itself."""
        p = np.exp(self._log_probabilities(w))
        H = 2.0 * self.c2 * np.eye(len(w))
        for x, q in zip(self.x, p, strict=True):
            H += np.kron(np.outer(x, x), np.diag(q) - np.outer(q, q))
        return H

    def hessian_product(self, w, direction):
        return self.hessian(w) @ direction

    def curvature(self, kept=None):
        return ToyCurvature(self)

    differentiated_curvature = curvature

    def variance_bounds(self, w, gradient):
        return np.diag(self.hessian(w)).copy()

    def asked_to_stop(self):
        return False

    def value(self, w):
        return self.gradient(w)[0] + self.c1 * float(np.abs(w).sum())

    def certificate(self, w, objective=None, gradient=None):
        """The dual value of the model's own distributions, mixed with the gold labels until feasible when c2 = 0."""
        log_p = self._log_probabilities(w)
        p = np.exp(log_p)
        objective = -(self.gold * log_p).sum() + self.c1 * np.abs(w).sum() + self.c2 * (w @ w)
        slope = np.abs(self.x.T @ (p - self.gold))
        share = 1.0 if self.c2 > 0 else min(1.0, self.c1 / slope.max())
        q = (1.0 - share) * self.gold + share * p
        bound = -(q * np.log(np.maximum(q, 1e-300))).sum()
        if self.c2 > 0:
            bound -= (np.maximum(slope - self.c1, 0.0) ** 2).sum() / (4.0 * self.c2)
        return Certificate(float(objective), float(bound))


class ToyCurvature:
    """The toy problem at the point of the last gradient. Products count as evaluations."""

    def __init__(self, toy):
        self.toy, self.weights = toy, None

    def gradient(self, w):
        self.weights = w.copy()
        return self.toy.gradient(w)

    def product(self, direction):
        self.toy.evaluations += 1
        return self.toy.hessian_product(self.weights, direction)
