"""Forward-backward of chains of order 2 in the log domain, for the rare sequence whose scores are very wide.

What log_domain.py does, with pairs of labels as states (pair_lattice.py) and as plain. The step to the second position
comes from a label alone: it has one row of alpha before it, and the bigram's score.
"""

from __future__ import annotations

import math

from fastcrf.kernel import NOTHING, NUMBER, ordered_kernel, rare_kernel


@ordered_kernel
def log_alpha(lattice, first, t, j, k, n_labels):
    """Of the labels j, k at position t or, at the first one, of label k."""
    return lattice.opening[t, k] if t == first else lattice.alpha[t * n_labels + j, k]


@ordered_kernel
def rows_before(first, t, n_labels):
    """How many labels j there are before the label before t, as rows of alpha at t - 1."""
    return 1 if t == first + 1 else n_labels


@ordered_kernel
def history(first, t, j, k, n_labels):
    """The row of the step from j, k to position t."""
    return k if t == first + 1 else n_labels + k * n_labels + j


@rare_kernel(NUMBER)
def pair_log_forward(lattice, first, last, edges, n_labels):
    """log Z of the shifted scores of positions first..last-1, transitions in full.

    Writes: lattice.alpha and lattice.opening (logs).
    """
    scores, alpha, steps = lattice.scores, lattice.alpha, edges.steps
    for k in range(n_labels):
        lattice.opening[first, k] = scores[first, k]
    log_z = normalise_pairs(lattice.opening, first, rows_before(first, first + 1, n_labels), n_labels)
    for t in range(first + 1, last):
        n_before = rows_before(first, t, n_labels)
        for k in range(n_labels):
            for m in range(n_labels):
                top, total = -math.inf, 0.0
                for j in range(n_before):
                    h = history(first, t, j, k, n_labels)
                    top = max(top, log_alpha(lattice, first, t - 1, j, k, n_labels) + (steps[h, m] - edges.top))
                for j in range(n_before):
                    h = history(first, t, j, k, n_labels)
                    reached = log_alpha(lattice, first, t - 1, j, k, n_labels)
                    total += math.exp(reached + (steps[h, m] - edges.top) - top)
                alpha[t * n_labels + k, m] = top + scores[t, m] + math.log(total)
        log_z += normalise_pairs(alpha, t * n_labels, n_labels, n_labels)
    return log_z + (last - first - 1) * edges.top


@ordered_kernel
def normalise_pairs(logs, first_row, n_rows, n_labels):
    """log of the sum of exp over some rows, and the rows minus that. Writes: logs."""
    top, total = -math.inf, 0.0
    for r in range(first_row, first_row + n_rows):
        for k in range(n_labels):
            top = max(top, logs[r, k])
    for r in range(first_row, first_row + n_rows):
        for k in range(n_labels):
            total += math.exp(logs[r, k] - top)
    rest = math.log(total)
    for r in range(first_row, first_row + n_rows):
        for k in range(n_labels):
            logs[r, k] = (logs[r, k] - top) - rest
    return top + rest


@rare_kernel(NOTHING)
def pair_log_backward(lattice, first, last, edges, weight, n_labels, edge_counts):
    """Posteriors, expected bigrams of the first step and triples of the others, times the sequence's weight.

    Writes: lattice.scores (posteriors), edge_counts (added to); lattice.alpha, .opening and .follow (zeroed, so that
    the block's shared sum of triples adds nothing for this sequence).
    """
    alpha, beta = lattice.alpha, lattice.follow
    for j in range(n_labels):
        for k in range(n_labels):
            beta[(last - 1) * n_labels + j, k] = 0.0
    for t in range(last - 1, first, -1):
        pair_step_back(lattice, first, t, edges, weight, n_labels, edge_counts)
    for t in range(first, last):
        settle_posteriors(lattice, first, t, weight, n_labels)
        for k in range(alpha.shape[1]):
            lattice.opening[t, k] = 0.0
            for r in range(t * n_labels, (t + 1) * n_labels):
                alpha[r, k] = beta[r, k] = 0.0


@ordered_kernel
def settle_posteriors(lattice, first, t, weight, n_labels):
    """The labels' posteriors from alpha and beta of the pairs. Writes: row t of lattice.scores."""
    scores, beta, n_rows = lattice.scores, lattice.follow, 1 if t == first else n_labels
    top, total = -math.inf, 0.0
    for j in range(n_rows):
        for k in range(n_labels):
            top = max(top, log_alpha(lattice, first, t, j, k, n_labels) + beta[t * n_labels + j, k])
    for k in range(scores.shape[1]):
        scores[t, k] = 0.0
    for j in range(n_rows):
        for k in range(n_labels):
            share = math.exp(log_alpha(lattice, first, t, j, k, n_labels) + beta[t * n_labels + j, k] - top)
            scores[t, k] += share
            total += share
    for k in range(n_labels):
        scores[t, k] *= weight / total


@ordered_kernel
def pair_step_back(lattice, first, t, edges, weight, n_labels, edge_counts):
    """From position t to the one before: p(j, k, m) is proportional to exp(alpha_jk + x(j, k, m)).

    Writes: rows t - 1 of lattice.follow (beta), edge_counts (added to).
    """
    scores, beta, steps = lattice.scores, lattice.follow, edges.steps
    before, n_before = (t - 1) * n_labels, rows_before(first, t, n_labels)
    highest, top, total = -math.inf, -math.inf, 0.0
    for j in range(n_before):
        for k in range(n_labels):
            h, ahead, largest = history(first, t, j, k, n_labels), t * n_labels + k, -math.inf
            for m in range(n_labels):
                largest = max(largest, (steps[h, m] - edges.top) + scores[t, m] + beta[ahead, m])
            beta[before + j, k] = largest  # for now: the largest x(j, k, m) of each j, k
            highest, top = max(highest, largest), max(top, log_alpha(lattice, first, t - 1, j, k, n_labels) + largest)
    for j in range(n_before):
        for k in range(n_labels):
            h, ahead = history(first, t, j, k, n_labels), t * n_labels + k
            share = math.exp(log_alpha(lattice, first, t - 1, j, k, n_labels) + beta[before + j, k] - top)
            for m in range(n_labels):
                x = (steps[h, m] - edges.top) + scores[t, m] + beta[ahead, m]
                total += share * math.exp(x - beta[before + j, k])
    for j in range(n_before):
        for k in range(n_labels):
            h, ahead = history(first, t, j, k, n_labels), t * n_labels + k
            share = math.exp(log_alpha(lattice, first, t - 1, j, k, n_labels) + beta[before + j, k] - top)
            factor, rest = weight * share / total, 0.0
            for m in range(n_labels):
                x = (steps[h, m] - edges.top) + scores[t, m] + beta[ahead, m]
                share = math.exp(x - beta[before + j, k])
                edge_counts[h, m] += factor * share
                rest += share
            beta[before + j, k] = (beta[before + j, k] - highest) + math.log(rest)
