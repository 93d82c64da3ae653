"""Figure 2 of Cao (2015) to the letter, without any deviation of ours: dense_ngd.py follows our solver.

As printed, the step size is 1 / (rate (1 + rate C t)), and a step of the scaled vector is lambda_t / (1 - lambda_t).
"""

from __future__ import annotations

import math

import numpy as np

UPDATES = {
    "u1.g1": lambda gap, epsilon: gap / (gap**2 + epsilon),
    "u2.g1": lambda gap, epsilon: math.atan(gap / math.sqrt(epsilon)),
    "u2.g2": lambda gap, alpha: math.erf(alpha * gap),
    "u2.g3": lambda gap, beta: 2 * math.atan(math.exp(beta * gap)) - math.pi / 2,
}


def figure_2(loss, samples, update, constant, C, rate):
    """Yield theta after each sample; `loss` is an EnumeratedLoss, `rate` is lambda with a hat."""
    z, scaled = 1.0, np.zeros(loss.n_weights)
    for t, i in enumerate(samples):
        step = 1 / (rate * (1 + rate * C * t))
        gaps = loss.probabilities(i, z * scaled) @ loss.counts[i] - loss.gold[i]  # E - observed
        scaled = scaled - step / ((1 - step) * z) * np.array([UPDATES[update](gap, constant) for gap in gaps])
        z = (1 - C * step) * z
        yield z * scaled
