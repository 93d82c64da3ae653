"""Hessian-vector products for sequences with a large score range: tables A and B of Tsuboi et al. (2011).

Conditional expectations need no scaling: A[t, k] is a mean over the previous labels, with weights from log_domain.py.
Like that module, this one is written for short compile times: plain loops without arrays of its own.
"""

from __future__ import annotations

import math

from fastcrf.inference.log_domain import log_forward, step_back
from fastcrf.jit.kernel import strict_kernel


@strict_kernel
def log_differentiate(row, first, last, direction, bench, weight, n_labels):
    """Compute node' and edges' of one sequence, times its weight; bench.block.emission holds its shifted label scores.

    Writes: change.scores (rU, then node'), product.wide_edges (added to), lattice; alpha and follow of both lattices
    end as zeros, so that the block's shared sums of edges add nothing for this sequence.
    """
    left, lattice, change, edge_changes = bench.block, bench.lattice, bench.change, bench.product.wide_edges
    edges, nothing = direction.edges, 0.0 * weight
    for t in range(first, last):
        for k in range(lattice.scores.shape[1]):
            lattice.scores[t, k] = left.emission[row + t - first, k]
            lattice.follow[t, k] = 0.0
    log_forward(lattice, first, last, edges, n_labels)
    for t in range(last - 1, first, -1):
        step_back(lattice, t, edges, nothing, n_labels, edge_changes)
    mean = look_back(lattice, change, first, last, edges, direction, n_labels)
    look_ahead(lattice, change, first, last, edges, direction, mean, n_labels)
    for t in range(first + 1, last):
        add_edges_between(lattice, change, t, edges, direction, weight, n_labels, edge_changes)
    for t in range(first, last):
        settle(lattice, change, t, weight, n_labels)


@strict_kernel
def look_back(lattice, change, first, last, edges, direction, n_labels):
    """Compute A, and return ebar. Writes: change.alpha (A)."""
    A, alpha = change.alpha, lattice.alpha
    for t in range(first, last):
        for k in range(n_labels):
            A[t, k] = change.scores[t, k]
            if t > first:
                top, total, mean = -math.inf, 0.0, 0.0
                for j in range(n_labels):
                    top = max(top, alpha[t - 1, j] + (edges.scores[j, k] - edges.top))
                for j in range(n_labels):
                    p = math.exp(alpha[t - 1, j] + (edges.scores[j, k] - edges.top) - top)
                    total += p
                    mean += p * (A[t - 1, j] + direction.scores[j, k])
                A[t, k] += mean / total
    ebar = 0.0
    for k in range(n_labels):
        ebar += math.exp(alpha[last - 1, k]) * A[last - 1, k]
    return ebar


@strict_kernel
def look_ahead(lattice, change, first, last, edges, direction, ebar, n_labels):
    """Compute B - ebar. Writes: change.follow."""
    B, beta = change.follow, lattice.follow
    for k in range(n_labels):
        B[last - 1, k] = -ebar
    for t in range(last - 1, first, -1):
        for j in range(n_labels):
            top, total, mean = -math.inf, 0.0, 0.0
            for k in range(n_labels):
                top = max(top, (edges.scores[j, k] - edges.top) + lattice.scores[t, k] + beta[t, k])
            for k in range(n_labels):
                p = math.exp((edges.scores[j, k] - edges.top) + lattice.scores[t, k] + beta[t, k] - top)
                total += p
                mean += p * (direction.scores[j, k] + change.scores[t, k] + B[t, k])
            B[t - 1, j] = mean / total


@strict_kernel
def add_edges_between(lattice, change, t, edges, direction, weight, n_labels, edge_changes):
    """Add p(j, k) (A[t-1, j] + rV(j, k) + rU[t, k] + B[t, k] - ebar), weighted. Writes: edge_changes (added to)."""
    top, total = -math.inf, 0.0
    for j in range(n_labels):
        for k in range(n_labels):
            ahead = lattice.scores[t, k] + lattice.follow[t, k]
            top = max(top, lattice.alpha[t - 1, j] + (edges.scores[j, k] - edges.top) + ahead)
    for j in range(n_labels):
        for k in range(n_labels):
            ahead = lattice.scores[t, k] + lattice.follow[t, k]
            total += math.exp(lattice.alpha[t - 1, j] + (edges.scores[j, k] - edges.top) + ahead - top)
    for j in range(n_labels):
        for k in range(n_labels):
            ahead = lattice.scores[t, k] + lattice.follow[t, k]
            p = math.exp(lattice.alpha[t - 1, j] + (edges.scores[j, k] - edges.top) + ahead - top) / total
            around = change.alpha[t - 1, j] + direction.scores[j, k] + change.scores[t, k] + change.follow[t, k]
            edge_changes[j, k] += weight * p * around


@strict_kernel
def settle(lattice, change, t, weight, n_labels):
    """Compute node'. Writes: change.scores; alpha and follow of both lattices (zeros)."""
    top, total = -math.inf, 0.0
    for k in range(n_labels):
        top = max(top, lattice.alpha[t, k] + lattice.follow[t, k])
    for k in range(n_labels):
        total += math.exp(lattice.alpha[t, k] + lattice.follow[t, k] - top)
    for k in range(change.scores.shape[1]):
        moved = 0.0
        if k < n_labels:
            p = math.exp(lattice.alpha[t, k] + lattice.follow[t, k] - top) / total
            moved = weight * p * (change.alpha[t, k] + change.follow[t, k])
        change.scores[t, k] = moved
        change.alpha[t, k] = change.follow[t, k] = lattice.alpha[t, k] = lattice.follow[t, k] = 0.0
