"""Expected steps from one position to the next, for solvers that store or square their probabilities."""

from __future__ import annotations

import math

import numpy as np

from fastcrf.inference.forward_backward import WIDEST_SPREAD, Edges
from fastcrf.inference.log_domain import log_forward, step_back
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.simd.lanes import load, multiply, scale, store
from fastcrf.simd.rows import clear_rows


@generic
def is_wide(edges, spread):  # type: ignore[no-untyped-def]
    """Return whether the score range is too large for the probability domain, given the spread of the label scores.

    Implemented in steps.py and higher_order/expectations.py.
    """


@generic
def expect_step(edges, lattice, t, steps, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Compute the expected steps to row t > 0 of a lattice after `infer`; 0 for the log domain.

    Writes: steps [H, Kp], and work arrays.

    Implemented in steps.py and higher_order/expectations.py.
    """


@generic
def infer_log_steps(edges, lattice, length, labels, steps, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Return log Z of the first rows of a lattice, shifted scores, in the log domain; compute posteriors of labels and
    steps.

    Writes: labels [T, Kp], steps [(T - 1) H, Kp], lattice.

    Implemented in steps.py and higher_order/expectations.py.
    """


@is_wide.register(Edges)
def bigrams_are_wide(edges, spread):
    return not spread + edges.spread <= WIDEST_SPREAD  # a NaN counts as too large


@expect_step.register(Edges)
@outlined_kernel
def expect_bigrams(edges, lattice, t, steps, n_labels, lanes):
    """Implement `expect_step` for labels. Writes: steps."""
    for j in range(n_labels):
        for b in range(0, steps.shape[1], len(lanes)):
            reached = scale(lattice.alpha[t - 1, j], load(lattice.follow, t, b, lanes))
            store(steps, j, b, multiply(reached, load(edges.forward, j, b, lanes)))


@infer_log_steps.register(Edges)
@outlined_kernel
def infer_log_bigrams(edges, lattice, length, labels, steps, n_labels, lanes):
    """Implement `infer_log_steps` for labels. Writes: as `infer_log_steps`."""
    log_z, last = log_forward(lattice, np.int64(0), length, edges, n_labels), length - 1
    clear_rows(labels, length, lanes)
    for k in range(n_labels):
        lattice.follow[last, k] = 0.0
        labels[last, k] = math.exp(lattice.alpha[last, k])
    for t in range(last, 0, -1):
        bigrams = steps[(t - 1) * n_labels :]
        clear_rows(bigrams, n_labels, lanes)
        step_back(lattice, t, edges, 1.0, n_labels, bigrams)
        for j in range(n_labels):
            for k in range(n_labels):
                labels[t - 1, j] += bigrams[j, k]
    return log_z
