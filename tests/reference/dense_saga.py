"""SAGA of schmidt2015, Proposition 1, with dense vectors and stored gradients, written from the paper.

As in the solvers the L2 penalty is exact instead of a part of each f_i. The proofs of appendices A and B then hold all
the more: with h the loss, E|w+ - w*|^2 = (1 - a lambda)^2 |w - w*|^2 - 2 a (1 - a lambda) <h'(w) - h'(w*), w - w*>
+ a^2 E|v - h'(w*)|^2, where the last term has the same bound and the others are smaller.
"""

from __future__ import annotations

import numpy as np

from reference.dense_sag import line_search


def step_a(p, L, lam):
    """alpha of part (a); L and mu include lambda."""
    n = len(p)
    return n * p.min() / (4 * (L + lam) + n * lam)


def one_sample(loss, lam, p, uniforms, L, searching, start=0.0, factor=1.0):
    """Part (a): j = r drawn by p. Yields (w, sum of the s_i, L, evaluations so far) after each draw.

    start: the first w; factor: of the step size.
    """
    n, w, evaluations = loss.n, np.zeros(loss.n_weights) + start, loss.n
    s = np.array([loss.gradient(i, w) for i in range(n)])
    for draw, u in enumerate(uniforms):
        j = int(np.searchsorted(np.cumsum(p), u, side="right"))
        f, g = loss.value(j, w), loss.gradient(j, w)
        evaluations += 1
        if searching and g @ g > 1e-8:
            L, trials = line_search(loss, j, w, f, g, L, draw == 0)
            evaluations += trials
        alpha = factor * step_a(p, L, lam)
        w = (1 - alpha * lam) * w - alpha * ((g - s[j]) / (n * p[j]) + s.mean(axis=0))
        s[j] = g
        L *= 2 ** (-1 / n) if searching and g @ g > 1e-8 else 1
        yield w, s.sum(axis=0), L, evaluations


def two_samples(loss, lam, pairs, L, searching, start=0.0, factor=1.0):
    """Part (b): j drawn by L_j + lambda, r uniformly. Yields (w, sum of the s_i, the L_i, evaluations so far).

    start: the first w; factor: of the step size. Where the L_i are searched, searches that succeed at once are followed
    by visits without one (section 5.2), and the first search of each L_i, which is a bound, goes down, too.
    """
    n, w, L, evaluations = loss.n, np.zeros(loss.n_weights) + start, np.array(L), loss.n
    s, streak, rest = np.array([loss.gradient(i, w) for i in range(n)]), np.full(n, -1), np.zeros(n, int)
    for u, v in pairs:
        total = L.sum() + n * lam
        reached = np.cumsum([*np.full(n, lam / total), *L / total])  # first the uniform part of the probabilities
        j, r = int(np.searchsorted(reached, u, side="right")) % n, int(v * n)
        p = (L[j] + lam) / total
        f, g, state = loss.value(j, w), loss.gradient(j, w), loss.gradient(r, w)
        evaluations += 2
        if rest[j] > 0:
            rest[j] -= 1
        elif searching and g @ g > 1e-8:
            L[j], trials = line_search(loss, j, w, f, g, 0.9 * L[j], streak[j] < 0)
            evaluations += trials
            streak[j] = streak[j] + 1 if trials == 1 else 0
            rest[j] = 2 ** (streak[j] - 1) if streak[j] else 0
        elif searching and streak[j] >= 0:
            L[j] = max(0.9 * L[j], min(L[j], L.mean()))
        alpha = factor / (4 * (L.mean() + lam))
        w = (1 - alpha * lam) * w - alpha * ((g - s[j]) / (n * p) + s.mean(axis=0))
        s[r] = state
        yield w, s.sum(axis=0), L, evaluations
