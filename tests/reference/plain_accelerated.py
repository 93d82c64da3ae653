"""FISTA with backtracking and adaptive restart, coordinate by coordinate, written from the papers."""

from __future__ import annotations

import numpy as np


def soft(v, threshold):
    return np.array([np.sign(x) * max(abs(x) - threshold, 0.0) for x in v])


def accelerated_gradient(problem, w, n_steps, restart=True):
    """Beck & Teboulle (2009), O'Donoghue & Candes (2015), section 3.2. Returns the iterates and those of restarts."""
    slope = lambda v: problem.gradient(v)[1]  # noqa: E731
    unit = slope(w) / np.linalg.norm(slope(w))
    L = (slope(w) - slope(w - unit)) @ unit
    iterates, restarts, previous, t, t_before = [w], [], w, 1.0, 1.0
    for k in range(n_steps):
        y = w + (t_before - 1.0) / t * (w - previous)
        while True:
            moved = soft(y - slope(y) / L, problem.c1 / L)
            if (slope(moved) - slope(y)) @ (moved - y) <= L * np.sum((moved - y) ** 2):
                break
            L = 2.0 * L
        iterates.append(moved)
        if restart and (y - moved) @ (moved - w) > 0:
            restarts.append(k + 1)
            w, previous, t, t_before, L = moved, moved, 1.0, 1.0, L / 2.0
        else:
            previous, w = w, moved
            t_before, t = t, (1.0 + np.sqrt(1.0 + 4.0 * t**2)) / 2.0
    return iterates, restarts
