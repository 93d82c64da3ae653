"""Periodic step-size adaptation and its staggered Aitken form with dense vectors, written from the papers.

Hsu et al. (2009) and yang2012, equations 4.7 to 4.10 and 4.17 to 4.19. A mini-batch B moves the weights by the gradient
of its loss; then the penalty acts by itself for as long as the step was, L2 by exp(-eta c), L1 by the cumulative
penalty of tsuruoka2009, figure 2, with a total u_j of its own for each weight. A weight that no sequence of a double
period looks at has moved by its penalty alone: its gamma is not asked for, and v_j = alpha.
"""

from __future__ import annotations

import numpy as np


def looked_at(corpus, features, i):
    """Which weights can be in sequence i: those of its attributes, and all transitions."""
    first, last = corpus.offsets[corpus.starts[i]], corpus.offsets[corpus.starts[i + 1]]
    mask = np.zeros(features.n_weights, bool)
    for a in corpus.attributes[first:last]:
        mask[features.offsets[a] : features.offsets[a + 1]] = True
    mask[features.n_state :] = True
    return mask


def future_discount(gamma, kappa, alpha, beta):
    """v of equations 4.18 and 4.19."""
    m = (alpha + beta) / (alpha - beta) * kappa
    n = 2 * (1 - alpha) / (alpha - beta) * kappa
    u = np.sign(gamma) * min(abs(gamma), kappa)
    return (m + u) / (m + kappa + n)


def global_gamma(number, before, after):
    """Equations 4.8, 4.9 and 4.10; None where it divides by zero."""
    product, square = after @ before, before @ before
    if number == 1:
        return product / square if square else None
    if number == 2:
        return np.sqrt(after @ after) / np.sqrt(square) if square else None
    return after @ after / product if product else None


def periodic(loss, w, orders, batch, *, c1=0.0, c2=0.0, eta=0.1, kappa=0.9, alpha=0.9999, beta=0.99, period=10,
             gamma=3, scope="component"):  # fmt: skip
    """Yield (w, sum of the losses before each update) after each epoch; `orders` are the sequences of each."""
    w, rates = np.array(w), np.full(len(w), eta)
    due, paid = np.zeros(len(w)), np.zeros(len(w))
    start, half, seen, updates = w.copy(), w.copy(), np.zeros(len(w), bool), 0
    for order in orders:
        online = 0.0
        for first in range(0, len(order), batch):
            members = order[first : first + batch]
            online += sum(loss.value(i, w) for i in members)
            g = sum(loss.gradient(i, w) for i in members)
            for i in members:
                seen |= looked_at(loss.corpus, loss.features, i)
            w = w - rates * g
            share = len(members) / len(order)
            if c1:
                due += rates * c1 * share
                before = w.copy()
                w = np.where(w > 0, np.maximum(0, w - (due + paid)), np.minimum(0, w + (due - paid)))
                paid += w - before
            w = w * np.exp(-rates * 2 * c2 * share)
            updates += 1
            if updates % (2 * period) == period:
                half = w.copy()
            if updates % (2 * period) == 0:
                one, two = half - start, w - half
                if scope == "component":
                    for j in range(len(w)):
                        ratio = two[j] / one[j] if seen[j] and one[j] else None
                        if ratio is not None and gamma == 2:
                            ratio = abs(ratio)
                        rates[j] *= alpha if ratio is None else future_discount(ratio, kappa, alpha, beta)
                else:
                    number = global_gamma(gamma, one[seen], two[seen])
                    rates *= alpha if number is None else future_discount(number, kappa, alpha, beta)
                start, seen[:] = w.copy(), False
        yield w.copy(), online
