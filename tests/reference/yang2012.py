"""Equations 2.7, 4.10 and 4.17 to 4.19 of Yang et al. (2012) to the letter, without any deviation of ours.

dense_periodic.py follows our solver, whose inner products are over the weights that were used, with penalties in a step
of their own.
"""

from __future__ import annotations

import numpy as np


def staggered_aitken(loss, samples, eta_0, kappa, alpha, beta):
    """Yield theta after each update. Steps with and without acceleration alternate: of two updates, one changes eta."""
    m = (alpha + beta) / (alpha - beta) * kappa  # below 4.18
    n = 2 * (1 - alpha) / (alpha - beta) * kappa
    theta = [np.zeros(loss.features.n_weights)]
    eta = np.full(len(theta[0]), eta_0)
    for t, k in enumerate(samples):
        theta.append(theta[-1] - eta * loss.gradient(k, theta[-1]))  # 2.7, with the gradient of 3.7
        yield theta[-1]
        if t % 2 == 1:
            before, now = theta[-2] - theta[-3], theta[-1] - theta[-2]  # 4.4
            gamma = (now @ now) / (now @ before)  # 4.10
            u = np.sign(gamma) * min(abs(gamma), kappa)  # 4.19
            v = (m + u) / (m + kappa + n)  # 4.18
            eta = v * eta  # 4.17
