"""Proximal SAG, SAGA and SVRG with dense vectors and stored gradients, written from the papers.

They are schmidt2015, section 7 (its Algorithm 1 with the proximal step of the L1 norm after line 16), Defazio, Bach &
Lacoste-Julien (2014), equations (1) to (3), and Xiao & Zhang (2014), figure 1, with the L2 penalty apart from the
sequences' losses and the Lipschitz constants of schmidt2015, Algorithm 1 and section 5.
"""

from __future__ import annotations

import numpy as np

from reference.dense_sag import OwnConstants, SequenceLoss, line_search
from reference.plain_proximal import soft


class OneConstant:
    """One L for all sequences, drawn uniformly: schmidt2015, Algorithm 1."""

    def __init__(self, loss, first_lipschitz):
        self.loss, self.n, self.L, self.fresh = loss, loss.n, first_lipschitz, True

    def draw(self, u):
        """(the sequence, its probability)."""
        return int(u * self.n), 1 / self.n

    def visit(self, i, w, f, g):
        """Search for L; the number of values computed."""
        trials, self.keep = 0, 1.0  # of L, after this draw
        if g @ g > 1e-8:
            self.keep = 2 ** (-1 / self.n)
            self.L, trials = line_search(self.loss, i, w, f, g, self.L, self.fresh)
        self.fresh = False
        return trials

    def step_size(self, lam):
        """That of this draw, after which L fades."""
        alpha = 1 / (self.L + lam)
        self.L *= self.keep
        return alpha


RULES = {"uniform": OneConstant, "nus": OwnConstants}


def prox_sag(corpus, features, c1, c2, uniforms, sampling="uniform", first_lipschitz=1.0):
    """Yields (w, d, evaluations so far) after each draw; w moves along d / n, whatever was seen."""
    loss = SequenceLoss(corpus, features)
    n, w, evaluations = loss.n, np.zeros(features.n_weights), 0
    rule, table, lam1, lam2 = RULES[sampling](loss, first_lipschitz), np.zeros((n, len(w))), c1 / n, 2 * c2 / n
    for u in uniforms:
        i, _ = rule.draw(u)
        f, table[i] = loss.value(i, w), loss.gradient(i, w)
        evaluations += 1 + rule.visit(i, w, f, table[i].copy())
        alpha = rule.step_size(lam2)
        w = soft((1 - alpha * lam2) * w - alpha * table.mean(axis=0), alpha * lam1)
        yield w, table.sum(axis=0), evaluations


def prox_saga(corpus, features, c1, c2, uniforms, sampling="uniform", first_lipschitz=1.0, step_divisor=3.0):
    """Yields (w, d, evaluations so far) after each draw; d is the sum of the stored gradients."""
    loss = SequenceLoss(corpus, features)
    n, w, evaluations = loss.n, np.zeros(features.n_weights), 0
    rule, table, lam1, lam2 = RULES[sampling](loss, first_lipschitz), np.zeros((n, len(w))), c1 / n, 2 * c2 / n
    for u in uniforms:
        i, p = rule.draw(u)
        f, g = loss.value(i, w), loss.gradient(i, w)
        evaluations += 1 + rule.visit(i, w, f, g)
        alpha = rule.step_size(lam2) / step_divisor
        direction = (g - table[i]) / (n * p) + table.mean(axis=0) + lam2 * w
        table[i] = g
        w = soft(w - alpha * direction, alpha * lam1)
        yield w, table.sum(axis=0), evaluations


def prox_svrg(corpus, features, c1, c2, uniforms, sampling="uniform", first_lipschitz=1.0, step_divisor=3.0):
    """A period for each array of uniforms. Yields (w~, the sum of all gradients there, evaluations so far)."""
    loss = SequenceLoss(corpus, features)
    n, w, evaluations = loss.n, np.zeros(features.n_weights), 0
    rule, lam1, lam2 = RULES[sampling](loss, first_lipschitz), c1 / n, 2 * c2 / n
    for draws in uniforms:
        table = np.array([loss.gradient(i, w) for i in range(n)])
        evaluations += n
        yield w, table.sum(axis=0), evaluations
        for u in draws:
            i, p = rule.draw(u)
            f, g = loss.value(i, w), loss.gradient(i, w)
            evaluations += 1 + rule.visit(i, w, f, g)
            alpha = rule.step_size(lam2) / step_divisor
            direction = (g - table[i]) / (n * p) + table.mean(axis=0) + lam2 * w
            w = soft(w - alpha * direction, alpha * lam1)
