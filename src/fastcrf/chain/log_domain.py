"""Forward-backward in the log domain, for the rare sequence whose scores are too wide for doubles to hold as
probabilities.

K^2 exponentials a position make it slow; it is exact for scores of any finite size.
"""

from __future__ import annotations

import numpy as np

from fastcrf.kernel import kernel


@kernel
def log_sum_exp(x, n):
    """log sum_k exp(x[k]) over the first n entries."""
    top = x[0]
    for k in range(1, n):
        top = max(top, x[k])
    total = 0.0
    for k in range(n):
        total += np.exp(x[k] - top)
    return top + np.log(total)


@kernel
def log_forward(lattice, first, last, edges, n_labels):
    """log Z of the shifted scores of positions first..last-1, transitions in full. Writes: lattice.alpha (logs)."""
    scores, alpha = lattice.scores, lattice.alpha
    terms = np.empty(n_labels)
    for k in range(n_labels):
        alpha[first, k] = scores[first, k]
    for t in range(first + 1, last):
        for k in range(n_labels):
            for j in range(n_labels):
                terms[j] = alpha[t - 1, j] + edges.scores[t * edges.stride + j, k]
            alpha[t, k] = log_sum_exp(terms, n_labels) + scores[t, k]
    return log_sum_exp(alpha[last - 1], n_labels)


@kernel
def log_backward(lattice, first, last, edges, weight, log_z, n_labels, edge_counts):
    """Posteriors and expected label bigrams, times the sequence's weight.

    Writes: lattice.scores (posteriors), edge_counts (added to), lattice.alpha and lattice.follow (zeroed, so that the
    block's shared edge sum adds nothing for this sequence).
    """
    scores, alpha, beta = lattice.scores, lattice.alpha, lattice.follow
    terms = np.empty(n_labels)
    for k in range(n_labels):
        beta[last - 1, k] = 0.0
    for t in range(last - 1, first, -1):
        row = t * edges.stride
        for j in range(n_labels):
            for k in range(n_labels):
                terms[k] = edges.scores[row + j, k] + scores[t, k] + beta[t, k]
                edge_counts[j, k] += weight * np.exp(alpha[t - 1, j] + terms[k] - log_z)
            beta[t - 1, j] = log_sum_exp(terms, n_labels)
    for t in range(first, last):
        for k in range(n_labels):
            scores[t, k] = weight * np.exp(alpha[t, k] + beta[t, k] - log_z)
        scores[t, n_labels:] = 0.0
        alpha[t, :] = 0.0
        beta[t, :] = 0.0
