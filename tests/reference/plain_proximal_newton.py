"""A quasi-Newton matrix by its updates, and coordinate descent on its model: dense, written from the definitions."""

from __future__ import annotations

import numpy as np


def bfgs_matrix(pairs, first):
    """Broyden, Fletcher, Goldfarb, Shanno (1970): the approximation of the Hessian after the pairs (s, y)."""
    B = first.copy()
    for s, y in pairs:
        Bs = B @ s
        B = B - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / (y @ s)
    return B


def lowest_of_model(B, slopes, places, thresholds, sweeps=4000):
    """argmin_u slopes.u + u.B u / 2 + sum thresholds |places + u|, one coordinate at a time."""
    u = np.zeros(len(slopes))
    for _ in range(sweeps):
        before = u.copy()
        for f in range(len(u)):
            rest = slopes[f] + B[f] @ u - B[f, f] * u[f]
            x = places[f] - rest / B[f, f]  # where places + u would go without the penalty
            u[f] = np.sign(x) * max(abs(x) - thresholds[f] / B[f, f], 0.0) - places[f]
        if np.abs(u - before).max() < 1e-13:
            break
    return u
