"""SAG, SAG-NUS and SAG-NUS* with dense vectors and stored gradients, written from the papers.

They are schmidt2015, Algorithms 1, 2 and section 5, and schmidt2013, section 5.5. `blocks` of sequences that are drawn
together are schmidt2015, section 7: f_i is the mean over block i, the table holds sums over each block, d the sum over
all of them.

Sequence gradients come from enumeration of all labelings; draws come from the uniforms that the tests hand in.
"""

from __future__ import annotations

import numpy as np

from reference import brute_force


class SequenceLoss:
    """s_c nll_c(w) of sequence c and its dense gradient, by enumeration; f_i(w), their mean over block i."""

    def __init__(self, corpus, features, blocks=None):
        self.corpus, self.features = corpus, features
        self.blocks = blocks or [[c] for c in range(len(corpus.starts) - 1)]
        self.n, self.sizes = len(self.blocks), np.array([len(block) for block in self.blocks])

    def weight(self, i):
        return self.corpus.weights[i] if len(self.corpus.weights) else 1.0

    def gold(self, i):
        return self.corpus.labels[self.corpus.starts[i] : self.corpus.starts[i + 1]]

    def value(self, i, w):
        return np.mean([self.sequence_value(c, w) for c in self.blocks[i]])

    def gradient(self, i, w):
        return np.mean([self.sequence_gradient(c, w) for c in self.blocks[i]], axis=0)

    def sequence_value(self, i, w):
        scores = brute_force.label_scores(self.corpus, self.features, w, i)
        transitions = brute_force.transition_scores(self.features, w)
        gold = brute_force.path_score(scores, transitions, self.gold(i))
        return self.weight(i) * (brute_force.log_partition(scores, transitions) - gold)

    def sequence_gradient(self, i, w):
        corpus, features = self.corpus, self.features
        scores = brute_force.label_scores(corpus, features, w, i)
        nodes, edges = brute_force.marginals(scores, brute_force.transition_scores(features, w))
        gold = self.gold(i)
        for t, k in enumerate(gold):
            nodes[t, k] -= 1.0
            if t > 0:
                edges[t - 1, gold[t - 1], k] -= 1.0
        g = np.zeros(features.n_weights)
        for t in range(len(gold)):
            p = corpus.starts[i] + t
            for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
                a = corpus.attributes[o]
                value = corpus.values[o] if len(corpus.values) else 1.0
                for f in range(features.offsets[a], features.offsets[a + 1]):
                    g[f] += value * nodes[t, features.labels[f]]
        total = edges.sum(axis=0)
        g[features.n_state :] = total[features.sources, features.targets]
        return self.weight(i) * g


def line_search(loss, i, w, f, g, L, first):
    """Algorithm 2, which at the first visit of a run also lowers its guess; (L, number of values computed)."""

    def holds(L):
        return not loss.value(i, w - g / L) > f - g @ g / (2 * L) + 4 * np.finfo(float).eps * max(1.0, abs(f))

    trials = 1
    if holds(L):
        while first:
            trials += 1
            if not holds(L / 2):
                break
            L /= 2
        return L, trials
    while not holds(2 * L):
        trials += 1
        L *= 2
    return 2 * L, trials + 1


def sag(corpus, features, lam, uniforms, first_lipschitz=1.0, saga=False, blocks=None):
    """Algorithm 1, or SAGA with its line search. Yields (w, d, L, evaluations so far) after each draw."""
    loss = SequenceLoss(corpus, features, blocks)
    n, w = loss.n, np.zeros(features.n_weights)
    d, table, seen, L, evaluations = np.zeros_like(w), np.zeros((n, len(w))), np.zeros(n, bool), first_lipschitz, 0
    for u in uniforms:
        i = int(u * n)
        f, g = loss.value(i, w), loss.gradient(i, w)
        evaluations += loss.sizes[i]
        first = not seen.any()
        seen[i] = True
        change, before, m = loss.sizes[i] * g - table[i], d.copy(), loss.sizes[seen].sum()
        d = d + change
        table[i] += change
        if g @ g > 1e-8:
            L, trials = line_search(loss, i, w, f, g, L, first)
            evaluations += loss.sizes[i] * trials
        alpha = 1 / (L + lam) / (3 if saga else 1)
        w = (1 - alpha * lam) * w - alpha * (change * n / loss.sizes.sum() + before / m if saga else d / m)
        L *= 2 ** (-1 / n) if g @ g > 1e-8 else 1
        yield w, d, L, evaluations


class OwnConstants:
    """The L_i, draws and step size of schmidt2015, section 5, with the skipping of 5.2."""

    def __init__(self, loss, first_lipschitz, skipping=True):
        n = loss.n
        self.loss, self.n, self.skipping, self.L = loss, n, skipping, np.full(n, first_lipschitz)
        self.seen, self.streak, self.rest = np.zeros(n, bool), np.zeros(n, int), np.zeros(n, int)

    def draw(self, u):
        """(i, its probability)"""
        n, L, seen = self.n, self.L, self.seen
        if u < 0.5 or not seen.any():
            i = int((u / 0.5 if u < 0.5 else (u - 0.5) / 0.5) * n)
        else:
            reached = np.cumsum(np.where(seen, L, 0.0))
            i = int(np.searchsorted(reached, (u - 0.5) / 0.5 * reached[-1], side="right"))
        return i, 1 / n if not seen.any() else 0.5 / n + 0.5 * (L[i] / L[seen].sum() if seen[i] else 0.0)

    def visit(self, i, w, f, g):
        """Search for L_i; the number of values computed."""
        L, seen, rest, trials = self.L, self.seen, self.rest, 0
        search = True
        if not seen[i]:
            if seen.any():
                L[i] = 0.5 * L[seen].mean()
        elif rest[i] > 0:
            rest[i] -= 1
            search = False
        else:
            L[i] = 0.9 * L[i] if g @ g > 1e-8 else max(0.9 * L[i], min(L[i], L[seen].mean()))
        if search and g @ g > 1e-8:
            L[i], trials = line_search(self.loss, i, w, f, g, L[i], not seen.any())
            if seen[i] and self.skipping:
                self.streak[i] = self.streak[i] + 1 if trials == 1 else 0
                rest[i] = 2 ** (self.streak[i] - 1) if self.streak[i] else rest[i]
        seen[i] = True
        return trials

    def step_size(self, lam):
        known = self.L[self.seen]
        return 0.5 * (1 / (known.max() + lam) + 1 / (known.mean() + lam))


def sag_nus_star(corpus, features, lam, uniforms, skipping=True, first_lipschitz=1.0, saga=False, blocks=None):
    """Section 5, with 5.2, or SAGA with the same draws. Yields (w, d, the L_i, evaluations so far) after each draw."""
    loss = SequenceLoss(corpus, features, blocks)
    n, w, own, evaluations = loss.n, np.zeros(features.n_weights), OwnConstants(loss, first_lipschitz, skipping), 0
    d, table = np.zeros_like(w), np.zeros((n, len(w)))
    for u in uniforms:
        i, p = own.draw(u)
        f, g = loss.value(i, w), loss.gradient(i, w)
        change, before = loss.sizes[i] * g - table[i], d.copy()
        d = d + change
        table[i] += change
        evaluations += loss.sizes[i] * (1 + own.visit(i, w, f, g))
        alpha, m = own.step_size(lam) / (3 if saga else 1), loss.sizes[own.seen].sum()
        w = (1 - alpha * lam) * w - alpha * (change / (loss.sizes.sum() * p) + before / m if saga else d / m)
        yield w, d, own.L, evaluations


def sg_nus(corpus, features, lam, uniforms, eta, skipping=True, blocks=None):
    """Footnote 10: the draws of section 5, unbiased steps of size eta. Yields (w, the L_i, evaluations so far)."""
    loss = SequenceLoss(corpus, features, blocks)
    w, own, evaluations = np.zeros(features.n_weights), OwnConstants(loss, 1.0, skipping), 0
    for u in uniforms:
        i, p = own.draw(u)
        f, g = loss.value(i, w), loss.gradient(i, w)
        evaluations += loss.sizes[i] * (1 + own.visit(i, w, f, g))
        w = (1 - eta * lam) * w - eta * loss.sizes[i] * g / (loss.sizes.sum() * p)
        yield w, own.L, evaluations


def sag_nus(corpus, features, lam, uniforms, order, first_lipschitz=1.0, blocks=None, saga=False):
    """schmidt2013, section 5.5, or SAGA with its draws. Yields (w, d, the L_i, evaluations so far) after each draw."""
    loss = SequenceLoss(corpus, features, blocks)
    n, w = loss.n, np.zeros(features.n_weights)
    d, table, seen = np.zeros_like(w), np.zeros((n, len(w))), np.zeros(n, bool)
    L, largest, evaluations = np.full(n, first_lipschitz), first_lipschitz, 0
    for u in uniforms:
        m = seen.sum()
        if u < (n - m) / n:
            i, p = next(j for j in order if not seen[j]), 1 / n
        else:
            i = draw_seen(L, seen, lam, (u - (n - m) / n) / (m / n), order)
            p = m / n * (L[i] + L[seen].mean() + 2 * lam) / (L[seen] + L[seen].mean() + 2 * lam).sum()
        f, g = loss.value(i, w), loss.gradient(i, w)
        evaluations += loss.sizes[i]
        change, before = loss.sizes[i] * g - table[i], d
        d = d + change
        table[i] = loss.sizes[i] * g
        if seen[i]:
            L[i] = L[i] / 2 if g @ g > 1e-8 else max(L[i] / 2, min(L[i], L[seen].mean()))
        if g @ g > 1e-8:
            L[i], trials = line_search(loss, i, w, f, g, L[i], not seen.any())
            evaluations += loss.sizes[i] * trials
        seen[i] = True
        m = seen.sum()
        largest = max(largest, L[i])
        biggest, typical = 1 / (largest + lam), 1 / (L[seen].mean() + lam)
        alpha = ((n - m) / n * biggest + m / n * (biggest / 2 + typical / 2)) / (3 if saga else 1)
        covered = loss.sizes[seen].sum()
        step = change / (loss.sizes.sum() * p) + before / covered if saga else d / covered
        w = (1 - alpha * lam) * w - alpha * step
        largest *= 2 ** (-1 / n) if g @ g > 1e-8 else 1
        yield w, d, L, evaluations


def draw_seen(L, seen, lam, u, order):
    """In proportion to L_i + mean L + 2 lambda: first the uniform part of these weights, then that of the L_i."""
    m, total = seen.sum(), (L[seen] + L[seen].mean() + 2 * lam).sum()
    reached = np.cumsum([*np.full(m, (L[seen].mean() + 2 * lam) / total), *np.where(seen, L, 0.0) / total])
    place = int(np.searchsorted(reached, u * reached[-1], side="right"))
    return int(order[place]) if place < m else place - m
