"""Proximal SAGA and SVRG with dense vectors and stored gradients, written from the papers.

They are Defazio, Bach & Lacoste-Julien (2014), equations (1) to (3), and Xiao & Zhang (2014), figure 1, with the L2
penalty apart from the sequences' losses and the Lipschitz constants of schmidt2015, Algorithm 1 and section 5.
"""

from __future__ import annotations

import numpy as np

from reference.dense_sag import SequenceLoss, line_search
from reference.plain_proximal import soft


class OneConstant:
    """One L for all sequences, drawn uniformly: schmidt2015, Algorithm 1."""

    def __init__(self, n, first_lipschitz, caution):
        self.n, self.L, self.caution, self.fresh = n, first_lipschitz, caution, True

    def draw(self, u):
        """(the sequence, its probability)."""
        return int(u * self.n), 1 / self.n

    def visit(self, loss, i, w, f, g, lam):
        """(step size, number of values computed)."""
        trials = 0
        if g @ g > 1e-8:
            self.L, trials = line_search(loss, i, w, f, g, self.L, self.fresh)
        self.fresh = False
        alpha = 1 / (self.L + lam) / self.caution
        self.L *= 2 ** (-1 / self.n)
        return alpha, trials


class OwnConstants:
    """An L for each sequence, half of the draws by them: schmidt2015, section 5, with 5.2."""

    def __init__(self, n, first_lipschitz, caution):
        self.n, self.L, self.caution = n, np.full(n, first_lipschitz), caution
        self.seen, self.streak, self.rest = np.zeros(n, bool), np.zeros(n, int), np.zeros(n, int)

    def draw(self, u):
        if not self.seen.any():
            return int((u / 0.5 if u < 0.5 else (u - 0.5) / 0.5) * self.n), 1 / self.n
        known = np.where(self.seen, self.L, 0.0)
        reached = np.cumsum(known)
        by_constant = int(np.searchsorted(reached, (u - 0.5) / 0.5 * reached[-1], side="right"))
        i = int(u / 0.5 * self.n) if u < 0.5 else by_constant
        return i, 0.5 / self.n + 0.5 * known[i] / known.sum()

    def visit(self, loss, i, w, f, g, lam):
        search, trials = True, 0
        if not self.seen[i]:
            if self.seen.any():
                self.L[i] = 0.5 * self.L[self.seen].mean()
        elif self.rest[i] > 0:
            self.rest[i] -= 1
            search = False
        else:
            self.L[i] *= 0.9
        if search and g @ g > 1e-8:
            self.L[i], trials = line_search(loss, i, w, f, g, self.L[i], not self.seen.any())
            if self.seen[i]:
                self.streak[i] = self.streak[i] + 1 if trials == 1 else 0
                self.rest[i] = 2 ** (self.streak[i] - 1) if self.streak[i] else self.rest[i]
        self.seen[i] = True
        known = self.L[self.seen]
        return 0.5 * (1 / (known.max() + lam) + 1 / (known.mean() + lam)) / self.caution, trials


RULES = {"uniform": OneConstant, "nus": OwnConstants}


def prox_saga(corpus, features, c1, c2, uniforms, sampling="uniform", first_lipschitz=1.0, caution=3.0):
    """Yields (w, d, evaluations so far) after each draw; d is the sum of the stored gradients."""
    loss = SequenceLoss(corpus, features)
    n, w, evaluations = loss.n, np.zeros(features.n_weights), 0
    rule, table, lam1, lam2 = RULES[sampling](n, first_lipschitz, caution), np.zeros((n, len(w))), c1 / n, 2 * c2 / n
    for u in uniforms:
        i, p = rule.draw(u)
        f, g = loss.value(i, w), loss.gradient(i, w)
        alpha, trials = rule.visit(loss, i, w, f, g, lam2)
        evaluations += 1 + trials
        direction = (g - table[i]) / (n * p) + table.mean(axis=0) + lam2 * w
        table[i] = g
        w = soft(w - alpha * direction, alpha * lam1)
        yield w, table.sum(axis=0), evaluations


def prox_svrg(corpus, features, c1, c2, uniforms, sampling="uniform", first_lipschitz=1.0, caution=3.0):
    """A period for each array of uniforms. Yields (w~, the sum of all gradients there, evaluations so far)."""
    loss = SequenceLoss(corpus, features)
    n, w, evaluations = loss.n, np.zeros(features.n_weights), 0
    rule, lam1, lam2 = RULES[sampling](n, first_lipschitz, caution), c1 / n, 2 * c2 / n
    for draws in uniforms:
        table = np.array([loss.gradient(i, w) for i in range(n)])
        evaluations += n
        yield w, table.sum(axis=0), evaluations
        for u in draws:
            i, p = rule.draw(u)
            f, g = loss.value(i, w), loss.gradient(i, w)
            alpha, trials = rule.visit(loss, i, w, f, g, lam2)
            evaluations += 1 + trials
            direction = (g - table[i]) / (n * p) + table.mean(axis=0) + lam2 * w
            w = soft(w - alpha * direction, alpha * lam1)
