"""Implementations of generic functions for chains of higher order: inference, sums over a block, steps for solvers.

Expected steps are summed over a block in units of exp(step), like bigrams in a chain of order 1. Counts of steps become
counts of weights by counting each context also for all contexts that it ends with (`count_shorter`, and contexts.py
for whole gradients).
"""

from __future__ import annotations

import math

import numpy as np

from fastcrf.higher_order.lattice import (
    ContextEdges,
    ContextLattice,
    clear_ahead,
    context_backward,
    context_forward,
    look_ahead,
    make_context_edges,
    make_context_lattice,
    too_wide,
)
from fastcrf.higher_order.log_domain import context_log_backward, context_log_forward, context_step_back
from fastcrf.higher_order.viterbi import best_labeling_of_contexts
from fastcrf.inference.edges import LOWEST_SCORE, add_labeling, count_shorter, gold_score, refresh_edges, settle_edges
from fastcrf.inference.entropy import expected_edge_score
from fastcrf.inference.expectations import add_edges, infer, log_partition
from fastcrf.inference.forward_backward import shift_scores
from fastcrf.inference.steps import expect_step, infer_log_steps, is_wide
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import add, add_scaled, flat_rows, larger, largest, load, multiply, scale, shift, store, zeros
from fastcrf.simd.rows import clear_rows

__all__ = ["best_labeling_of_contexts", "make_context_edges", "make_context_lattice"]  # any_order.py exports these


@infer.register(ContextLattice)
@outlined_kernel
def infer_contexts(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):
    """Implement `infer`. Writes: lattice, wide_edges."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if too_wide(edges, spread):
        log_z = context_log_forward(lattice, first, last, edges, n_labels)
        context_log_backward(lattice, first, last, edges, weight, n_labels, wide_edges)
        return maxima + log_z
    exponentiate(flat_rows(lattice.scores, first, last))
    log_z = context_forward(lattice, first, last, edges, n_labels, lanes)
    context_backward(lattice, first, last, edges, weight, n_labels, lanes)
    return maxima + log_z + (last - first - 1) * edges.top


@log_partition.register(ContextLattice)
@outlined_kernel
def log_partition_of_contexts(lattice, first, last, edges, n_labels, lanes):
    """Implement `log_partition`. Writes: lattice."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if too_wide(edges, spread):
        return maxima + context_log_forward(lattice, first, last, edges, n_labels)
    exponentiate(flat_rows(lattice.scores, first, last))
    return maxima + context_forward(lattice, first, last, edges, n_labels, lanes) + (last - first - 1) * edges.top


@add_edges.register(ContextLattice)
@outlined_kernel
def add_steps(lattice, n_positions, edges, n_labels, sums, lanes):
    """Add sums(h, l) += sum_t alpha_{t-1}(h) follow_t(h l). Writes: sums; lattice.rows (zeros again)."""
    for t in range(1, n_positions):
        if lattice.scaling[t] != 0.0:  # otherwise a sequence begins
            look_ahead(lattice.follow, t, edges, lattice.rows, n_labels, lanes)
            for h in range(len(edges.shorter)):
                add_row(lattice.alpha[t - 1, h], lattice.rows, edges.place[h], sums, h, lanes)
    clear_ahead(lattice.rows, lanes)


@noalloc_kernel
def add_row(factor, source, row, target, place, lanes):
    """Add target[place] += factor * source[row]. Writes: target."""
    for b in range(0, target.shape[1], len(lanes)):
        store(target, place, b, add_scaled(factor, load(source, row, b, lanes), load(target, place, b, lanes)))


@expected_edge_score.register(ContextLattice)
@outlined_kernel
def expected_step_score(lattice, first, last, edges, wide_edges, n_labels, lanes):
    """Implement `expected_edge_score`. Writes: wide_edges (zeros); lattice.rows (zeros again)."""
    expected = 0.0
    for h in range(len(edges.steps)):
        for k in range(n_labels):
            expected += wide_edges[h, k] * edges.steps[h, k]
            wide_edges[h, k] = 0.0
    for t in range(first + 1, last):
        look_ahead(lattice.follow, t, edges, lattice.rows, n_labels, lanes)
        for h in range(len(edges.steps)):
            ahead = 0.0
            for k in range(n_labels):
                ahead += edges.forward[h, k] * edges.steps[h, k] * lattice.rows[edges.place[h], k]
            expected += lattice.alpha[t - 1, h] * ahead
    clear_ahead(lattice.rows, lanes)
    return expected


@refresh_edges.register(ContextEdges)
@outlined_kernel
def refresh_context_edges(edges, n_labels, bias, lanes):
    """Implement `refresh_edges`. Writes: edges.steps, edges.forward."""
    scores, steps, forward, Kp, W = edges.scores, edges.steps, edges.forward, edges.scores.shape[1], len(lanes)
    high = shift(zeros(lanes), LOWEST_SCORE)
    low = high
    for h in range(len(scores)):
        for b in range(0, Kp, W):
            row = load(scores, h, b, lanes)
            if edges.shorter[h] >= 0:
                row = add(row, load(steps, edges.shorter[h], b, lanes))
            store(steps, h, b, row)
            high = larger(high, add(row, load(bias, 0, b, lanes)))
            low = larger(low, add_scaled(-1.0, row, load(bias, 0, b, lanes)))
    top, bottom = largest(high), -largest(low)
    for h in range(len(scores)):
        for b in range(0, Kp, W):
            store(forward, h, b, shift(load(steps, h, b, lanes), -top))
    exponentiate(flat_rows(forward, 0, len(forward)))
    for h in range(len(scores)):
        for k in range(n_labels, Kp):
            forward[h, k] = 0.0
    return with_top(edges, top, top - bottom)


@noalloc_kernel
def with_top(edges, top, spread):
    """Return the same edges with another largest step and spread."""
    return ContextEdges(
        edges.scores, edges.steps, edges.forward, edges.shorter, edges.last, edges.following, edges.starts,
        edges.longer, edges.place, edges.below, edges.favored, edges.factor, edges.longest, top, spread,
    )  # fmt: skip


@gold_score.register(ContextEdges)
def gold_score_of_contexts(edges, labels, scores, first, n_labels):
    score, h = scores[first, labels[0]], np.int64(labels[0])  # the row of a label is its number
    for t in range(1, len(labels)):
        score += scores[first + t, labels[t]] + edges.steps[h, labels[t]]
        h = edges.following[h, labels[t]]
    return score


@add_labeling.register(ContextEdges)
def add_steps_of_labeling(edges, labels, amount, counts, n_labels):
    h = np.int64(labels[0])
    for t in range(1, len(labels)):
        row = h
        while row >= 0:
            counts[row, labels[t]] += amount
            row = edges.shorter[row]
        h = edges.following[h, labels[t]]


@settle_edges.register(ContextEdges)
@outlined_kernel
def settle_steps(edges, edge_sums, wide_edges, n_labels, lanes):
    """Implement `settle_edges`. Writes: edge_sums."""
    for h in range(len(edges.forward)):
        for b in range(0, edge_sums.shape[1], len(lanes)):
            expected = multiply(load(edge_sums, h, b, lanes), load(edges.forward, h, b, lanes))
            store(edge_sums, h, b, add(expected, load(wide_edges, h, b, lanes)))
    count_shorter(edges, edge_sums, n_labels, lanes)


@count_shorter.register(ContextEdges)
@outlined_kernel
def count_for_shorter(edges, counts, n_labels, lanes):
    """Implement `count_shorter`. Writes: counts."""
    for h in range(len(edges.shorter) - 1, n_labels - 1, -1):
        add_row(1.0, counts, h, counts, edges.shorter[h], lanes)


@is_wide.register(ContextEdges)
def contexts_are_wide(edges, spread):
    return too_wide(edges, spread)


@expect_step.register(ContextEdges)
@outlined_kernel
def expect_step_of_contexts(edges, lattice, t, steps, n_labels, lanes):
    """Implement `expect_step`. Writes: steps; lattice.rows (zeros again)."""
    look_ahead(lattice.follow, t, edges, lattice.rows, n_labels, lanes)
    for h in range(len(edges.shorter)):
        for b in range(0, steps.shape[1], len(lanes)):
            reached = scale(lattice.alpha[t - 1, h], load(lattice.rows, edges.place[h], b, lanes))
            store(steps, h, b, multiply(reached, load(edges.forward, h, b, lanes)))
    clear_ahead(lattice.rows, lanes)


@infer_log_steps.register(ContextEdges)
@outlined_kernel
def infer_log_steps_of_contexts(edges, lattice, length, labels, steps, n_labels, lanes):
    """Implement `infer_log_steps`. Writes: as `infer_log_steps`."""
    log_z, last, H = context_log_forward(lattice, np.int64(0), length, edges, n_labels), length - 1, len(edges.shorter)
    clear_rows(labels, length, lanes)
    for h in range(H):
        lattice.follow[last, h] = 0.0
        labels[last, edges.last[h]] += math.exp(lattice.alpha[last, h])
    for t in range(last, 0, -1):
        rows = steps[(t - 1) * H :]
        clear_rows(rows, H, lanes)
        context_step_back(lattice, t, edges, 1.0, n_labels, rows)
        for h in range(H):
            for k in range(n_labels):
                labels[t - 1, edges.last[h]] += rows[h, k]
    return log_z
