"""What inference, its sums over a block and what solvers that draw ask of them mean for chains of order 2.

Expected triples, and the bigrams of first steps, are summed over a block in units of exp(step), as bigrams are in a
chain of order 1. Counts of steps become counts of weights where a triple counts for its bigram, too (`settle_edges`,
and histories.py for whole gradients).
"""

from __future__ import annotations

from fastcrf.chain.blocks import LOWEST_SCORE, add_labelling, gold_score, refresh_edges, settle_edges
from fastcrf.chain.entropy import expected_edge_score
from fastcrf.chain.expectations import add_edges, infer, log_partition
from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.forward_backward import WIDEST_SPREAD, shift_scores
from fastcrf.chain.lanes import add, add_scaled, flat_rows, larger, largest, load, multiply, shift, store, zeros
from fastcrf.chain.pair_lattice import (
    PairEdges,
    PairLattice,
    make_pair_edges,
    make_pair_lattice,
    pair_backward,
    pair_forward,
)
from fastcrf.chain.pair_log_domain import pair_log_backward, pair_log_forward
from fastcrf.chain.pair_viterbi import best_labelling_of_pairs
from fastcrf.kernel import borrowing_kernel, standing_kernel

__all__ = ["best_labelling_of_pairs", "make_pair_edges", "make_pair_lattice"]  # what orders.py makes known

STRETCH = 32  # positions whose pairs stay in cache while their triples are summed


@infer.register(PairLattice)
@standing_kernel
def infer_pairs(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):
    """As `infer`. Writes: lattice, wide_edges."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        log_z = pair_log_forward(lattice, first, last, edges, n_labels)
        pair_log_backward(lattice, first, last, edges, weight, n_labels, wide_edges)
        return maxima + log_z
    exponentiate(flat_rows(lattice.scores, first, last))
    log_z = pair_forward(lattice, first, last, edges, n_labels, lanes)
    pair_backward(lattice, first, last, edges, weight, n_labels, lanes)
    return maxima + log_z + (last - first - 1) * edges.top


@log_partition.register(PairLattice)
@standing_kernel
def log_partition_of_pairs(lattice, first, last, edges, n_labels, lanes):
    """As `log_partition`. Writes: lattice."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        return maxima + pair_log_forward(lattice, first, last, edges, n_labels)
    exponentiate(flat_rows(lattice.scores, first, last))
    return maxima + pair_forward(lattice, first, last, edges, n_labels, lanes) + (last - first - 1) * edges.top


@add_edges.register(PairLattice)
@standing_kernel
def add_triples(lattice, n_positions, n_labels, sums, lanes):
    """sums(j, k, l) += sum_t alpha_{t-1}(j, k) follow_t(k, l), some positions at a time; the same of first steps.

    Writes: sums.
    """
    for t in range(1, n_positions):
        if lattice.scaling[t - 1] == 0.0:  # where a sequence begins
            for k in range(n_labels):
                add_row(lattice.opening[t - 1, k], lattice.follow, t * n_labels + k, sums, k, lanes)
    for begin in range(1, n_positions, STRETCH):
        end = min(begin + STRETCH, n_positions)
        for k in range(n_labels):
            for b in range(0, sums.shape[1], len(lanes)):
                for j in range(0, n_labels - 1, 2):
                    add_two(lattice, begin, end, j, k, n_labels, sums, b, lanes)
                if n_labels % 2 == 1:
                    h, before = n_labels + k * n_labels + n_labels - 1, n_labels - 1
                    row = load(sums, h, b, lanes)
                    for t in range(begin, end):
                        follow = load(lattice.follow, t * n_labels + k, b, lanes)
                        row = add_scaled(lattice.alpha[(t - 1) * n_labels + before, k], follow, row)
                    store(sums, h, b, row)


@borrowing_kernel
def add_row(factor, source, row, target, place, lanes):
    """target[place] += factor * source[row]. Writes: target."""
    for b in range(0, target.shape[1], len(lanes)):
        store(target, place, b, add_scaled(factor, load(source, row, b, lanes), load(target, place, b, lanes)))


@borrowing_kernel
def add_two(lattice, begin, end, j, k, n_labels, sums, b, lanes):
    """The same for two labels j, whose rows stay in registers while t runs. Writes: sums."""
    h, alpha = n_labels + k * n_labels + j, lattice.alpha
    sum0, sum1 = load(sums, h, b, lanes), load(sums, h + 1, b, lanes)
    for t in range(begin, end):
        row, follow = (t - 1) * n_labels + j, load(lattice.follow, t * n_labels + k, b, lanes)
        sum0 = add_scaled(alpha[row, k], follow, sum0)
        sum1 = add_scaled(alpha[row + 1, k], follow, sum1)
    store(sums, h, b, sum0)
    store(sums, h + 1, b, sum1)


@expected_edge_score.register(PairLattice)
@standing_kernel
def expected_step_score(lattice, first, last, edges, wide_edges, n_labels):
    """As `expected_edge_score`, of bigrams and triples. Writes: wide_edges (zeros)."""
    expected = 0.0
    for h in range(len(edges.steps)):
        for m in range(n_labels):
            expected += wide_edges[h, m] * edges.steps[h, m]
            wide_edges[h, m] = 0.0
    for t in range(first + 1, last):
        for k in range(n_labels):
            if t == first + 1:
                expected += lattice.opening[first, k] * score_ahead(lattice, t, k, edges, k, n_labels)
            else:
                for j in range(n_labels):
                    ahead = score_ahead(lattice, t, k, edges, n_labels + k * n_labels + j, n_labels)
                    expected += lattice.alpha[(t - 1) * n_labels + j, k] * ahead
    return expected


@borrowing_kernel
def score_ahead(lattice, t, k, edges, h, n_labels):
    """sum_m M(h, m) step(h, m) follow_t(k, m)."""
    ahead = 0.0
    for m in range(n_labels):
        ahead += edges.forward[h, m] * edges.steps[h, m] * lattice.follow[t * n_labels + k, m]
    return ahead


@refresh_edges.register(PairEdges)
@standing_kernel
def refresh_pair_edges(edges, n_labels, bias, lanes):
    """As `refresh_edges`. Writes: edges.steps, edges.forward, edges.backward."""
    scores, steps, forward, Kp, W = edges.scores, edges.steps, edges.forward, edges.scores.shape[1], len(lanes)
    high = shift(zeros(lanes), LOWEST_SCORE)
    low = high
    for h in range(len(scores)):
        bigram = (h - n_labels) // n_labels
        for b in range(0, Kp, W):
            row = load(scores, h, b, lanes)
            if h >= n_labels:
                row = add(row, load(scores, bigram, b, lanes))
            store(steps, h, b, row)
            high = larger(high, add(row, load(bias, 0, b, lanes)))
            low = larger(low, add_scaled(-1.0, row, load(bias, 0, b, lanes)))
    top, bottom = largest(high), -largest(low)
    for h in range(len(scores)):
        for b in range(0, Kp, W):
            store(forward, h, b, shift(load(steps, h, b, lanes), -top))
    exponentiate(flat_rows(forward, 0, len(forward)))
    for h in range(len(scores)):
        for m in range(n_labels, Kp):
            forward[h, m] = 0.0
    for k in range(n_labels):
        for j in range(n_labels):
            for m in range(n_labels):
                edges.backward[k * n_labels + m, j] = forward[n_labels + k * n_labels + j, m]
    return PairEdges(scores, steps, forward, edges.backward, top, top - bottom)


@borrowing_kernel
def history_at(labels, t, n_labels):
    """The row of the step to position t > 0 of a labelling."""
    return labels[t - 1] if t == 1 else n_labels + labels[t - 1] * n_labels + labels[t - 2]


@gold_score.register(PairEdges)
def gold_score_of_pairs(edges, labels, scores, first, n_labels):
    score = scores[first, labels[0]]
    for t in range(1, len(labels)):
        score += scores[first + t, labels[t]] + edges.steps[history_at(labels, t, n_labels), labels[t]]
    return score


@add_labelling.register(PairEdges)
def add_triples_of_labelling(edges, labels, amount, counts, n_labels):
    for t in range(1, len(labels)):
        counts[labels[t - 1], labels[t]] += amount
        if t > 1:
            counts[history_at(labels, t, n_labels), labels[t]] += amount


@settle_edges.register(PairEdges)
@standing_kernel
def settle_triples(edges, edge_sums, wide_edges, n_labels, lanes):
    """As `settle_edges`; triples are counted for their bigrams, too. Writes: edge_sums."""
    Kp, W = edge_sums.shape[1], len(lanes)
    for h in range(len(edges.forward)):
        for b in range(0, Kp, W):
            expected = multiply(load(edge_sums, h, b, lanes), load(edges.forward, h, b, lanes))
            store(edge_sums, h, b, add(expected, load(wide_edges, h, b, lanes)))
    for k in range(n_labels):
        for b in range(0, Kp, W):
            row = load(edge_sums, k, b, lanes)
            for j in range(n_labels):
                row = add(row, load(edge_sums, n_labels + k * n_labels + j, b, lanes))
            store(edge_sums, k, b, row)
