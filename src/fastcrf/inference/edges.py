"""Generic functions of transitions, and their implementation for label bigrams."""

from __future__ import annotations

from fastcrf.inference.forward_backward import Edges
from fastcrf.jit.generic import generic
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import add, add_scaled, flat_rows, larger, largest, load, multiply, shift, store, zeros

LOWEST_SCORE = -1e299  # below every score of a label, above every score of padding


@generic
def refresh_edges(edges, n_labels, bias, lanes):  # type: ignore[no-untyped-def]
    """Return edges with new exponentials of edges.scores; `bias` is Lattice.bias. Writes: edges, all but the scores.

    Implemented in edges.py and higher_order/expectations.py.
    """


@generic
def gold_score(edges, labels, scores, first, n_labels):  # type: ignore[no-untyped-def]
    """Return the score of a label sequence [T], given label scores (rows first..) and edges.

    Implemented in edges.py and higher_order/expectations.py.
    """


@generic
def add_labeling(edges, labels, amount, counts, n_labels):  # type: ignore[no-untyped-def]
    """Add `amount` for each transition of a label sequence [T], as its weights count it. Writes: counts.

    Implemented in edges.py and higher_order/expectations.py.
    """


@generic
def settle_edges(edges, edge_sums, wide_edges, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Convert sums in units of edges.forward, and plain counts, to expected counts of transitions. Writes: edge_sums.

    Implemented in edges.py and higher_order/expectations.py.
    """


@generic
def count_shorter(edges, counts, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Convert counts of steps to counts of weights: a step counts for all weights that it has. Writes: counts.

    Implemented in edges.py and higher_order/expectations.py.
    """


@refresh_edges.register(Edges)
def refresh_bigrams(edges, n_labels, bias, lanes):
    Kp, W = edges.scores.shape[1], len(lanes)
    high = shift(zeros(lanes), LOWEST_SCORE)
    low = high
    for j in range(n_labels):
        for b in range(0, Kp, W):
            row = load(edges.scores, j, b, lanes)
            high = larger(high, add(row, load(bias, 0, b, lanes)))
            low = larger(low, add_scaled(-1.0, row, load(bias, 0, b, lanes)))
    top, bottom = largest(high), -largest(low)
    for j in range(n_labels):
        for b in range(0, Kp, W):
            store(edges.forward, j, b, shift(load(edges.scores, j, b, lanes), -top))
    exponentiate(flat_rows(edges.forward, 0, n_labels))
    for j in range(n_labels):
        for k in range(n_labels):
            edges.backward[k, j] = edges.forward[j, k]
        for k in range(n_labels, Kp):
            edges.forward[j, k] = 0.0
    return Edges(edges.scores, edges.forward, edges.backward, top, top - bottom, 0)


@gold_score.register(Edges)
def gold_score_of_bigrams(edges, labels, scores, first, n_labels):
    score = scores[first, labels[0]]
    for t in range(1, len(labels)):
        score += scores[first + t, labels[t]] + edges.scores[labels[t - 1], labels[t]]
    return score


@settle_edges.register(Edges)
def settle_bigrams(edges, edge_sums, wide_edges, n_labels, lanes):
    for j in range(n_labels):
        for b in range(0, edge_sums.shape[1], len(lanes)):
            expected = multiply(load(edge_sums, j, b, lanes), load(edges.forward, j, b, lanes))
            store(edge_sums, j, b, add(expected, load(wide_edges, j, b, lanes)))


@count_shorter.register(Edges)
def count_bigrams(edges, counts, n_labels, lanes):
    """Do nothing: a step has one weight."""


@add_labeling.register(Edges)
def add_bigrams_of_labeling(edges, labels, amount, counts, n_labels):
    for t in range(1, len(labels)):
        counts[labels[t - 1], labels[t]] += amount
