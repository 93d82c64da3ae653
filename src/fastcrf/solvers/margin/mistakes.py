"""The loop that trainers share which learn from mistakes: decode, compare, learn.

    for each sequence i
        y <- the labeling with the highest score at the weights as they are            (ties: the lowest label)
        if y is not the right one, y_i
            D <- F(x_i, y) - F(x_i, y_i)
            learn(rule, D)

What is learnt, a rule says: a NamedTuple of numbers, with a meaning of `learn` in the file of its solver. Each weight
has one number more beside it, whose meaning is the rule's: a sum that makes averages possible, or a variance. It lies
in a vector of its own, because decoding does not look at it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.edges import add_labeling
from fastcrf.inference.expectations import score_block
from fastcrf.inference.lane_viterbi import best_labeling
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors.scaled_vector import ScaledVector, descend_edges_scaled, descend_scaled, gather_scaled
from fastcrf.objective.blocks import Blocks, Workspace, collect_change
from fastcrf.simd.rows import clear_rows
from fastcrf.stochastic.local_change import dot_change, mask_change


class State(NamedTuple):
    """What visits read and move."""

    blocks: Blocks  # of one sequence each
    vector: ScaledVector  # w
    beside: ScaledVector  # the number beside each weight
    space: Workspace
    labels: np.ndarray  # [T] room for the best labeling of a sequence


class Mistake(NamedTuple):
    """A sequence whose best labeling is not the right one."""

    i: int
    wrong: int  # how many of its labels are wrong
    square: float  # |D|^2
    visits: int  # sequences visited so far, this one included


@generic
def learn(rule, state, mistake, lanes):  # type: ignore[no-untyped-def]
    """Learn from a mistake; what it counts as loss.

    space.change and space.edge_change are D, space.weights and space.edges.scores the weights.
    Writes: state.vector, .beside.

    Implemented in arow.py, margin_rule.py and perceptron.py.
    """


@noalloc_kernel
def visit_sequences(rule, state, order, visits, lanes):
    """Visit the sequences of `order`, after so many visits; the sum of their losses. Writes: state."""
    blocks, space, labels, loss = state.blocks, state.space, state.labels, 0.0
    H = blocks.layout.n_histories
    for k in range(len(order)):
        i = order[k]
        gather_scaled(state.vector, blocks.support, i, space.weights, space.edges.scores, H, lanes)
        wrong = decode(blocks, i, space, labels, lanes)
        if wrong > 0:
            square = compare(blocks, i, space, labels, lanes)
            loss += learn(rule, state, Mistake(i, wrong, square, visits + k + 1), lanes)
    return loss


@noalloc_kernel
def decode(blocks, i, space, labels, lanes):
    """How many labels of the best labeling of sequence i are wrong. Writes: labels, space.lattice.scores."""
    starts, scores, wrong = blocks.chains.starts, space.lattice.scores, 0
    score_block(blocks.local, space.weights, space.lattice.bias, i, i + 1, scores, lanes)
    T = starts[i + 1] - starts[i]
    best_labeling(space.edges, space.lattice, blocks.layout.n_labels, labels[:T], lanes)
    for t in range(T):
        wrong += labels[t] != blocks.chains.labels[starts[i] + t]
    return wrong


@outlined_kernel
def compare(blocks, i, space, labels, lanes):
    """D of sequence i; |D|^2. Writes: space.lattice.scores, space.change, space.edge_change."""
    starts, K, H, gold = blocks.chains.starts, blocks.layout.n_labels, blocks.layout.n_histories, blocks.chains.labels
    nodes, edges, first = space.lattice.scores, space.edge_change, starts[i]
    T = starts[i + 1] - first
    clear_rows(nodes, T, lanes)
    clear_rows(edges, H, lanes)
    for t in range(T):
        nodes[t, labels[t]] += 1.0
        nodes[t, gold[first + t]] -= 1.0
    add_labeling(space.edges, labels[:T], 1.0, edges, K)
    add_labeling(space.edges, gold[first : first + T], -1.0, edges, K)
    collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, nodes, space.change, lanes)
    return mask_change(blocks.support, i, space.change, edges, H, lanes)


@noalloc_kernel
def move(vector, state, i, step, lanes):
    """w <- w - step D, for one of the two vectors. Writes: vector."""
    blocks, space = state.blocks, state.space
    descend_edges_scaled(vector, blocks.support.masks, step, space.edge_change, blocks.layout.n_histories, lanes)
    descend_scaled(vector, blocks.support, i, step, space.change, lanes)


@noalloc_kernel
def slope_along(state, i, lanes):
    """w . D of sequence i."""
    space, support, H = state.space, state.blocks.support, state.blocks.layout.n_histories
    return dot_change(support, i, space.change, space.edge_change, space.weights, space.edges.scores, H, lanes)


@noalloc_kernel
def weight_of(chains, i):
    """s_i, the weight of sequence i in the corpus."""
    return chains.weights[i] if len(chains.weights) > 0 else 1.0
