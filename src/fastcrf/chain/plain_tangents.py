"""Products with the Hessian in plain NumPy and in the log domain, for the rare sequence whose scores are very wide.

The Hessian of a sequence is the covariance of its features, so a product with r is the covariance of the features with
the score that r gives a labelling. With A(s) = E[that score up to t | state s at t] and B(s) = E[of what follows | s],
tsuboi2011's tables, and p the probabilities of plain_decode.py:

    product = sum_t sum_steps p(step) (A + B + its own score - E[score]) [the features of the step]
"""

from __future__ import annotations

import numpy as np

from fastcrf.chain.plain_decode import Steps, backward, forward, near_zero
from fastcrf.types import Floats

Tables = tuple[Floats, list[Floats]]  # [T, K] of the labels at each position, and of the steps to each but the first


def covariances(scores: Floats, steps: Steps, slopes: Floats, step_slopes: Steps) -> Tables:
    """Covariance of each label at each position, and of each step, with the score of a labelling along r."""
    own, _, near = near_zero(scores, steps)
    alpha, totals = forward(own, near)
    beta = backward(own, near, totals)
    chances = [normalised(alpha[t - 1][..., None] + near.to(t) + (own[t] + beta[t])) for t in range(1, len(scores))]
    A, B = [slopes[0]], [np.zeros_like(beta[-1])]
    for t, p in enumerate(chances, 1):
        score = A[-1][..., None] + step_slopes.to(t)
        loses = A[-1].ndim == steps.order
        A.append((conditional(p, score, axis=0) if loses else score) + slopes[t])
    for t in range(len(chances), 0, -1):
        B.append(conditional(chances[t - 1], step_slopes.to(t) + (slopes[t] + B[-1]), axis=-1))
    B.reverse()
    mean = float((normalised(alpha[-1] + beta[-1]) * A[-1]).sum())
    nodes = np.empty_like(scores)
    for t in range(len(scores)):
        moved = normalised(alpha[t] + beta[t]) * (A[t] + B[t] - mean)
        nodes[t] = moved if moved.ndim == 1 else moved.sum(axis=0)
    moved_steps = [
        p * (A[t - 1][..., None] + step_slopes.to(t) + (slopes[t] + B[t]) - mean) for t, p in enumerate(chances, 1)
    ]
    return nodes, moved_steps


def normalised(logs: Floats) -> Floats:
    chances = np.exp(logs - logs.max())
    found: Floats = chances / chances.sum()
    return found


def conditional(chances: Floats, values: Floats, axis: int) -> Floats:
    """Means over an axis; where all chances have been lost to rounding, nothing depends on them."""
    sums = chances.sum(axis=axis)
    return (chances * values).sum(axis=axis) / np.where(sums > 0.0, sums, 1.0)
