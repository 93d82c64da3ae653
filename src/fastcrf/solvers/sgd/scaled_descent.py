"""The shared loop of stochastic gradient methods with an L2 penalty, on the scaled vector w = c v.

With a the step size, B the sequences of an update and lambda in the papers' mean scale:

    g = (1 / |B|) sum of grad nll_i(w), i in B
    w <- (1 - a lambda) w - a g

Some methods shrink w before the gradient instead of after it (CRFsuite). The loop therefore receives two factors per
update, one of which is 1. All sequences of an update use the same weights; a buffer stores their residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.scaled_vector import (
    load_scaled,
    make_scaled,
    settle_scaled,
    shrink_scaled,
    square_scaled,
)
from fastcrf.lazy_vectors.turning import turn_attributes, turn_edges
from fastcrf.objective.blocks import Blocks, collect_change, infer_block, make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.simd.rows import add_rows, clear_rows, copy_rows
from fastcrf.stochastic.block_evaluation import score_current
from fastcrf.stochastic.progressive_error import count_wrong
from fastcrf.stochastic.residuals import make_residuals


class Course(NamedTuple):
    """The course of the updates: k multiplies w by before[k], takes the gradient, multiplies by after[k], descends by
    steps[k].

    With steps of 0 the weights do not change, and the losses are those at one point.
    """

    steps: Floats
    before: Floats
    after: Floats


@noalloc_kernel
def scaled_updates(blocks, order, size, course, vector, space, residuals, lanes):
    """Run one update for each `size` sequences of `order`; return (their losses, tokens predicted wrong), before each
    update.

    Writes: vector, space, residuals.
    """
    steps, before, after = course
    local, support, starts = blocks.local, blocks.support, blocks.local.starts
    K, H, scores = blocks.layout.n_labels, blocks.layout.n_contexts, space.lattice.scores
    bounds, loss, wrong = blocks.chains.bounds, 0.0, 0  # bounds: one sequence each
    for k in range(len(steps)):
        batch, row = order[k * size : (k + 1) * size], 0
        shrink_scaled(vector, before[k])  # crfsuite's order: the penalty first
        clear_rows(residuals.edges, H, lanes)
        for i in batch:
            edges = score_current(blocks, i, vector, space, lanes)
            loss += infer_block(blocks.chains, i, edges, space, K, lanes)
            wrong += count_wrong(blocks.chains, i, scores, lanes)
            copy_rows(scores, residuals.nodes[row:], starts[i + 1] - starts[i], lanes)
            add_rows(space.edge_sums, residuals.edges, H, lanes)
            row += starts[i + 1] - starts[i]
        if steps[k] == 0.0:
            continue
        shrink_scaled(vector, after[k])  # w <- (1 - a_k lambda) w, the penalty of Bottou (2010), eq. 4
        step = steps[k] / len(batch) / vector.factor[0]  # of v
        turn_edges(vector, support.masks, 0.0, step, residuals.edges, H, lanes)
        row = 0
        for i in batch:
            collect_change(local, bounds, support, i, residuals.nodes[row:], space.change, lanes)
            turn_attributes(vector, support, i, 0.0, step, space.change, lanes)  # w <- w - a_k g
            row += starts[i + 1] - starts[i]
    return loss, wrong


def unbiased(blocks: Blocks, probabilities: Floats) -> Blocks:
    """Multiply the weight of each sequence by 1 / (n p_i): the mean over samples is then that over all sequences."""
    weights = 1.0 / (len(probabilities) * probabilities)
    if len(blocks.chains.weights):
        weights *= blocks.chains.weights
    return blocks._replace(chains=blocks.chains._replace(weights=weights))


Updates = Callable[[np.ndarray, Floats], tuple[float, int]]  # of sequences with step sizes: (losses, wrong tokens)


class ScaledDescent:
    """Weights with the arrays to update them. `updates` is the loop, along gradients by default."""

    def __init__(
        self,
        problem: SequenceProblem,
        weights: Floats,
        batch_size: int,
        shrink_first: bool,
        probabilities: Floats | None = None,
    ) -> None:
        self.part, self.probabilities = problem.part(weights), probabilities
        self.blocks = self.part.blocks
        if probabilities is not None:
            self.blocks = unbiased(self.blocks, probabilities)
        self.weights, self.n_samples = weights, problem.n_sequences
        self.lam = problem.regularizer.mean_scale(self.n_samples)[1]
        self.unit, self.shrink_first = min(batch_size, self.n_samples), shrink_first
        self.space, self.residuals = make_workspace(self.blocks), make_residuals(self.blocks, self.unit)
        self.settled = self.part.take(weights)  # weights of the features that samples can move
        self.vector = make_scaled(self.blocks.layout, self.part.features, self.settled)
        self.evaluations, self.wrong = 0, 0  # sequences whose loss was computed, tokens predicted wrong
        self.lengths: Longs = np.diff(problem.corpus.starts)
        self.lanes = (0,) * self.blocks.layout.width
        self.updates: Updates = self.gradient_updates

    def n_updates(self, n_samples: int) -> int:
        return -(-n_samples // self.unit)

    def n_sequences(self, order: np.ndarray) -> int:
        return len(order)

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        """Update with the sequences `order`; return the sum of their losses, each before its update."""
        self.evaluations += len(order)
        loss, wrong = self.updates(order, steps)
        self.wrong += wrong
        return loss

    def gradient_updates(self, order: np.ndarray, steps: Floats) -> tuple[float, int]:
        """Update along gradients; return (their losses, tokens predicted wrong)."""
        factors, ones = 1.0 - steps * self.lam, np.ones(len(steps))
        course = Course(steps, factors, ones) if self.shrink_first else Course(steps, ones, factors)
        moved = self.vector, self.space, self.residuals
        return scaled_updates(self.blocks, order, self.unit, course, *moved, self.lanes)  # type: ignore[no-any-return]

    def loss(self, order: np.ndarray) -> float:
        """Return the summed loss of the sequences `order` at the current weights."""
        return self.descend(order, np.zeros(self.n_updates(len(order))))

    def penalty(self) -> float:
        """Return lambda / 2 |w|^2, mean scale."""
        return 0.5 * self.lam * square_scaled(self.vector)

    def settle(self) -> None:
        values = self.settled if len(self.part.places) else self.weights
        settle_scaled(self.vector, self.blocks.layout, self.part.features, values)
        self.part.put(values, self.weights)

    def restore(self) -> None:
        load_scaled(self.vector, self.blocks.layout, self.part.features, self.part.take(self.weights))

    def state(self) -> dict[str, Any]:
        return {"weights": self.weights}
