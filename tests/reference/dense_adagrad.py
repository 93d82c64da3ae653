"""AdaGrad with proximal updates of every weight at every step, in plain Python: Duchi, Hazan & Singer (2011)."""

from __future__ import annotations

import math

from reference.plain_proximal import soft


def adagrad(loss, w, squares, order, eta, lam1, lam2, delta, floor):
    """Yield (w, G, loss of the block before the update) for each block of `order`; `loss` is a mean over blocks."""
    w, squares = list(w), list(squares)
    for i in order:
        before, g = loss.value(i, w), loss.gradient(i, w)
        for j in range(len(w)):
            squares[j] += g[j] ** 2
            a = eta / (delta + math.sqrt(floor + squares[j]))
            w[j] = float(soft(w[j] - a * g[j], a * lam1)) / (1 + a * lam2)
        yield w, squares, before
