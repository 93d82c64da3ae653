"""Forward-backward in the log domain, for the rare sequence whose scores are too wide for doubles to hold as
probabilities.

K^2 exponentials a position make it slow; it is exact for scores of any finite size. Everybody waits for its compilation
and hardly anybody needs it, so it is written for that: plain loops without arrays of its own, and each sum over labels
is made of terms that are computed twice (their maximum first).
"""

from __future__ import annotations

import math

from fastcrf.kernel import standing_kernel


@standing_kernel
def log_forward(lattice, first, last, edges, n_labels):
    """log Z of the shifted scores of positions first..last-1, transitions in full. Writes: lattice.alpha (logs)."""
    scores, alpha, bigrams = lattice.scores, lattice.alpha, edges.scores
    for t in range(first, last):
        row = t * edges.stride
        for k in range(n_labels):
            if t == first:
                alpha[t, k] = scores[t, k]
                continue
            top, total = -math.inf, 0.0
            for j in range(n_labels):
                top = max(top, alpha[t - 1, j] + bigrams[row + j, k])
            for j in range(n_labels):
                total += math.exp(alpha[t - 1, j] + bigrams[row + j, k] - top)
            alpha[t, k] = top + math.log(total) + scores[t, k]
    top, total = -math.inf, 0.0
    for k in range(n_labels):
        top = max(top, alpha[last - 1, k])
    for k in range(n_labels):
        total += math.exp(alpha[last - 1, k] - top)
    return top + math.log(total)


@standing_kernel
def log_backward(lattice, first, last, edges, weight, log_z, n_labels, edge_counts):
    """Posteriors and expected label bigrams, times the sequence's weight.

    Writes: lattice.scores (posteriors), edge_counts (added to), lattice.alpha and lattice.follow (zeroed, so that the
    block's shared edge sum adds nothing for this sequence).
    """
    scores, alpha, beta, bigrams = lattice.scores, lattice.alpha, lattice.follow, edges.scores
    for t in range(last - 1, first - 1, -1):
        row = (t + 1) * edges.stride
        for j in range(n_labels):
            beta[t, j] = 0.0
            if t + 1 < last:
                top, total = -math.inf, 0.0
                for k in range(n_labels):
                    term = bigrams[row + j, k] + scores[t + 1, k] + beta[t + 1, k]
                    edge_counts[j, k] += weight * math.exp(alpha[t, j] + term - log_z)
                    top = max(top, term)
                for k in range(n_labels):
                    total += math.exp(bigrams[row + j, k] + scores[t + 1, k] + beta[t + 1, k] - top)
                beta[t, j] = top + math.log(total)
    for t in range(first, last):
        for k in range(scores.shape[1]):
            known = k < n_labels
            scores[t, k] = weight * math.exp(alpha[t, k] + beta[t, k] - log_z) if known else 0.0
            alpha[t, k] = 0.0
            beta[t, k] = 0.0
