"""Forward-backward in the log domain, for the rare sequence whose score range is too large for probabilities in
doubles.

Label scores come with their maximum subtracted. Transitions are relative to the largest, and alpha and beta have their
own maximum (nearly) subtracted at every position. Significant numbers are therefore near 0, where doubles are dense,
however large the scores were. Posteriors and expected bigrams are normalized at each position, so that no rounding of
log Z can make a probability exceed 1.

There are K^2 exponentials per position in each direction, and more where they are needed twice. With such a range most
are of NEGLIGIBLE numbers and are skipped. Few users need this code, so it is compiled when the first such sequence
occurs.
"""

from __future__ import annotations

import math

from fastcrf.jit.kernel import NOTHING, NUMBER, lazy_kernel, strict_kernel

NEGLIGIBLE = -100.0  # its exponential, 4e-44, changes no sum that has a 1 in it; a NaN is never below


@strict_kernel
def exponential(x):
    """Return exp(x), or 0 if that is negligible compared to 1."""
    return 0.0 if x < NEGLIGIBLE else math.exp(x)


@lazy_kernel(NUMBER)
def log_forward(lattice, first, last, edges, n_labels):
    """Return log Z of the shifted scores of positions first..last-1, transitions in full.

    Writes: lattice.alpha, the logs of probabilities p(y_t = k | scores up to t).
    """
    scores, alpha, bigrams = lattice.scores, lattice.alpha, edges.scores
    log_z = 0.0
    for t in range(first, last):
        row = t * edges.stride
        for k in range(n_labels):
            alpha[t, k] = scores[t, k]
            if t > first:
                top, total = -math.inf, 0.0
                for j in range(n_labels):
                    top = max(top, alpha[t - 1, j] + (bigrams[row + j, k] - edges.top))
                for j in range(n_labels):
                    total += exponential(alpha[t - 1, j] + (bigrams[row + j, k] - edges.top) - top)
                alpha[t, k] = top + scores[t, k] + math.log(total)
        log_z += normalize_logs(alpha, t, n_labels)
    return log_z + (last - first - 1) * edges.top


@strict_kernel
def normalize_logs(logs, t, n_labels):
    """Return log sum_k exp(x[k]) of row t, and subtract it from x[k], rounded once. Writes: logs[t]."""
    top, total = logs[t, 0], 0.0
    for k in range(1, n_labels):
        top = max(top, logs[t, k])
    for k in range(n_labels):
        total += math.exp(logs[t, k] - top)
    rest = math.log(total)
    for k in range(n_labels):
        logs[t, k] = (logs[t, k] - top) - rest
    return top + rest


@lazy_kernel(NOTHING)
def log_backward(lattice, first, last, edges, weight, n_labels, edge_counts):
    """Compute posteriors and expected label bigrams, times the sequence's weight.

    Writes: lattice.scores (posteriors), edge_counts (added to), lattice.alpha and lattice.follow (zeroed, so that the
    block's shared edge sum adds nothing for this sequence).
    """
    scores, alpha, beta = lattice.scores, lattice.alpha, lattice.follow
    for k in range(n_labels):
        beta[last - 1, k] = 0.0
    for t in range(last - 1, first, -1):
        step_back(lattice, t, edges, weight, n_labels, edge_counts)
    for t in range(first, last):
        top, total = -math.inf, 0.0
        for k in range(n_labels):
            top = max(top, alpha[t, k] + beta[t, k])
        for k in range(n_labels):
            scores[t, k] = math.exp(alpha[t, k] + beta[t, k] - top)
            total += scores[t, k]
        for k in range(scores.shape[1]):
            scores[t, k] = scores[t, k] * (weight / total) if k < n_labels else 0.0
            alpha[t, k] = 0.0
            beta[t, k] = 0.0


@strict_kernel
def step_back(lattice, t, edges, weight, n_labels, edge_counts):
    """Step from position t to the previous one: p(j, k) is proportional to exp(alpha_j + x(j, k)), x(j, k) the score
    after j.

    Writes: row t - 1 of lattice.follow (beta), edge_counts (added to).
    """
    scores, alpha, beta, bigrams = lattice.scores, lattice.alpha, lattice.follow, edges.scores
    row = t * edges.stride
    highest, top, total = -math.inf, -math.inf, 0.0
    for j in range(n_labels):
        beta[t - 1, j] = -math.inf  # temporary: the largest x(j, k) of each j
        for k in range(n_labels):
            beta[t - 1, j] = max(beta[t - 1, j], (bigrams[row + j, k] - edges.top) + scores[t, k] + beta[t, k])
        highest, top = max(highest, beta[t - 1, j]), max(top, alpha[t - 1, j] + beta[t - 1, j])
    for j in range(n_labels):
        share = exponential(alpha[t - 1, j] + beta[t - 1, j] - top)
        if share != 0.0:
            for k in range(n_labels):
                x = (bigrams[row + j, k] - edges.top) + scores[t, k] + beta[t, k]
                total += share * exponential(x - beta[t - 1, j])
    for j in range(n_labels):
        factor, rest = weight * exponential(alpha[t - 1, j] + beta[t - 1, j] - top) / total, 0.0
        for k in range(n_labels):
            x = (bigrams[row + j, k] - edges.top) + scores[t, k] + beta[t, k]
            share = exponential(x - beta[t - 1, j])
            if share != 0.0:
                edge_counts[j, k] += factor * share
                rest += share
        beta[t - 1, j] = (beta[t - 1, j] - highest) + math.log(rest)
