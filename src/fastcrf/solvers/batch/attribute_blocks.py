"""Gradient components and curvatures of one attribute at a time, with scores that follow the weights.

The gradient components of a block need the posteriors of every sequence in which its attribute occurs. Scores and
posteriors of all positions are stored. A weight that moves changes the scores of its positions, and only sequences with
changed scores are inferred again. With an L1 penalty most weights stay at zero and change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.feature_space.feature_map import count_gold
from fastcrf.feature_space.label_contexts import and_for_shorter
from fastcrf.feature_space.layout import Positions, expand_weights, make_layout, make_positions
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.higher_order.any_order import edges_from, lattice_of, tree_of
from fastcrf.inference.edges import count_shorter
from fastcrf.inference.expectations import BLOCK, Table, infer, score_block
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice
from fastcrf.inference.steps import expect_step
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.penalties.proximal import soft
from fastcrf.simd.lanes import add, load, multiply, scale, store
from fastcrf.simd.widths import aligned_zeros
from fastcrf.system.memory_budget import require_memory

LEAST_CURVATURE = 1e-30  # probabilities of 0 or 1 have none
BYTES = 8


class Occurrences(NamedTuple):
    """The positions of each attribute."""

    starts: Longs  # [A + 1] first occurrence of each attribute
    positions: Longs
    sequences: Longs
    values: Floats  # or [0] when all are 1


class Penalty(NamedTuple):
    """c1 |w|_1 + ridge / 2 |w|^2, and the factor by which curvatures are increased."""

    c1: float
    ridge: float
    kappa: float


class Inferred(NamedTuple):
    """Scores and posteriors of the positions at the current weights."""

    scores: np.ndarray  # [P, Kp]
    posteriors: np.ndarray  # [P, Kp]
    known: np.ndarray  # [N] bool: whether a sequence's posteriors match its scores


class Chain(NamedTuple):
    """The arrays for inference in a sequence."""

    starts: Longs  # [N + 1]
    weights: Floats  # [N] of the sequences, or [0] when all are 1
    edges: AnyEdges
    lattice: AnyLattice
    wide_edges: np.ndarray  # [H, Kp]


class Block(NamedTuple):
    """Features by attribute, their observed counts, and work arrays for one block."""

    offsets: Longs  # [A + 1] first feature of each attribute
    labels: Ints
    counts: Floats
    slopes: Floats  # [K]
    curvatures: Floats  # [K]


class Known(NamedTuple):
    """The corpus by attribute, and its state at the current weights."""

    occurrences: Occurrences
    block: Block
    chain: Chain
    inferred: Inferred


class AttributeBlocks:
    """The corpus of a problem by attribute, with weights that change."""

    def __init__(self, corpus: Corpus, features: FeatureMap) -> None:
        self.corpus, self.features, self.layout = corpus, features, make_layout(features)
        K, padded = features.n_labels, self.layout.padded
        n_bytes = 2 * BYTES * padded * corpus.n_positions
        require_memory(n_bytes, "Scores and posteriors of block coordinate descent", "use owlqn or prox-lbfgs")
        self.lanes = (0,) * self.layout.width
        self.positions: Positions = make_positions(corpus, features, self.layout)
        self.flat = aligned_zeros(1, self.layout.table_size)[0]
        self.occurrences = find_occurrences(corpus, features.n_attributes)
        self.inferred = Inferred(
            aligned_zeros(corpus.n_positions, padded),
            aligned_zeros(corpus.n_positions, padded),
            np.zeros(corpus.n_sequences, np.bool_),
        )
        self.block = Block(features.offsets, features.labels, count_gold(corpus, features), np.empty(K), np.empty(K))
        longest = max(BLOCK, int(np.diff(corpus.starts).max()))
        self.tree, self.rows = tree_of(self.layout), self.layout.rows_of(features)
        self.lattice, self.sums = lattice_of(self.tree, longest, K, padded), np.zeros((4, *self.layout.edge_shape))

    def begin(self, weights: Floats) -> None:
        """Compute scores at `weights` from scratch; no posteriors are valid. Writes: scores, edges."""
        features, corner = self.features, self.layout.n_row_slots
        expand_weights(weights, self.layout.place, 0, features.n_state, self.flat)
        table = Table(self.flat[:corner].reshape(self.layout.n_rows, self.layout.padded), self.flat[corner:])
        n = self.corpus.n_sequences
        score_block(self.positions, table, self.lattice.bias, 0, n, self.inferred.scores, self.lanes)
        self.inferred.known[:] = False
        edges = edges_from(self.tree, transition_matrix(features, weights), self.layout.padded)
        self.chain = Chain(self.corpus.starts, self.corpus.weights, edges, self.lattice, self.sums[2])

    @property
    def n_blocks(self) -> int:
        """Return the number of blocks: one for each attribute, and the transitions."""
        return self.features.n_attributes + 1

    def descend(self, blocks: slice, weights: Floats, penalty: Penalty, limit: int) -> tuple[int, int]:
        """Step with each of the blocks, until `limit` sequences have been inferred; return where that was, and how many
        were inferred. Writes: weights.
        """
        n, shape = self.features.n_attributes, (self.features.n_labels, self.lanes)
        known = Known(self.occurrences, self.block, self.chain, self.inferred)
        reached, spent = descend_blocks(known, blocks.start, min(blocks.stop, n), penalty, weights, limit, *shape)
        if reached == n and spent < limit and blocks.stop > n:
            self.descend_transitions(weights, penalty)
            reached, spent = n + 1, spent + self.corpus.n_sequences
        return int(reached), int(spent)

    def descend_transitions(self, weights: Floats, penalty: Penalty) -> None:
        """Step with the transitions: a pass over all sequences. Writes: weights."""
        features, places = self.features, (self.rows, self.features.targets)
        self.sums[:] = 0.0
        sum_steps(
            self.chain, self.inferred.scores, self.sums[3], self.sums[0], self.sums[1], features.n_labels, self.lanes
        )
        wide = self.sums[2] if self.tree is None else and_for_shorter(self.sums[2], self.tree)
        expected = (self.sums[0] + wide)[places]
        curvatures = expected - self.sums[1][places]
        slopes = expected - self.block.counts[features.n_state :]
        move_block(slopes, curvatures, len(slopes), penalty, weights, features.n_state)


def find_occurrences(corpus: Corpus, n_attributes: int) -> Occurrences:
    order = np.argsort(corpus.attributes, kind="stable")
    counts = np.bincount(corpus.attributes, minlength=n_attributes)
    positions = np.repeat(np.arange(corpus.n_positions), np.diff(corpus.offsets))[order]
    sequences = np.searchsorted(corpus.starts, positions, side="right") - 1
    values = corpus.values[order] if len(corpus.values) else np.empty(0)
    return Occurrences(np.concatenate(([0], np.cumsum(counts))), positions, sequences, values)


@noalloc_kernel
def move_block(slopes, curvatures, size, penalty, weights, begin):
    """Minimize the separable model of weights begin..begin+size-1; return whether a weight moved.

    Writes: weights; slopes (the moves), curvatures.
    """
    steepest, moved = 1.0, False
    for k in range(size):
        curvatures[k] = max(curvatures[k], LEAST_CURVATURE)
        steepest = max(steepest, abs(slopes[k]) / curvatures[k])
    for k in range(size):
        bend = penalty.kappa * steepest * curvatures[k]
        target = soft(bend * weights[begin + k] - slopes[k], penalty.c1) / (bend + penalty.ridge)
        slopes[k] = target - weights[begin + k]
        moved = moved or slopes[k] != 0.0
        weights[begin + k] = target
    return moved


@outlined_kernel
def infer_scored(chain, scores, i, weight, n_labels, lanes):
    """Infer sequence i from its scores [P, Kp]. Writes: lattice, wide_edges."""
    lattice, first, length = chain.lattice, chain.starts[i], chain.starts[i + 1] - chain.starts[i]
    for t in range(length):
        for b in range(0, scores.shape[1], len(lanes)):
            store(lattice.scores, t, b, load(scores, first + t, b, lanes))
    infer(lattice, first - first, length, chain.edges, weight, chain.wide_edges, n_labels, lanes)


@noalloc_kernel
def descend_blocks(known, first, last, penalty, weights, limit, n_labels, lanes):
    """Step with each attribute, until `limit` sequences have been inferred; return the next attribute and how many were
    inferred. Writes: weights, known.
    """
    occurrences, block, chain, inferred = known
    starts, posteriors, labels, spent = occurrences.starts, inferred.posteriors, block.labels, 0
    for a in range(first, last):
        if spent >= limit:
            return a, spent
        begin, size = block.offsets[a], block.offsets[a + 1] - block.offsets[a]
        for k in range(size):
            block.slopes[k], block.curvatures[k] = -block.counts[begin + k], 0.0
        for o in range(starts[a], starts[a + 1]):
            i, p = occurrences.sequences[o], occurrences.positions[o]
            if not inferred.known[i]:
                know(chain, inferred, i, n_labels, lanes)
                spent += 1
            x = occurrences.values[o] if len(occurrences.values) > 0 else 1.0
            weighted = x * (chain.weights[i] if len(chain.weights) > 0 else 1.0)
            for k in range(size):
                probability = posteriors[p, labels[begin + k]]
                block.slopes[k] += weighted * probability
                block.curvatures[k] += x * weighted * probability * (1.0 - probability)
        if move_block(block.slopes, block.curvatures, size, penalty, weights, begin):
            for o in range(starts[a], starts[a + 1]):
                x = occurrences.values[o] if len(occurrences.values) > 0 else 1.0
                inferred.known[occurrences.sequences[o]] = False
                for k in range(size):
                    inferred.scores[occurrences.positions[o], labels[begin + k]] += x * block.slopes[k]
    return max(first, last), spent


@outlined_kernel
def know(chain, inferred, i, n_labels, lanes):
    """Compute posteriors of sequence i from its scores, unweighted. Writes: inferred.posteriors and .known, lattice."""
    first, one = chain.starts[i], 1.0
    infer_scored(chain, inferred.scores, i, one, n_labels, lanes)
    for t in range(chain.starts[i + 1] - first):
        for b in range(0, inferred.posteriors.shape[1], len(lanes)):
            store(inferred.posteriors, first + t, b, load(chain.lattice.scores, t, b, lanes))
    inferred.known[i] = True


@noalloc_kernel
def sum_steps(chain, scores, step, sums, squares, n_labels, lanes):
    """Add to sums the sum of s_i p over all positions, p the probability of each transition weight there, and to
    squares that of s_i p^2.

    `step` [H, Kp] is a work array for one position. Sequences in the log domain add to neither: their steps are in
    wide_edges. Writes: sums, squares, workspace.
    """
    lattice, edges = chain.lattice, chain.edges
    for i in range(len(chain.starts) - 1):
        weight, length = chain.weights[i] if len(chain.weights) > 0 else 1.0, chain.starts[i + 1] - chain.starts[i]
        infer_scored(chain, scores, i, weight, n_labels, lanes)
        inverse = 1.0 / weight if weight > 0.0 else 0.0
        for t in range(1, length):
            expect_step(edges, lattice, t, step, n_labels, lanes)
            count_shorter(edges, step, n_labels, lanes)
            for h in range(len(step)):
                for b in range(0, step.shape[1], len(lanes)):
                    chance = load(step, h, b, lanes)
                    store(sums, h, b, add(chance, load(sums, h, b, lanes)))
                    square = scale(inverse, multiply(chance, chance))
                    store(squares, h, b, add(square, load(squares, h, b, lanes)))
