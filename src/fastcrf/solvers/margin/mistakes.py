"""The loop that trainers share which learn from mistakes: decode, compare, learn.

    for each sequence i
        y <- the labelling with the highest score at the weights as they are            (ties: the lowest label)
        if y is not the right one, y_i
            D <- F(x_i, y) - F(x_i, y_i)
            learn(rule, D)

What is learnt, a rule says: a NamedTuple of numbers, with a meaning of `learn` in the file of its solver. The weights
lie in the memory of draws/lazy_vector.py, and beside each of them one number more, whose meaning is the rule's: a sum
that makes averages possible, or a variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.blocks import Blocks, clear_rows, collect_change
from fastcrf.chain.expectations import score_block
from fastcrf.chain.viterbi import best_path
from fastcrf.draws.lazy_vector import gather
from fastcrf.draws.local_change import mask_change
from fastcrf.generic import generic
from fastcrf.kernel import borrowing_kernel, standing_kernel


class Path(NamedTuple):
    """The best labelling of one sequence, and room to find it."""

    labels: np.ndarray  # [longest] int32
    best: np.ndarray  # [Kp]
    came_from: np.ndarray  # [longest, Kp] int32


def make_path(blocks: Blocks) -> Path:
    longest, Kp = blocks.widest[2], blocks.layout.padded
    return Path(np.zeros(longest, np.int32), np.zeros(Kp), np.zeros((longest, Kp), np.int32))


@generic
def learn(rule, blocks, i, wrong, square, visits, vector, space, lanes):  # type: ignore[no-untyped-def]
    """Learn from the best labelling of sequence i, which has so many wrong labels; what that counts as loss.

    space.change and space.edge_change are D, |D|^2 = square, and space.weights and space.edges.scores the weights;
    `visits` counts the sequences so far, this one included. Writes: vector.
    """


@borrowing_kernel
def visit_sequences(blocks, order, visits, rule, vector, space, path, lanes):
    """Visit the sequences of `order`, after so many visits; the sum of their losses. Writes: vector, space, path."""
    loss = 0.0
    for k in range(len(order)):
        i = order[k]
        gather(vector, blocks.support, i, space.weights, space.edges.scores, lanes)
        wrong = decode(blocks, i, space, path, lanes)
        if wrong > 0:
            square = compare(blocks, i, space, path, lanes)
            loss += learn(rule, blocks, i, wrong, square, visits + k + 1, vector, space, lanes)
    return loss


@borrowing_kernel
def decode(blocks, i, space, path, lanes):
    """How many labels of the best labelling of sequence i are wrong. Writes: path, space.lattice.scores."""
    starts, K, edge_scores = blocks.chains.starts, blocks.layout.n_labels, space.edges.scores
    score_block(blocks.local, space.weights, space.lattice.bias, i, i + 1, space.lattice.scores, lanes)
    widest = 0.0
    for j in range(K):
        for k in range(K):
            widest = max(widest, abs(edge_scores[j, k]))
    T, wrong = starts[i + 1] - starts[i], 0
    best_path(space.lattice.scores, edge_scores, widest, path.best, path.came_from, path.labels[:T])
    for t in range(T):
        wrong += path.labels[t] != blocks.chains.labels[starts[i] + t]
    return wrong


@standing_kernel
def compare(blocks, i, space, path, lanes):
    """D of sequence i; |D|^2. Writes: space.lattice.scores, space.change, space.edge_change."""
    starts, K, gold = blocks.chains.starts, blocks.layout.n_labels, blocks.chains.labels
    nodes, edges, first = space.lattice.scores, space.edge_change, starts[i]
    clear_rows(nodes, starts[i + 1] - first, lanes)
    clear_rows(edges, K, lanes)
    for t in range(starts[i + 1] - first):
        nodes[t, path.labels[t]] += 1.0
        nodes[t, gold[first + t]] -= 1.0
        if t > 0:
            edges[path.labels[t - 1], path.labels[t]] += 1.0
            edges[gold[first + t - 1], gold[first + t]] -= 1.0
    collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, nodes, space.change, lanes)
    return mask_change(blocks.support, i, space.change, edges, K, lanes)


@borrowing_kernel
def weight_of(chains, i):
    """s_i, the weight of sequence i in the corpus."""
    return chains.weights[i] if len(chains.weights) > 0 else 1.0
