"""Forward-backward of chains of higher order in the log domain, for sequences with a large score range.

The recursions are those of inference/log_domain.py with known label contexts as states (lattice.py). A context that no
label sequence can be in at a position, such as a long one near the start, has the log of 0 there.
"""

from __future__ import annotations

import math

from fastcrf.jit.kernel import NOTHING, NUMBER, lazy_kernel, strict_kernel


@lazy_kernel(NUMBER)
def context_log_forward(lattice, first, last, edges, n_labels):
    """Return log Z of the shifted scores of positions first..last-1, transitions in full.

    Writes: lattice.alpha (logs), lattice.beta.
    """
    scores, alpha, tops, log_z = lattice.scores, lattice.alpha, lattice.beta, 0.0
    for h in range(len(tops)):
        alpha[first, h] = scores[first, h] if h < n_labels else -math.inf
    for t in range(first, last):
        if t > first:
            for h in range(len(tops)):
                alpha[t, h], tops[h] = 0.0, -math.inf
            for h in range(len(tops)):
                for k in range(n_labels):
                    there = edges.following[h, k]
                    tops[there] = max(tops[there], alpha[t - 1, h] + (edges.steps[h, k] - edges.top))
            for h in range(len(tops)):
                if alpha[t - 1, h] > -math.inf:
                    for k in range(n_labels):
                        there = edges.following[h, k]
                        x = alpha[t - 1, h] + (edges.steps[h, k] - edges.top)
                        alpha[t, there] += math.exp(x - tops[there])
            for h in range(len(tops)):
                if tops[h] > -math.inf:
                    alpha[t, h] = tops[h] + scores[t, edges.last[h]] + math.log(alpha[t, h])
                else:
                    alpha[t, h] = -math.inf
        log_z += normalize_contexts(alpha, t)
    return log_z + (last - first - 1) * edges.top


@strict_kernel
def normalize_contexts(logs, t):
    """Return the log of the sum of exp over row t, and subtract it from the row. Writes: row t of logs."""
    top, total = -math.inf, 0.0
    for h in range(logs.shape[1]):
        top = max(top, logs[t, h])
    for h in range(logs.shape[1]):
        total += math.exp(logs[t, h] - top)
    rest = math.log(total)
    for h in range(logs.shape[1]):
        logs[t, h] = (logs[t, h] - top) - rest
    return top + rest


@lazy_kernel(NOTHING)
def context_log_backward(lattice, first, last, edges, weight, n_labels, edge_counts):
    """Compute posteriors and expected steps, times the sequence's weight.

    Writes: lattice.scores (posteriors), edge_counts (added to); lattice.alpha and .follow (zeroed, so that the block's
    shared sum of steps adds nothing for this sequence).
    """
    for h in range(lattice.follow.shape[1]):
        lattice.follow[last - 1, h] = 0.0
    for t in range(last - 1, first, -1):
        context_step_back(lattice, t, edges, weight, n_labels, edge_counts)
    settle_log_posteriors(lattice, first, last, edges, weight)


@strict_kernel
def settle_log_posteriors(lattice, first, last, edges, weight):
    """Compute the labels' posteriors from the logs of alpha and beta. Writes: lattice.scores; .alpha and .follow
    (zeros).
    """
    alpha, beta, scores = lattice.alpha, lattice.follow, lattice.scores
    for t in range(first, last):
        top, total = -math.inf, 0.0
        for h in range(alpha.shape[1]):
            top = max(top, alpha[t, h] + beta[t, h])
        for k in range(scores.shape[1]):
            scores[t, k] = 0.0
        for h in range(alpha.shape[1]):
            share = math.exp(alpha[t, h] + beta[t, h] - top)
            scores[t, edges.last[h]] += share
            total += share
            alpha[t, h] = beta[t, h] = 0.0
        for k in range(scores.shape[1]):
            scores[t, k] *= weight / total


@strict_kernel
def context_step_back(lattice, t, edges, weight, n_labels, edge_counts):
    """Step from position t to the previous one: p(h, k) is proportional to exp(alpha_h + x(h, k)), x(h, k) the score
    after h.

    Writes: row t - 1 of lattice.follow (beta), edge_counts (added to).
    """
    scores, alpha, beta, steps = lattice.scores, lattice.alpha, lattice.follow, edges.steps
    highest, top, total = -math.inf, -math.inf, 0.0
    for h in range(alpha.shape[1]):
        beta[t - 1, h] = -math.inf  # temporary: the largest x(h, k) of each h
        for k in range(n_labels):
            x = (steps[h, k] - edges.top) + scores[t, k] + beta[t, edges.following[h, k]]
            beta[t - 1, h] = max(beta[t - 1, h], x)
        highest, top = max(highest, beta[t - 1, h]), max(top, alpha[t - 1, h] + beta[t - 1, h])
    for h in range(alpha.shape[1]):
        share = math.exp(alpha[t - 1, h] + beta[t - 1, h] - top)
        for k in range(n_labels):
            x = (steps[h, k] - edges.top) + scores[t, k] + beta[t, edges.following[h, k]]
            total += share * math.exp(x - beta[t - 1, h])
    for h in range(alpha.shape[1]):
        factor, rest = weight * math.exp(alpha[t - 1, h] + beta[t - 1, h] - top) / total, 0.0
        for k in range(n_labels):
            x = (steps[h, k] - edges.top) + scores[t, k] + beta[t, edges.following[h, k]]
            share = math.exp(x - beta[t - 1, h])
            edge_counts[h, k] += factor * share
            rest += share
        beta[t - 1, h] = (beta[t - 1, h] - highest) + math.log(rest)
