"""Algorithms 1 and 2 of Schmidt et al. (2015) to the letter, line by line, without any deviation of ours.

dense_sag.py follows our solvers, their deviations included; where none of these acts, it and this must agree.
"""

from __future__ import annotations

import numpy as np


def algorithm_1(loss, lam, draws, L=1.0):
    """Yield w after each draw, f_i and its gradient from `loss`."""
    n = loss.n
    w = d = 0.0 * loss.gradient(0, np.zeros(loss.features.n_weights))
    stored, seen, m = [0.0] * n, set(), 0  # lines 1 and 2: d, g_i and m are 0
    for i in draws:  # line 4
        f, g = loss.value(i, w), loss.gradient(i, w)  # line 5
        if i not in seen:  # lines 6 to 9
            m += 1
            seen.add(i)
        d = d - stored[i] + g  # line 10
        stored[i] = g  # line 11
        if g @ g > 1e-8:  # lines 12 to 14
            L = algorithm_2(loss, i, w, f, g, L)
        alpha = 1 / (L + lam)  # line 15
        w = (1 - alpha * lam) * w - alpha / m * d  # line 16
        L = L * 2 ** (-1 / n)  # line 17
        yield w


def algorithm_2(loss, i, w, f, g, L):
    while loss.value(i, w - g / L) >= f - g @ g / (2 * L):
        L = 2 * L
    return L
