"""Figure 2 and equations 5 and 6 of Tsuruoka et al. (2009) to the letter, without any deviation of ours.

dense_sparse_sgd.py follows our solvers. As printed, line 21 belongs to the branch of weights below 0 alone, and
equation 6 has a negative exponent.
"""

from __future__ import annotations

import numpy as np


def figure_2(loss, used, samples, learning_rate, C):
    """Yield w after each sample; `used(j)` are the features used in sample j."""
    N = loss.n
    u = 0.0  # line 2
    w = [0.0] * loss.features.n_weights  # line 3
    q = [0.0] * len(w)
    for k, j in enumerate(samples):  # lines 4 and 7
        eta = learning_rate(k)  # line 5
        u = u + eta * C / N  # line 6
        slope = -loss.gradient(j, np.array(w))  # of the log-likelihood
        for i in used(j):  # line 11
            w[i] = w[i] + eta * slope[i]  # line 12
            z = w[i]  # line 16
            if w[i] > 0:  # lines 17 and 18
                w[i] = max(0, w[i] - (u + q[i]))
            elif w[i] < 0:  # lines 19 to 21
                w[i] = min(0, w[i] + (u - q[i]))
                q[i] = q[i] + (w[i] - z)
        yield np.array(w)


def equation_5(eta_0, N):
    return lambda k: eta_0 / (1 + k / N)


def equation_6(eta_0, alpha, N):
    return lambda k: eta_0 * alpha ** (-k / N)
