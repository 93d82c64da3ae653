"""The loop that stochastic gradient methods with an L2 penalty share, on the scaled vector w = c v.

With a the step size, B the sequences of an update and lambda in the papers' mean scale:

    g = (1 / |B|) sum of grad nll_i(w), i in B
    w <- (1 - a lambda) w - a g

Some shrink w before they take the gradient instead of after it (CRFsuite). So the loop receives two factors an update,
one of which is 1. All sequences of an update see the same weights; their residuals wait in a buffer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.chain.blocks import (
    add_rows,
    clear_rows,
    collect_change,
    copy_rows,
    infer_block,
    make_workspace,
    refresh_edges,
)
from fastcrf.chain.expectations import score_block
from fastcrf.draws.residuals import make_residuals
from fastcrf.draws.sampling import epoch_permutation
from fastcrf.draws.scaled_vector import (
    descend_edges_scaled,
    descend_scaled,
    gather_scaled,
    load_scaled,
    make_scaled,
    settle_scaled,
    shrink_scaled,
    square_scaled,
)
from fastcrf.draws.slices import Slices
from fastcrf.kernel import borrowing_kernel
from fastcrf.memory import COUNT, WEIGHTS, Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.sgd.schedules import Schedule
from fastcrf.types import NOTHING, Diverged, Floats, Step

KEEPS = {
    "weights": WEIGHTS,
    "eta": Kept(low=0.0),
    **dict.fromkeys(("epoch", "drawn", "updates"), COUNT),
    "loss": Kept(),
}


@borrowing_kernel
def scaled_updates(blocks, order, size, steps, before, after, vector, space, residuals, lanes):
    """One update for each `size` sequences of `order`; the sum of their losses before their updates.

    Update k multiplies w by before[k], takes the gradient, multiplies by after[k] and descends by steps[k]. With steps
    of 0 the weights stay, and the losses are those at one point. Writes: vector, space, residuals.
    """
    local, support, starts = blocks.local, blocks.support, blocks.local.starts
    K, lattice, scores = blocks.layout.n_labels, space.lattice, space.lattice.scores
    bounds, loss = blocks.chains.bounds, 0.0  # of one sequence each: an update takes the sequences of its batch
    for k in range(len(steps)):
        batch, row = order[k * size : (k + 1) * size], 0
        shrink_scaled(vector, before[k])
        clear_rows(residuals.edges, K, lanes)
        for i in batch:
            gather_scaled(vector, support, i, space.weights, space.edges.scores, K, lanes)
            edges = refresh_edges(space.edges, K, lattice.bias, lanes)
            score_block(local, space.weights, lattice.bias, i, i + 1, scores, lanes)
            loss += infer_block(blocks.chains, i, edges, space, K, lanes)
            copy_rows(scores, residuals.nodes[row:], starts[i + 1] - starts[i], lanes)
            add_rows(space.edge_sums, residuals.edges, K, lanes)
            row += starts[i + 1] - starts[i]
        if steps[k] == 0.0:
            continue
        shrink_scaled(vector, after[k])
        descend_edges_scaled(vector, support.masks, steps[k] / len(batch), residuals.edges, K, lanes)
        row = 0
        for i in batch:
            collect_change(local, bounds, support, i, residuals.nodes[row:], space.change, lanes)
            descend_scaled(vector, support, i, steps[k] / len(batch), space.change, lanes)
            row += starts[i + 1] - starts[i]
    return loss


class ScaledDescent:
    """Weights that go downhill, and what it takes to move them."""

    def __init__(self, problem: SequenceProblem, weights: Floats, batch: int, shrink_first: bool) -> None:
        self.part = problem.part(weights)
        self.blocks = self.part.blocks
        self.n_sequences = problem.n_sequences
        self.lam = problem.regulariser.mean_scale(self.n_sequences)[1]
        self.batch, self.shrink_first = min(batch, self.n_sequences), shrink_first
        self.space, self.residuals = make_workspace(self.blocks), make_residuals(self.blocks, self.batch)
        self.settled = self.part.take(weights)  # weights of the features that draws can move
        self.vector = make_scaled(self.blocks.layout, self.part.features, self.settled)
        self.evaluations = 0  # sequences whose loss was computed

    def n_updates(self, n_sequences: int) -> int:
        return -(-n_sequences // self.batch)

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        """Updates over the sequences `order`; the sum of their losses, each before its update."""
        factors, ones = 1.0 - steps * self.lam, np.ones(len(steps))
        before, after = (factors, ones) if self.shrink_first else (ones, factors)
        self.evaluations += len(order)
        return scaled_updates(
            self.blocks, order, self.batch, steps, before, after, self.vector, self.space, self.residuals,
            (0,) * self.blocks.layout.width,
        )  # fmt: skip

    def loss(self, order: np.ndarray) -> float:
        """Summed loss of the sequences `order` at the weights as they are."""
        return self.descend(order, np.zeros(self.n_updates(len(order))))

    def penalty(self) -> float:
        """lambda / 2 |w|^2, mean scale."""
        return 0.5 * self.lam * square_scaled(self.vector)

    def load(self, weights: Floats) -> None:
        load_scaled(self.vector, self.blocks.layout, self.part.features, self.part.take(weights))

    def settle(self, weights: Floats) -> None:
        """Writes: weights."""
        values = self.settled if len(self.part.places) else weights
        settle_scaled(self.vector, self.blocks.layout, self.part.features, values)
        self.part.put(values, weights)


class ScaledRun:
    """The state of one run and its epochs; SGD-type solvers hand it their schedule and yield its Steps."""

    def __init__(
        self,
        name: str,
        problem: SequenceProblem,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        *,
        batch: int = 1,
        seed: int = 0,
        shrink_first: bool = False,
        steps: int = 1,
    ) -> None:
        self.name, self.problem, self.seed = name, problem, seed
        self.weights = np.array(memory["weights"]) if memory else weights
        known = memory or {"eta": 0.0, "epoch": 0, "drawn": 0, "updates": 0, "loss": 0.0}
        self.eta = float(known["eta"])  # the first step size; 0 until it is known
        self.epoch, self.updates = int(known["epoch"]), int(known["updates"])  # of those that are done
        self.loss = float(known["loss"])  # of the epoch so far
        self.descent = ScaledDescent(problem, self.weights, batch, shrink_first)
        n = problem.n_sequences
        self.draws = Slices(
            n, problem.slice_size, self._told_to_stop, steps, unit=self.descent.batch, done=min(int(known["drawn"]), n)
        )

    def _told_to_stop(self) -> bool:
        return self.problem.asked_to_stop()

    def run_epoch(self, schedule: Schedule) -> Step:
        """All sequences in random order (what is left of them before the next Step), in slices short for Ctrl-C."""
        n = self.problem.n_sequences
        order = epoch_permutation(self.seed, self.epoch + 1, n)  # number 0 is for calibration
        info: dict[str, float] = {}
        for some in self.draws:
            steps = schedule.over(self.updates, self.descent.n_updates(some.stop - some.start))
            self.loss += self.descent.descend(order[some], steps)
            self.updates += len(steps)
            info = {"step_size": float(steps[-1])}
        if self.draws.finished:
            info["online_objective"] = self.loss + n * self.descent.penalty()
            self.epoch, self.loss = self.epoch + 1, 0.0
            self.draws.start_again()
        return self.step(info)

    def step(self, info: Mapping[str, float] = NOTHING) -> Step:
        """Where the run is, settled: it goes on from here as a run would that starts with these weights."""
        self.descent.settle(self.weights)
        self.descent.load(self.weights)
        if not np.isfinite(self.descent.penalty() + self.loss + info.get("online_objective", 0.0)):
            raise Diverged(
                f"The weights or the losses of {self.name} are not finite after {self.updates} updates; "
                "try a smaller eta."
            )
        passes, self.descent.evaluations = self.descent.evaluations / self.problem.n_sequences, 0
        numbers = {"eta": self.eta, "epoch": self.epoch, "updates": self.updates, "loss": self.loss}
        memory = {"weights": self.weights, "drawn": self.draws.done, **numbers}
        return Step(self.weights, passes, info=info, memory=memory)
