"""Forward-backward in the log domain, for the rare sequence whose scores are too wide for doubles to hold as
probabilities.

Label scores come with their maximum subtracted, transitions are taken relative to the largest, and alpha and beta have
their own maximum (nearly) subtracted at every position: what matters is near 0, where doubles are dense, however large
the scores were. Posteriors and expected bigrams are normalised at each position, so that no rounding of log Z can make
a probability exceed 1. K^2 exponentials a position each way make it slow.
"""

from __future__ import annotations

import numpy as np

from fastcrf.kernel import ordered_kernel


@ordered_kernel
def log_forward(lattice, first, last, edges, n_labels):
    """log Z of the shifted scores of positions first..last-1, transitions in full.

    Writes: lattice.alpha, the logs of probabilities p(y_t = k | scores up to t).
    """
    scores, alpha = lattice.scores, lattice.alpha
    log_z = normalise_logs(scores[first], alpha[first], n_labels)
    reached, terms = np.empty(n_labels), np.empty(n_labels)
    for t in range(first + 1, last):
        for k in range(n_labels):
            top = -np.inf
            for j in range(n_labels):
                terms[j] = alpha[t - 1, j] + (edges.scores[t * edges.stride + j, k] - edges.top)
                top = max(top, terms[j])
            total = 0.0
            for j in range(n_labels):
                total += np.exp(terms[j] - top)
            reached[k] = top + scores[t, k] + np.log(total)
        log_z += normalise_logs(reached, alpha[t], n_labels)
    return log_z + (last - first - 1) * edges.top


@ordered_kernel
def normalise_logs(x, logs, n_labels):
    """log sum_k exp(x[k]), and logs[k] = x[k] minus that, rounded once. Writes: logs."""
    top = x[0]
    for k in range(1, n_labels):
        top = max(top, x[k])
    total = 0.0
    for k in range(n_labels):
        total += np.exp(x[k] - top)
    rest = np.log(total)
    for k in range(n_labels):
        logs[k] = (x[k] - top) - rest
    return top + rest


@ordered_kernel
def log_backward(lattice, first, last, edges, weight, n_labels, edge_counts):
    """Posteriors and expected label bigrams, times the sequence's weight.

    Writes: lattice.scores (posteriors), edge_counts (added to), lattice.alpha and lattice.follow (zeroed, so that the
    block's shared edge sum adds nothing for this sequence).
    """
    scores, alpha, beta = lattice.scores, lattice.alpha, lattice.follow
    shares, tops, sums = np.empty((n_labels, n_labels)), np.empty(n_labels), np.empty(n_labels)
    for k in range(n_labels):
        beta[last - 1, k] = 0.0
    for t in range(last - 1, first, -1):
        for j in range(n_labels):
            top = -np.inf
            for k in range(n_labels):
                shares[j, k] = (edges.scores[t * edges.stride + j, k] - edges.top) + scores[t, k] + beta[t, k]
                top = max(top, shares[j, k])
            total = 0.0
            for k in range(n_labels):
                shares[j, k] = np.exp(shares[j, k] - top)
                total += shares[j, k]
            tops[j], sums[j] = top, total
        add_wide_edges(alpha[t - 1], shares, tops, sums, weight, n_labels, edge_counts)
        highest = tops.max()
        for j in range(n_labels):
            beta[t - 1, j] = (tops[j] - highest) + np.log(sums[j])
    for t in range(first, last):
        posteriors_of_logs(alpha[t], beta[t], weight, n_labels, scores[t])
        alpha[t, :] = 0.0
        beta[t, :] = 0.0


@ordered_kernel
def add_wide_edges(alpha, shares, tops, sums, weight, n_labels, edge_counts):
    """Expected bigrams at one position: p(j, k) is proportional to exp(alpha_j + tops_j) shares(j, k).

    `sums` are those of the rows of `shares`. Writes: edge_counts (added to).
    """
    top = -np.inf
    for j in range(n_labels):
        top = max(top, alpha[j] + tops[j])
    total = 0.0
    for j in range(n_labels):
        total += np.exp(alpha[j] + tops[j] - top) * sums[j]
    for j in range(n_labels):
        factor = weight * np.exp(alpha[j] + tops[j] - top) / total
        for k in range(n_labels):
            edge_counts[j, k] += factor * shares[j, k]


@ordered_kernel
def posteriors_of_logs(alpha, beta, weight, n_labels, posteriors):
    """weight * p(k), proportional to exp(alpha_k + beta_k). Writes: posteriors."""
    top = -np.inf
    for k in range(n_labels):
        top = max(top, alpha[k] + beta[k])
    total = 0.0
    for k in range(n_labels):
        posteriors[k] = np.exp(alpha[k] + beta[k] - top)
        total += posteriors[k]
    for k in range(n_labels):
        posteriors[k] *= weight / total
    posteriors[n_labels:] = 0.0


@ordered_kernel
def log_chance(scores, transitions, labels):
    """log p(labels | scores) of one sequence with label scores [T, K], as differences from the path itself.

    Neither the path's score nor log Z is ever formed, which may be so large that their difference is lost.
    """
    T, K = len(labels), scores.shape[1]
    ahead, reached, terms = scores[0] - scores[0, labels[0]], np.empty(K), np.empty(K)
    for t in range(1, T):
        step = transitions[labels[t - 1], labels[t]]
        for k in range(K):
            top = -np.inf
            for j in range(K):
                terms[j] = ahead[j] + (transitions[j, k] - step)
                top = max(top, terms[j])
            total = 0.0
            for j in range(K):
                total += np.exp(terms[j] - top)
            reached[k] = top + (scores[t, k] - scores[t, labels[t]]) + np.log(total)
        ahead[:] = reached
    return -normalise_logs(ahead, reached, K)
