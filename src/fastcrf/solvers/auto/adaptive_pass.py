"""One pass of AdaGrad over the sequences, on threads: a start for a batch method, and the scale of each weight.

Duchi, Hazan & Singer (2011), "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 12,
pp. 2121-2159; McDonald, Hall & Mann (2010), "Distributed training strategies for the structured perceptron", NAACL, pp.
456-464, for averaging runs on parts of the data.

    for each sequence i of a part, in random order
        g <- gradient of its loss;   G <- G + g^2;   w <- w - eta g / sqrt(G)         G starts at 1
    w <- soft(w, c1 eta / sqrt(G))                                                    with the parts' mean and sum

Each thread has its own part of the sequences and its own weights. At the end the squares are summed, and each weight is
the mean of the threads' weights, weighted by the squares that each has seen: a feature that only one of them has seen
keeps its weight. The result depends on the seed and on the number of parts, and on nothing else.

L1 is applied once at the end: c1 is a sum over N sequences, of which a sample would apply c1 / N. The solver that
follows then starts from few nonzero weights. L2 is omitted: it is small within one pass. Roots are computed in single
precision, three times faster: they only scale steps.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.jit.kernel import noalloc_kernel, strict_kernel
from fastcrf.lazy_vectors.scaled_vector import ScaledVector, make_scaled, settle_scaled
from fastcrf.objective.blocks import Blocks, Workspace, collect_change, infer_block, make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.stochastic.block_evaluation import score_current
from fastcrf.stochastic.sampling import epoch_permutation

FIRST_SQUARE = 1.0
ONE = np.float32(1.0)


@strict_kernel
def descend_adaptively(vector, squares, support, i, eta, change):
    """Apply AdaGrad's update to the attributes of block i; `change` is a local table. Writes: vector, squares.

    Slots that are not features have infinite squares, so that they do not change.
    """
    first, Kp = support.row_starts[i], vector.rows.shape[1]
    for r in range(first, support.row_starts[i + 1]):
        row = support.rows[r]
        for k in range(Kp):
            g = change.rows[r - first, k]
            squares.rows[row, k] += g * g
            vector.rows[row, k] -= eta * g * np.float64(ONE / math.sqrt(np.float32(squares.rows[row, k])))
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        cell, g = support.cells[o], change.cells[o - first]
        squares.cells[cell] += g * g
        vector.cells[cell] -= eta * g * np.float64(ONE / math.sqrt(np.float32(squares.cells[cell])))


@strict_kernel
def descend_edges_adaptively(vector, squares, eta, edge_change, n_contexts, n_labels):
    """Apply AdaGrad's update to the transitions. Writes: vector, squares."""
    transitions = len(vector.rows) - n_contexts
    for j in range(n_contexts):
        row = transitions + j
        for k in range(n_labels):
            g = edge_change[j, k]
            squares.rows[row, k] += g * g
            vector.rows[row, k] -= eta * g * np.float64(ONE / math.sqrt(np.float32(squares.rows[row, k])))


@noalloc_kernel
def adaptive_samples(blocks, order, eta, vector, squares, space, lanes):
    """Run AdaGrad over the sequences `order`; return the sum of their losses before their updates.

    Writes: vector, squares, space.
    """
    K, H, scores, loss = blocks.layout.n_labels, blocks.layout.n_contexts, space.lattice.scores, 0.0
    for n in range(len(order)):
        i = order[n]
        edges = score_current(blocks, i, vector, space, lanes)
        loss += infer_block(blocks.chains, i, edges, space, K, lanes)
        collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, scores, space.change, lanes)
        descend_adaptively(vector, squares, blocks.support, i, eta, space.change)
        descend_edges_adaptively(vector, squares, eta, space.edge_sums, H, K)
    return loss


class Part:
    """The state of one thread: its weights and squares, and work arrays."""

    def __init__(self, blocks: Blocks, features: FeatureMap, weights: Floats) -> None:
        self.blocks, self.features = blocks, features
        self.vector: ScaledVector = make_scaled(blocks.layout, features, weights)
        self.squares: ScaledVector = make_scaled(blocks.layout, features, np.full(features.n_weights, FIRST_SQUARE))
        self.squares.rows[self.squares.rows == 0.0] = math.inf
        self.space: Workspace = make_workspace(blocks)

    def sample(self, order: Longs, eta: float) -> float:
        lanes = (0,) * self.blocks.layout.width
        return adaptive_samples(self.blocks, order, eta, self.vector, self.squares, self.space, lanes)

    def settled(self) -> tuple[Floats, Floats]:
        """Return (weights, squares seen) of the features."""
        weights, squares = np.empty(self.features.n_weights), np.empty(self.features.n_weights)
        settle_scaled(self.vector, self.blocks.layout, self.features, weights)
        settle_scaled(self.squares, self.blocks.layout, self.features, squares)
        return weights, squares - FIRST_SQUARE


def adaptive_pass(
    problem: SequenceProblem, start: Floats, *, n_parts: int, eta: float, seed: int
) -> tuple[Floats, Floats] | None:
    """Return (weights after the pass, sums of squares G), or None if asked to stop before the end of it."""
    movable = problem.part(start)
    parts = [Part(movable.blocks, movable.features, movable.take(start)) for _ in range(n_parts)]
    order = epoch_permutation(seed, 1, problem.n_sequences)
    shares = [np.ascontiguousarray(order[k::n_parts]) for k in range(n_parts)]
    with ThreadPoolExecutor(n_parts, "fastcrf") as pool:
        for first in range(0, len(shares[0]), problem.slice_size):
            if problem.asked_to_stop():
                return None
            slices = [share[first : first + problem.slice_size] for share in shares]
            list(pool.map(Part.sample, parts, slices, [eta] * n_parts))
    weights, squares = mixed([part.settled() for part in parts])
    if len(movable.places):
        mean, seen = weights, squares
        weights, squares = start.copy(), np.zeros(len(start))
        movable.put(mean, weights)
        movable.put(seen, squares)
    squares += FIRST_SQUARE
    return (shrunk(weights, squares, problem, eta) if problem.c1 > 0.0 else weights), squares


def shrunk(weights: Floats, squares: Floats, problem: SequenceProblem, eta: float) -> Floats:
    """Return the weights after L1's share in the pass, in a new array."""
    factors = problem.c1_factors if len(problem.c1_factors) else 1.0
    thresholds = problem.c1 * eta * factors / np.sqrt(squares)
    return np.copysign(np.maximum(np.abs(weights) - thresholds, 0.0), weights)


def mixed(settled: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return (the mean of the parts' weights, weighted by the squares that each has seen; the sum of these squares)."""
    seen = np.sum([squares for _, squares in settled], axis=0)
    total = np.sum([squares * weights for weights, squares in settled], axis=0)
    plain = np.mean([weights for weights, _ in settled], axis=0)  # if no part has seen the feature
    return np.where(seen > 0.0, total / np.where(seen > 0.0, seen, 1.0), plain), seen
