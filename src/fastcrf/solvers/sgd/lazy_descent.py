"""The loop, on a lazy vector, of stochastic methods whose penalties or step sizes differ by weight.

    sample block i;  g = (1 / |B_i|) sum of grad nll_c(w), c in B_i;  move the weights by the rule of the vector's type

A block is one sequence, or several that were grouped at random before the run. `descend` defines the update for each
type of vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.adaptive_vector import AdaptiveVector
from fastcrf.lazy_vectors.lazy_vector import advance, turn
from fastcrf.lazy_vectors.lazy_weights import LazyWeights, Make
from fastcrf.lazy_vectors.proximal_vector import ProximalVector
from fastcrf.objective.blocks import collect_change, infer_block, make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.simd.prefetch import prefetch
from fastcrf.solvers.sgd.run import start_of
from fastcrf.stochastic.block_evaluation import score_current
from fastcrf.stochastic.progressive_error import count_wrong


@generic
def descend(vector, support, i, step, share, change, edge_change, lanes):  # type: ignore[no-untyped-def]
    """Update with step size `step` and the gradient share * change of block i. Writes: vector.

    Implemented in asg.py, lazy_descent.py and solvers/sgd/l1/stored_vector.py.
    """


@descend.register(AdaptiveVector)
def descend_adaptive(vector, support, i, step, share, change, edge_change, lanes):
    turn(vector, support, i, share * share, step * share, change, edge_change, len(support.edges), lanes)
    advance(vector, 1.0, step, lanes)


@descend.register(ProximalVector)
def descend_then_penalize(vector, support, i, step, share, change, edge_change, lanes):
    turn(vector, support, i, 0.0, step * share, change, edge_change, len(support.edges), lanes)
    advance(vector, 1.0, step, lanes)


@noalloc_kernel
def ask_for_cells(vector, support, i):
    """Prefetch the cells of block i, which are scattered in a large array. Rows are long, and need no prefetch."""
    for o in range(support.cell_starts[i], support.cell_starts[i + 1]):
        prefetch(vector.cells, np.int64(support.cells[o]), 0)


@noalloc_kernel
def lazy_updates(blocks, order, steps, vector, space, lanes):
    """Run one update for each block of `order`; return (their losses, tokens predicted wrong), before each update.

    With steps of 0 the weights do not change, and the losses are those at one point. Writes: vector, space.
    """
    bounds, K, loss, wrong = blocks.chains.bounds, blocks.layout.n_labels, 0.0, 0
    for k in range(len(order)):
        i = order[k]
        if k + 1 < len(order):
            ask_for_cells(vector, blocks.support, order[k + 1])
        edges = score_current(blocks, i, vector, space, lanes)
        loss += infer_block(blocks.chains, i, edges, space, K, lanes)
        wrong += count_wrong(blocks.chains, i, space.lattice.scores, lanes)
        if steps[k] == 0.0:
            continue
        collect_change(blocks.local, bounds, blocks.support, i, space.lattice.scores, space.change, lanes)
        share = 1.0 / (bounds[i + 1] - bounds[i])
        descend(vector, blocks.support, i, steps[k], share, space.change, space.edge_sums, lanes)
    return loss, wrong


class Keeping(NamedTuple):
    """The state entries for the additional numbers of a lazy vector."""

    drift: str = ""  # the second number of each weight; "" if there is none
    number: str = ""  # state[1], if it must be saved


class LazyDescent:
    """Stochastic descent in a lazy vector. `batch_size`: sequences per sample, grouped by `seed`."""

    unit = 1
    probabilities: Floats | None = None

    def __init__(
        self,
        problem: SequenceProblem,
        weights: Floats,
        state: Mapping[str, Any] | None,
        make: Make,
        keeping: Keeping,
        batch_size: int = 1,
        seed: int = 0,
    ) -> None:
        self.n_samples, self.n = -(-problem.n_sequences // batch_size), problem.n_sequences
        weights = start_of(weights, state)
        drift = start_of(np.zeros_like(weights), state if keeping.drift else None, keeping.drift)
        part = problem.part(weights, self.n_samples, seed)
        self.blocks, self.regularizer, self.keeping = part.blocks, problem.regularizer, keeping
        self.lam = problem.regularizer.mean_scale(self.n)[1]
        self.sizes = np.diff(self.blocks.chains.bounds)
        self.lengths: Longs = np.diff(self.blocks.chains.starts[self.blocks.chains.bounds])
        self.lazy = LazyWeights(part, weights, drift, make)
        self.number = float(state[keeping.number]) if state and keeping.number else 0.0
        self.lazy.vector.state[1] = self.number
        self.space, self.evaluations, self.wrong = make_workspace(self.blocks), 0, 0

    @property
    def weights(self) -> Floats:
        return self.lazy.weights

    def n_updates(self, n_samples: int) -> int:
        return n_samples

    def n_sequences(self, order: np.ndarray) -> int:
        return int(self.sizes[order].sum())

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        self.evaluations += self.n_sequences(order)
        loss, wrong = lazy_updates(self.blocks, order, steps, self.lazy.vector, self.space, self.lazy.lanes)
        self.wrong += wrong
        return loss

    def loss(self, order: np.ndarray) -> float:
        return self.descend(order, np.zeros(len(order)))

    def penalty(self) -> float:
        return self.regularizer.value(self.lazy.current()) / self.n

    def settle(self) -> None:
        self.lazy.settle(0.0)
        self.number = float(self.lazy.vector.state[1])

    def restore(self) -> None:
        self.lazy.restore()
        self.lazy.vector.state[1] = self.number

    def state(self) -> dict[str, Any]:
        named = {self.keeping.drift: self.lazy.drift, self.keeping.number: self.number}
        return {"weights": self.lazy.weights} | {name: value for name, value in named.items() if name}
