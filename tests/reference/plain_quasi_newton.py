"""Textbook quasi-Newton methods, one vector at a time, written from the papers."""

from __future__ import annotations

import numpy as np


def two_loop(pairs, vector):
    """Nocedal (1980): H @ vector for the pairs (s, y), oldest first."""
    q = vector.copy()
    alphas = []
    for s, y in reversed(pairs):
        alphas.append((s @ q) / (y @ s))
        q = q - alphas[-1] * y
    if pairs:
        s, y = pairs[-1]
        q = q * (s @ y) / (y @ y)
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        q = q + (alpha - (y @ q) / (y @ s)) * s
    return q


def pseudo_gradient(w, g, c1):
    """Andrew & Gao (2007): the shortest sub-gradient, coordinate by coordinate."""
    shortest = []
    for weight, slope in zip(w, g, strict=True):
        if weight != 0:
            shortest.append(slope + c1 * np.sign(weight))
        else:
            shortest.append(np.sign(slope) * max(abs(slope) - c1, 0.0))
    return np.array(shortest)


def owlqn(problem, w, memory=6, n_steps=10):
    """Andrew & Gao (2007); with c1 = 0 this is L-BFGS with backtracking. Returns the iterates."""
    iterates, pairs = [w], []
    smooth, g = problem.gradient(w)
    for _ in range(n_steps):
        v = pseudo_gradient(w, g, problem.c1)
        d = -two_loop(pairs, v)
        d = np.where(d * -v > 0, d, 0.0)
        value = smooth + problem.c1 * np.abs(w).sum()
        t, factor = (1.0, 0.5) if pairs else (min(1.0, 1.0 / np.linalg.norm(d)), 0.1)
        while True:
            orthant = np.where(w != 0, np.sign(w), np.sign(-v))
            moved = w + t * d
            moved = np.where(np.sign(moved) == orthant, moved, 0.0)
            smooth_moved, g_moved = problem.gradient(moved)
            if smooth_moved + problem.c1 * np.abs(moved).sum() <= value + 1e-4 * (v @ (moved - w)):
                break
            t *= factor
        pairs = [*pairs, (moved - w, g_moved - g)][-memory:]
        w, smooth, g = moved, smooth_moved, g_moved
        iterates.append(w)
    return iterates


def proximal_gradient(problem, n_steps=20_000):
    """Beck & Teboulle (2009), FISTA with restarts and a fixed step: a slow, sure way to an L1 optimum."""
    bound = 0.5 * np.linalg.norm(problem.x, 2) ** 2 + 2.0 * problem.c2  # largest curvature of the smooth part
    w = extrapolated = np.zeros(problem.n_weights)
    momentum = 1.0
    for _ in range(n_steps):
        moved = extrapolated - problem.gradient(extrapolated)[1] / bound
        moved = np.sign(moved) * np.maximum(np.abs(moved) - problem.c1 / bound, 0.0)
        if (extrapolated - moved) @ (moved - w) > 0:  # O'Donoghue & Candes: momentum points uphill
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        extrapolated = moved + (momentum - 1.0) / following * (moved - w)
        w, momentum = moved, following
    return w


def two_loop_from(first, pairs, vector):
    """H @ vector for the pairs (s, y), oldest first, and the first inverse Hessian (y.s / y.first y) first, a matrix.

    By the product form of BFGS (Nocedal & Wright 2006, eq. 6.17), on dense matrices.
    """
    if not pairs:
        return first @ vector
    s, y = pairs[-1]
    inverse = first * (s @ y) / (y @ first @ y)
    for s, y in pairs:
        turn = np.eye(len(vector)) - np.outer(s, y) / (y @ s)
        inverse = turn @ inverse @ turn.T + np.outer(s, s) / (y @ s)
    return inverse @ vector
