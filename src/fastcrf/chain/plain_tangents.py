"""Products with the Hessian in plain NumPy and in the log domain, for the rare sequence whose scores are very wide.

The Hessian of a sequence is the covariance of its features, so a product with r is the covariance of the features with
the score that r gives a labelling. With A(s) = E[that score up to t | state s at t] and B(s) = E[of what follows | s],
tsuboi2011's tables, and p the probabilities of plain_decode.py:

    product = sum_t sum_steps p(step) (A + B + its own score - E[score]) [the features of the step]
"""

from __future__ import annotations

import numpy as np

from fastcrf.chain.plain_decode import Steps, backward, forward, near_zero
from fastcrf.types import Floats, Longs

Tables = tuple[Floats, list[Floats]]  # [T, K] of the labels at each position, and of the steps to each but the first


def covariances(scores: Floats, steps: Steps, slopes: Floats, step_slopes: Steps) -> Tables:
    """Covariance of each label at each position, and of each step, with the score of a labelling along r."""
    assert steps.tree is not None  # of a chain of higher order
    last, following = steps.tree.last, steps.tree.following
    own, _, near = near_zero(scores, steps)
    alpha, totals = forward(own, near)
    beta = backward(own, near, totals)
    chances = [
        normalised(alpha[t - 1][:, None] + near.scores + (own[t] + beta[t][following])) for t in range(1, len(own))
    ]
    A, B = [np.append(slopes[0], np.zeros(len(last) - len(slopes[0])))], [np.zeros(len(last))]
    for t, p in enumerate(chances, 1):
        score = A[-1][:, None] + step_slopes.scores
        A.append(mean_of(arriving(p * score, following), arriving(p, following)) + slopes[t, last])
    for t in range(len(chances), 0, -1):
        p, ahead = chances[t - 1], step_slopes.scores + (slopes[t] + B[-1][following])
        B.append(mean_of((p * ahead).sum(axis=1), p.sum(axis=1)))
    B.reverse()
    mean = float((normalised(alpha[-1] + beta[-1]) * A[-1]).sum())
    moved = [normalised(alpha[t] + beta[t]) * (A[t] + B[t] - mean) for t in range(len(own))]
    moved_steps = [
        p * (A[t - 1][:, None] + step_slopes.scores + (slopes[t] + B[t][following]) - mean)
        for t, p in enumerate(chances, 1)
    ]
    return steps.by_label(np.array(moved)), moved_steps


def arriving(values: Floats, following: Longs) -> Floats:
    """Sums [S] of values of steps [S, K], by the state that each leads to."""
    return np.bincount(following.ravel(), values.ravel(), len(following)).astype(np.float64, copy=False)


def normalised(logs: Floats) -> Floats:
    chances = np.exp(logs - logs.max())
    found: Floats = chances / chances.sum()
    return found


def mean_of(sums: Floats, chances: Floats) -> Floats:
    """Where all chances have been lost to rounding, nothing depends on them."""
    return sums / np.where(chances > 0.0, chances, 1.0)
