"""First-order batch methods, one weight or one vector at a time, written from the papers."""

from __future__ import annotations

import numpy as np


def quadratic_conjugate_gradient(H, b, n_steps):
    """Hestenes & Stiefel (1952) on F(x) = x.H x / 2 - b.x from zero: what nonlinear methods do with exact searches."""
    x = np.zeros_like(b)
    r = b - H @ x
    d, points = r, [x]
    for _ in range(n_steps):
        a = (r @ r) / (d @ H @ d)
        x, r_new = x + a * d, r - a * (H @ d)
        d, r = r_new + (r_new @ r_new) / (r @ r) * d, r_new
        points.append(x)
    return points


def rprop(problem, w, n_steps, backtrack=True):
    """Riedmiller & Braun (1993), weight by weight; L1 within an orthant. Returns the iterates."""
    w, n = list(w), len(w)
    step, slope_before, weight_before, iterates = [0.1] * n, [0.0] * n, list(w), [np.array(w)]
    for _ in range(n_steps):
        g = problem.gradient(np.array(w))[1]
        for f in range(n):
            v = g[f]
            if problem.c1 > 0:
                if w[f] != 0.0:
                    v = g[f] + problem.c1 * np.sign(w[f])
                else:
                    v = np.sign(g[f]) * max(abs(g[f]) - problem.c1, 0.0)
            same = np.sign(slope_before[f]) * np.sign(v)
            if same > 0:
                step[f] = min(1.2 * step[f], 5.0)
            if same < 0:
                step[f] = max(0.5 * step[f], 1e-8)
            slope_before[f] = v
            if same < 0 and backtrack:
                w[f], slope_before[f] = weight_before[f], 0.0
                continue
            weight_before[f] = w[f]
            here = w[f]
            w[f] = here - step[f] * np.sign(v)
            if problem.c1 > 0 and w[f] * here < 0:
                w[f] = 0.0
        iterates.append(np.array(w))
    return iterates
