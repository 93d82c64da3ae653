"""Snapshots, and runs that begin with one (SAGA of schmidt2015's Proposition 1) or take one a period (SVRG).

A snapshot evaluates all sequences at w~, the weights of that moment, and stores the gradient of each; d is their sum.
Between two snapshots of SVRG neither changes, and the draws of loop.py are

    w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d / n ]

Because a snapshot ends a period of SVRG, each of its Steps has the exact objective and gradient of its weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastcrf.chain.blocks import infer_block
from fastcrf.draws.lazy_vector import turn
from fastcrf.draws.stored_gradients import exchange
from fastcrf.kernel import kernel
from fastcrf.solvers.average_gradient.loop import AverageGradientRun, score_current
from fastcrf.solvers.average_gradient.rule import Rule
from fastcrf.types import Floats, Step
from fastcrf.vectors import norm


@kernel
def evaluate(sequences, i, growth, vector, memory, space, lanes):
    """Evaluate block i: `growth` of its change goes to the memory; its loss. Writes: vector, memory, space."""
    edges = score_current(sequences, i, vector, space, lanes)
    loss = infer_block(sequences.chains, i, edges, space, sequences.layout.n_labels, lanes)
    exchange(memory, sequences, i, growth, space, lanes)
    return loss


@kernel
def take_snapshot(sequences, first, last, vector, memory, space, lanes):
    """Store the gradients of blocks first..last-1 in the place of the old ones, in d too; their loss.

    Writes: all but w.
    """
    K, total = sequences.layout.n_labels, 0.0
    for i in range(first, last):
        total += evaluate(sequences, i, 1.0, vector, memory, space, lanes)
        turn(vector, sequences.support, i, 1.0, 0.0, memory.change, memory.edge_change, K, lanes)
    return total


class FilledRun(AverageGradientRun):
    """A run that evaluates all blocks before its first draw: `snapped` of them are done, and have this `loss`."""

    def __init__(
        self,
        problem: Any,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        rule: Rule,
        seed: int,
        growth: float = 1.0,
    ) -> None:
        self.snapped, self.loss = 0, 0.0
        super().__init__(problem, weights, memory, rule, seed, growth=growth, correction=1.0)
        self.covered[0] = problem.n_sequences  # whatever was drawn

    @property
    def filled(self) -> bool:
        return self.snapped == self.n_blocks

    @property
    def exact(self) -> bool:
        """Whether d and the loss are those of the current weights."""
        return self.filled and self.epoch == self.drawn == 0

    def run_epoch(self) -> Step:
        """What is left of the first evaluation, or an epoch of draws."""
        return super().run_epoch() if self.filled else self.step(self.take_snapshot())

    def take_snapshot(self, evaluations: int = 0) -> int:
        """What is left of a snapshot, or less if told to stop, after so many recursions; the number of recursions."""
        blocks, n, before = self.sequences.chains.blocks, self.n_blocks, evaluations
        while self.snapped < n and not (evaluations and self.problem.asked_to_stop()):
            last = min(self.snapped + self.slice_size, n)
            self.loss += take_snapshot(
                self.sequences, self.snapped, last, self.vector, self.memory, self.space, self.lanes
            )
            evaluations += int(blocks[last] - blocks[self.snapped])
            self.snapped = last
        return evaluations - before

    def step(self, evaluations: int = 0) -> Step:
        """Where the run is; right after a snapshot with its exact objective and gradient."""
        step = super().step(evaluations)
        if not self.exact:
            return step
        objective = self.loss + self.problem.regulariser.value(self.weights)
        gradient = self.drift + 2.0 * self.problem.c2 * self.weights
        info = step.info if self.problem.c1 > 0.0 else {**step.info, "gradient_norm_estimate": norm(gradient)}
        return step._replace(objective=objective, gradient=gradient, info=info)

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "snapped": self.snapped, "loss": self.loss}

    def _restore(self, memory: Mapping[str, Any]) -> None:
        super()._restore(memory)
        self.snapped, self.loss = int(memory["snapped"]), float(memory["loss"])


class SnapshotRun(FilledRun):
    """A run in periods: `drawn` of the period's draws are done, then `snapped` of the blocks."""

    def __init__(
        self,
        problem: Any,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        rule: Rule,
        seed: int,
        n_draws: int,
    ) -> None:
        self.n_draws = n_draws
        super().__init__(problem, weights, memory, rule, seed, growth=0.0)
        if not memory:
            self.drawn = n_draws  # a run begins with a snapshot

    @property
    def filled(self) -> bool:
        return self.drawn == 0

    exact = filled

    def run_period(self) -> Step:
        """What is left of the draws and of the snapshot, in slices short enough for Ctrl-C."""
        evaluations = 0
        if self.drawn < self.n_draws:
            evaluations = self.draw(self.n_draws)
            if self.drawn == self.n_draws:
                self._begin_snapshot()
        if self.drawn == self.n_draws:
            evaluations += self.take_snapshot(evaluations)
            if self.snapped == self.n_blocks:
                self._end_snapshot()
        return self.step(evaluations)

    def _begin_snapshot(self) -> None:
        self.snapped, self.loss = 0, 0.0

    def _end_snapshot(self) -> None:
        self.epoch, self.drawn = self.epoch + 1, 0
