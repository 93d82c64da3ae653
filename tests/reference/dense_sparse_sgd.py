"""The solvers of tsuruoka2009 with dense vectors, in plain Python, from its sections 3 and 5 and Figure 2."""

from __future__ import annotations

import numpy as np


def naive(loss, w, order, etas, C, N):
    """Equation 2: the sub-gradient of the penalty, for every weight."""
    for i, eta in zip(order, etas, strict=True):
        w = w - eta * loss.gradient(i, w) - C / N * eta * np.sign(w)
        yield w


def clipping(loss, w, order, etas, C, N):
    """Section 3.1: a gradient step, then every weight moves towards zero by (C/N) eta, and is clipped there."""
    for i, eta in zip(order, etas, strict=True):
        half = w - eta * loss.gradient(i, w)
        w = np.where(half > 0, np.maximum(0, half - C / N * eta), np.minimum(0, half + C / N * eta))
        yield w


def cumulative(loss, used, w, order, etas, C, N):
    """Figure 2; `used(i)` are the features of sample i. Yields (w, q, u)."""
    u, w, q = 0.0, list(w), [0.0] * len(w)
    for i, eta in zip(order, etas, strict=True):
        u += eta * C / N
        g = loss.gradient(i, np.array(w))
        for j in used(i):
            w[j] -= eta * g[j]
            z = w[j]
            if w[j] > 0:
                w[j] = max(0.0, w[j] - (u + q[j]))
            elif w[j] < 0:
                w[j] = min(0.0, w[j] + (u - q[j]))
            q[j] += w[j] - z
        yield np.array(w), np.array(q), u


def within_ball(loss, w, order, etas, radius):
    """Section 5: after each step the nearest point of the ball, by sorting (Duchi et al. 2008, Figure 1)."""
    for i, eta in zip(order, etas, strict=True):
        w = project(w - eta * loss.gradient(i, w), radius)
        yield w


def project(v, radius):
    if np.abs(v).sum() <= radius:
        return v
    mu = np.sort(np.abs(v))[::-1]
    sums = np.cumsum(mu)
    rho = max(j for j in range(len(v)) if mu[j] - (sums[j] - radius) / (j + 1) > 0)
    theta = (sums[rho] - radius) / (rho + 1)
    return np.sign(v) * np.maximum(np.abs(v) - theta, 0)
