"""AdaGrad one sequence at a time on dense vectors, and L-BFGS in a preconditioner: written from the papers."""

from __future__ import annotations

import numpy as np

from reference.plain_quasi_newton import two_loop


def adagrad_pass(gradient_of, n_weights, orders, eta, c1=0.0):
    """Duchi, Hazan & Singer (2011), figure 1, with the diagonal matrix 1 + G; a run for each of `orders`.

    The runs are mixed by the squares that each has seen (McDonald, Hall & Mann 2010); then the penalty's share, a soft
    threshold. Roots of single precision. Returns (weights, 1 + squares).
    """
    runs = []
    for order in orders:
        w, squares = np.zeros(n_weights), np.zeros(n_weights)
        for i in order:
            g = gradient_of(i, w)
            squares = squares + g**2
            w = w - eta * g * (1 / np.sqrt((1.0 + squares).astype(np.float32))).astype(np.float64)
        runs.append((w, squares))
    seen = sum(squares for _, squares in runs)
    weighted = sum(squares * w for w, squares in runs)
    w = np.divide(weighted, seen, out=np.zeros(n_weights), where=seen > 0)
    return np.sign(w) * np.maximum(np.abs(w) - eta * c1 / np.sqrt(1.0 + seen), 0.0), 1.0 + seen


def preconditioned_two_loop(pairs, vector, preconditioner):
    """Nocedal (1980) with H0 = (y.s / y.Dy) D, D the diagonal `metric`."""
    root = np.sqrt(preconditioner)
    return root * two_loop([(s / root, y * root) for s, y in pairs], root * vector)
