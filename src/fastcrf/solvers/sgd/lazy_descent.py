"""The loop of stochastic methods whose penalties or step sizes differ from weight to weight, on a lazy vector.

    draw block i;  g = (1 / |B_i|) sum of grad nll_c(w), c in B_i;  move the weights by the rule of the vector's type

A block is one sequence, or several that were put together at random before the run. What a draw means for the vector
says `descend`, for each type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcrf.chain.blocks import collect_change, infer_block, make_workspace
from fastcrf.draws.adaptive_vector import AdaptiveVector
from fastcrf.draws.evaluation import score_current
from fastcrf.draws.lazy_vector import advance, turn
from fastcrf.draws.lazy_weights import LazyWeights, Make
from fastcrf.generic import generic
from fastcrf.kernel import borrowing_kernel
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.types import Floats


@generic
def descend(vector, support, i, step, share, change, edge_change, n_labels, lanes):  # type: ignore[no-untyped-def]
    """An update of step size `step` with the gradient share * change of block i. Writes: vector."""


@descend.register(AdaptiveVector)
def descend_adaptive(vector, support, i, step, share, change, edge_change, n_labels, lanes):
    turn(vector, support, i, share * share, step * share, change, edge_change, n_labels, lanes)
    advance(vector, 1.0, step, lanes)


@borrowing_kernel
def lazy_updates(blocks, order, steps, vector, space, lanes):
    """One update for each block of `order`; the sum of their losses before their updates.

    With steps of 0 the weights stay, and the losses are those at one point. Writes: vector, space.
    """
    bounds, K, loss = blocks.chains.bounds, blocks.layout.n_labels, 0.0
    for k in range(len(order)):
        i = order[k]
        edges = score_current(blocks, i, vector, space, lanes)
        loss += infer_block(blocks.chains, i, edges, space, K, lanes)
        if steps[k] == 0.0:
            continue
        collect_change(blocks.local, bounds, blocks.support, i, space.lattice.scores, space.change, lanes)
        share = 1.0 / (bounds[i + 1] - bounds[i])
        descend(vector, blocks.support, i, steps[k], share, space.change, space.edge_sums, K, lanes)
    return loss


class LazyDescent:
    """Weights that go downhill in a lazy vector, whose second numbers ("drift") go into a memory as `kept`."""

    unit = 1

    def __init__(
        self, problem: SequenceProblem, weights: Floats, drift: Floats, kept: str, make: Make, batch: int, seed: int
    ) -> None:
        self.n_draws = -(-problem.n_sequences // batch)
        part = problem.part(weights, self.n_draws, seed)
        self.blocks, self.regulariser, self.kept = part.blocks, problem.regulariser, kept
        self.n, self.lam = problem.n_sequences, problem.regulariser.mean_scale(problem.n_sequences)[1]
        self.sizes = np.diff(self.blocks.chains.bounds)
        self.lazy = LazyWeights(part, weights, drift, make)
        self.space, self.evaluations = make_workspace(self.blocks), 0

    @property
    def weights(self) -> Floats:
        return self.lazy.weights

    def n_updates(self, n_draws: int) -> int:
        return n_draws

    def n_sequences(self, order: np.ndarray) -> int:
        return int(self.sizes[order].sum())

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        self.evaluations += self.n_sequences(order)
        return lazy_updates(self.blocks, order, steps, self.lazy.vector, self.space, self.lazy.lanes)

    def loss(self, order: np.ndarray) -> float:
        return self.descend(order, np.zeros(len(order)))

    def penalty(self) -> float:
        return self.regulariser.value(self.lazy.current()) / self.n

    def settle(self) -> None:
        self.lazy.settle(0.0)

    def restore(self) -> None:
        self.lazy.restore()

    def state(self) -> dict[str, Any]:
        return {"weights": self.lazy.weights, self.kept: self.lazy.drift}
