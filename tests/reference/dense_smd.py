"""Stochastic meta-descent in plain vectors, from Vishwanathan et al. (2006), with Hessians by enumeration."""

from __future__ import annotations

import numpy as np


def smd(loss, w, batches, eta, lam, mu, fading):
    """Yield (w, step sizes / eta, v, loss of the batch before the update)."""
    v, etas = np.zeros(len(w)), np.full(len(w), eta)
    for batch in batches:
        before = sum(loss.value(i, w) for i in batch)
        g = np.mean([loss.gradient(i, w) for i in batch], axis=0) + lam * w
        H = np.mean([loss.hessian(i, w) for i in batch], axis=0) + lam * np.eye(len(w))
        etas = etas * np.maximum(0.5, 1 - mu * g * v)
        w = w - etas * g
        v = fading * v - etas * (g + fading * H @ v)
        yield w, etas / eta, v, before
