"""The loop of SAG and its variants: Schmidt et al. (2015), Algorithm 1, for blocks of one or more sequences.

With g_i the stored gradient of block i, d = sum_i g_i, m the number of sequences in d, lambda in the mean scale:

    sample i;  g = grad nll_i(w);  D = g - g_i;  g_i <- g_i + growth D;  d <- d + growth D
    L_i by Algorithm 2 (lipschitz_search.py);  a = step size from the L's
    w <- (1 - a lambda) w - a [ d_before / m + (1 - correction) growth D / m + correction D / (n p_i) ]

Samples, L's and step size follow a scheme (scheme.py); p_i is the probability of the sample.

    growth 1, correction 0    SAG: w moves along the new d
    growth 1, correction 1    SAGA: the step is unbiased for any p_i
    growth 0, correction 1    SVRG: the g_i and d stay until the next snapshot

stochastic/stored_gradients.py defines the storage of g_i, and lazy_vectors/lazy_vector.py moves all weights by d / m at
once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastcrf.inference.expectations import score_block
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors.lazy_vector import advance, turn
from fastcrf.objective.blocks import Blocks, Workspace, collect_change
from fastcrf.simd.rows import copy_rows
from fastcrf.solvers.sag.schemes.lipschitz_search import Direction, Ray, search_lipschitz
from fastcrf.solvers.sag.schemes.scheme import begin_visit, end_visit, fade, sample, step_size
from fastcrf.stochastic.block_evaluation import ENTROPY, LOSS, infer_current, score_current
from fastcrf.stochastic.local_change import mask_change
from fastcrf.stochastic.stored_gradients import exchange, recursions

FLAT = 1e-8  # squared gradient norm below which a search would only measure rounding (Algorithm 1, line 12)


class Average(NamedTuple):
    """The weights, the stored gradients and their sum, and the arrays to evaluate a block."""

    blocks: Blocks
    vector: Any  # w and d (lazy_vectors/lazy_vector.py)
    gradients: Any  # the g_i (stochastic/stored_gradients.py)
    figures: np.ndarray  # [B, 2] LOSS and ENTROPY of each block at its last visit
    space: Workspace
    scores: np.ndarray  # [T, Kp] a block's label scores, copied because inference overwrites them: Direction's


class State(NamedTuple):
    """The arrays that samples read and write."""

    average: Average
    scheme: Any
    covered: np.ndarray  # [1] m
    direction: Direction
    lam: float
    growth: float
    correction: float


@noalloc_kernel
def average_gradient_samples(state, uniforms, lanes):
    """Take one sample per uniform; return the number of forward(-backward) recursions. Writes: state."""
    blocks, vector, gradients = state.average.blocks, state.average.vector, state.average.gradients
    figures, covered, scheme = state.average.figures, state.covered, state.scheme
    bounds, n, H = blocks.chains.bounds, len(blocks.chains.starts) - 1, blocks.layout.n_contexts
    lam, growth, evaluations = state.lam, state.growth, 0
    for u in uniforms:
        i, p = sample(scheme, u, lam)  # line 4
        loss, entropy, trials, new = visit(state, i, growth, lanes)
        size = bounds[i + 1] - bounds[i]
        evaluations += size * (1 + trials + recursions(gradients))
        figures[i, LOSS] = loss
        if growth > 0.0:
            figures[i, ENTROPY] = entropy
        if new:
            covered[0] = min(covered[0] + size, n)  # line 7
        a, m = step_size(scheme, lam), covered[0]  # line 15
        shrink = 1.0 - a * lam
        step = state.correction * (1.0 / (n * p) - growth / m) * a / shrink  # growth / m of it: `advance`, below
        turn(vector, blocks.support, i, growth, step, gradients.change, gradients.edge_change, H, lanes)  # line 10
        advance(vector, shrink, a / m, lanes)  # line 16
        if trials > 0:  # otherwise L would fade without end while gradients are flat
            fade(scheme, i)  # line 17
    return evaluations


@noalloc_kernel
def visit(state, i, growth, lanes):
    """Evaluate block i: its change goes to the stored gradients, its L to the scheme (Algorithm 1, lines 5 to 14).

    Returns (loss, entropy, trials of the search, whether i is new). Writes: state, all but w and d.
    """
    blocks, scheme, space = state.average.blocks, state.scheme, state.average.space
    edges = score_current(blocks, i, state.average.vector, space, lanes)
    searching, L, down = begin_visit(scheme, i)
    loss, entropy = infer_current(blocks, i, edges, space, state.average.scores, lanes)
    exchange(state.average.gradients, blocks, i, growth, space, lanes)
    trials = 0
    if searching:
        L, trials = search_block(blocks, i, loss, L, down, space, state.direction, lanes)
    return loss, entropy, trials, end_visit(scheme, i, L, trials)


@outlined_kernel
def search_block(blocks, i, loss, L, down, space, direction, lanes):
    """Return (L of block i by Algorithm 2, trials); space holds its residuals, direction its scores.

    f_i is the mean over the block, but losses and gradients here are sums: their L is `size` times as large. Writes:
    space, direction.
    """
    local, support, bounds = blocks.local, blocks.support, blocks.chains.bounds
    size, layout = bounds[i + 1] - bounds[i], blocks.layout
    collect_change(local, bounds, support, i, space.lattice.scores, space.change, lanes)
    square = mask_change(support, i, space.change, space.edge_sums, layout.n_contexts, lanes)
    if square <= FLAT * size * size:
        return L, 0
    score_block(local, space.change, direction.bias, bounds[i], bounds[i + 1], direction.slopes, lanes)
    copy_rows(space.edge_sums, direction.edge_slopes, layout.n_contexts, lanes)
    ray = Ray(blocks.chains, direction, space.edges.scores, space.lattice, layout.n_labels)
    found, trials = search_lipschitz(ray, i, loss, square, L * size, down, lanes)
    return found / size, trials


@noalloc_kernel
def store_gradient(average, gradients, i, lanes):
    """Evaluate block i and replace its stored gradient. Writes: average.figures, .space, .scores; gradients.

    `gradients` are the average's, or the same with another array for a change.
    """
    blocks, space, figures = average.blocks, average.space, average.figures
    edges = score_current(blocks, i, average.vector, space, lanes)
    figures[i, LOSS], figures[i, ENTROPY] = infer_current(blocks, i, edges, space, average.scores, lanes)
    exchange(gradients, blocks, i, 1.0, space, lanes)


@noalloc_kernel
def fill_gradients(average, first, last, lanes):
    """Replace the stored gradients of blocks first..last-1, and update d; return their loss.

    Writes: average, all but w.
    """
    support, gradients = average.blocks.support, average.gradients
    H, total = average.blocks.layout.n_contexts, 0.0
    for i in range(first, last):
        store_gradient(average, gradients, i, lanes)
        turn(average.vector, support, i, 1.0, 0.0, gradients.change, gradients.edge_change, H, lanes)
        total += average.figures[i, LOSS]
    return total
