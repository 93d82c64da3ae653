"""Cached inference at a point: enough for any number of Hessian-vector products there, without an exp.

Tsuboi et al. (2011) cache the marginals of nodes and edges, T K + T K^2 numbers per sequence. With one matrix M for all
edges of forward_backward.py the marginals are products of three rows per position. Those rows are cached instead, 3 T K
numbers:

    alpha_t(k),   beta_t(k),   emission_t(k) = B_t(k) / z_{t-1}  (0 where a sequence begins)

    p(y_t = k | x) = alpha_t(k) beta_t(k)
    p(y_{t-1} = j, y_t = k | x) = alpha_{t-1}(j) M(j, k) emission_t(k) beta_t(k)

Like the posteriors, beta is weighted by the sequence's weight. For a sequence whose score range is too large for the
probability domain, the cache holds the (shifted) label scores instead, and log_tangents.py repeats inference from
those.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.expectations import add_edges, end_of_block, infer, scatter_block, score_block
from fastcrf.inference.forward_backward import WIDEST_SPREAD, Lattice, forward, row_times, shift_scores
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import flat_rows, load, multiply, scale, store
from fastcrf.simd.prefetch import prefetch
from fastcrf.simd.widths import CACHE_LINE, aligned_zeros

ROWS = 3  # arrays of K numbers per position
AHEAD = 32  # positions: how early a row is prefetched


class CachedInference(NamedTuple):
    """Cached inference of some positions, one row each."""

    alpha: np.ndarray  # [R, Kp]; 0 in a sequence with a large score range
    beta: np.ndarray  # [R, Kp]
    emission: np.ndarray  # [R, Kp]; the shifted label scores of a sequence with a large score range
    wide: np.ndarray  # [R] bool, at the first position of a sequence: whether its score range is too large
    far: bool  # exceeds the CPU caches, so that prefetching pays


class Caching(NamedTuple):
    """The work arrays of a thread, and its cache."""

    lattice: Lattice
    wide_edges: np.ndarray  # as in Expected
    left: CachedInference


def make_cache(n_positions: int, padded: int, far: bool) -> CachedInference:
    alpha, beta, emission = (aligned_zeros(n_positions, padded) for _ in range(ROWS))
    return CachedInference(alpha, beta, emission, np.zeros(n_positions, np.bool_), far)


@inlined_kernel
def ask_for(left, row):
    """Prefetch a row, which need not exist, so that recursions do not wait for it."""
    if left.far:
        for k in range(0, left.alpha.shape[1], CACHE_LINE // left.alpha.itemsize):
            prefetch(left.alpha, row, k)
            prefetch(left.beta, row, k)
            prefetch(left.emission, row, k)


@outlined_kernel
def infer_and_cache(sequences, i, base, caching, row, n_labels, lanes):
    """Run `infer` for sequence i of a scored block that begins at position `base`, and cache rows from `row` on.

    The returned log Z is weighted. Writes: caching.
    """
    starts, edges, lattice, left = sequences.positions.starts, sequences.edges, caching.lattice, caching.left
    weight = sequences.weights[i] if len(sequences.weights) > 0 else 1.0
    first, last = starts[i] - base, starts[i + 1] - base
    maxima, spread = shift_scores(lattice, first, last, lanes)
    Kp = lattice.scores.shape[1]
    left.wide[row] = spread + edges.spread > WIDEST_SPREAD
    if left.wide[row]:
        for t in range(first, last):
            for k in range(Kp):
                left.alpha[row + t - first, k] = left.beta[row + t - first, k] = 0.0
                left.emission[row + t - first, k] = lattice.scores[t, k]
        return weight * (maxima + infer(lattice, first, last, edges, weight, caching.wide_edges, n_labels, lanes))
    exponentiate(flat_rows(lattice.scores, first, last))
    log_z = forward(lattice, first, last, edges, n_labels, lanes)
    backward_and_cache(caching, first, last, row, edges, weight, n_labels, lanes)
    return weight * (maxima + log_z + (last - first - 1) * edges.top)


@outlined_kernel
def backward_and_cache(caching, first, last, row, edges, weight, n_labels, lanes):
    """Run `backward`, and cache its intermediate rows. Writes: caching."""
    lattice, left = caching.lattice, caching.left
    scores, alpha, follow, scaling, off = lattice.scores, lattice.alpha, lattice.follow, lattice.scaling, row - first
    beta_last = weight / scaling[first]
    scaling[first] = 0.0  # no edge leads to the first position
    for t in range(last - 1, first - 1, -1):
        ask_for(left, 2 * last - 1 - t + off)  # of the next sequence
        for b in range(0, scores.shape[1], len(lanes)):
            beta = scale(beta_last, load(lattice.start, 0, b, lanes))
            if t < last - 1:
                beta = row_times(follow, t + 1, edges.backward, (t + 1) * edges.stride, n_labels, b, lanes)
            here, emission = load(alpha, t, b, lanes), scale(scaling[t], load(scores, t, b, lanes))
            store(left.alpha, t + off, b, here)
            store(left.beta, t + off, b, beta)
            store(left.emission, t + off, b, emission)
            store(follow, t, b, multiply(emission, beta))
            store(scores, t, b, multiply(here, beta))


@noalloc_kernel
def expect_and_cache(sequences, first, last, lattice, expected, left, n_labels, lanes):
    """Run `expect`, and cache the positions of sequences first..last-1. Writes: left, expected, lattice."""
    positions, starts, loss = sequences.positions, sequences.positions.starts, 0.0
    begin, caching = starts[first], Caching(lattice, expected.wide_edges, left)
    while first < last:
        end, base = end_of_block(starts, first, last), starts[first]
        score_block(positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
        for i in range(first, end):
            loss += infer_and_cache(sequences, i, base, caching, starts[i] - begin, n_labels, lanes)
        add_edges(lattice, starts[end] - starts[first], sequences.edges, n_labels, expected.edges, lanes)
        scatter_block(positions, first, end, lattice.scores, expected.table, lanes)
        first = end
    return loss
