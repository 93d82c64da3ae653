"""The shared loop of mistake-driven trainers: decode, compare, update.

    for each sequence i
        y <- the label sequence with the highest score at the current weights            (ties: the lowest label)
        if y is not the gold one, y_i
            D <- F(x_i, y) - F(x_i, y_i)
            learn(rule, D)

A rule is a NamedTuple of numbers, with an implementation of `learn` in the file of its solver. Each weight has one more
number, which the rule defines: a sum for averages, or a variance. These numbers are in a separate vector, because
decoding does not read them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.edges import add_labeling
from fastcrf.inference.expectations import score_block
from fastcrf.inference.lane_viterbi import best_labeling
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors.reading import gather
from fastcrf.lazy_vectors.scaled_vector import ScaledVector
from fastcrf.lazy_vectors.turning import turn_attributes, turn_edges
from fastcrf.objective.blocks import Blocks, Workspace, collect_change
from fastcrf.simd.rows import clear_rows
from fastcrf.stochastic.local_change import dot_change, mask_change


class State(NamedTuple):
    """The arrays that visits read and write."""

    blocks: Blocks  # of one sequence each
    vector: ScaledVector  # w
    beside: ScaledVector  # one number per weight, defined by the rule
    space: Workspace
    labels: np.ndarray  # [T] work array for the best label sequence


class Mistake(NamedTuple):
    """A sequence whose best label sequence is not the gold one."""

    i: int
    wrong: int  # number of wrong labels
    square: float  # |D|^2
    visits: int  # sequences visited so far, including this one


@generic
def learn(rule, state, mistake, lanes):  # type: ignore[no-untyped-def]
    """Update from a mistake; return its loss.

    space.change and space.edge_change are D, space.weights and space.edges.scores the weights.
    Writes: state.vector, .beside.

    Implemented in arow.py, margin_rule.py and perceptron.py.
    """


@noalloc_kernel
def visit_sequences(rule, state, order, visits, lanes):
    """Visit the sequences of `order`, after `visits` visits; return the sum of their losses. Writes: state."""
    blocks, space, labels, loss = state.blocks, state.space, state.labels, 0.0
    for k in range(len(order)):
        i = order[k]
        gather(state.vector, blocks.support, i, space.weights, space.edges.scores, lanes)
        wrong = decode(blocks, i, space, labels, lanes)
        if wrong > 0:
            square = compare(blocks, i, space, labels, lanes)
            loss += learn(rule, state, Mistake(i, wrong, square, visits + k + 1), lanes)
    return loss


@noalloc_kernel
def decode(blocks, i, space, labels, lanes):
    """Return the number of wrong labels in the best label sequence of sequence i. Writes: labels,
    space.lattice.scores.
    """
    starts, scores, wrong = blocks.chains.starts, space.lattice.scores, 0
    score_block(blocks.local, space.weights, space.lattice.bias, i, i + 1, scores, lanes)
    T = starts[i + 1] - starts[i]
    best_labeling(space.edges, space.lattice, blocks.layout.n_labels, labels[:T], lanes)
    for t in range(T):
        wrong += labels[t] != blocks.chains.labels[starts[i] + t]
    return wrong


@outlined_kernel
def compare(blocks, i, space, labels, lanes):
    """Compute D of sequence i; return |D|^2. Writes: space.lattice.scores, space.change, space.edge_change."""
    starts, K, H, gold = blocks.chains.starts, blocks.layout.n_labels, blocks.layout.n_contexts, blocks.chains.labels
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
    """Set w <- w - step D, for one of the two vectors. Writes: vector."""
    blocks, space = state.blocks, state.space
    of_v = step / vector.factor[0]
    turn_edges(vector, blocks.support.masks, 0.0, of_v, space.edge_change, blocks.layout.n_contexts, lanes)
    turn_attributes(vector, blocks.support, i, 0.0, of_v, space.change, lanes)


@noalloc_kernel
def slope_along(state, i, lanes):
    """Return w . D of sequence i."""
    space, support, H = state.space, state.blocks.support, state.blocks.layout.n_contexts
    return dot_change(support, i, space.change, space.edge_change, space.weights, space.edges.scores, H, lanes)


@noalloc_kernel
def weight_of(chains, i):
    """Return s_i, the weight of sequence i in the corpus."""
    return chains.weights[i] if len(chains.weights) > 0 else 1.0
