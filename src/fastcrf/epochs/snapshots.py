"""The periods of SVRG: draws along a gradient that stays as it is, then a new snapshot of it.

A snapshot evaluates all sequences at w~, the weights of that moment, and stores the expectations of each; d is the sum
of their gradients. Between two snapshots neither changes, and the draws of epochs/variance_reduced.py are

    w <- (1 - a lambda) w - a [ (g - g_i) + d / n ]

Because a snapshot ends a period, each Step has the exact objective and gradient of its weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.chain.lanes import add_scaled, load, store
from fastcrf.chain.sequences import collect_change, gold_score, infer_sequence, subtract_gold
from fastcrf.epochs.variance_reduced import AverageGradientRun, exchange, exchange_rows, growth, score_sequence
from fastcrf.kernel import kernel, means
from fastcrf.parts.drifting_vector import settle_drifting, turn_drift
from fastcrf.parts.visiting import Rule
from fastcrf.types import Floats, Step


class Snapshot(NamedTuple):
    """The expectations at w~ (see GradientMemory), and room for how those of the current draw differ from them."""

    marginals: np.ndarray  # [P, Kp]
    bigrams: np.ndarray  # [N K, Kp]
    change: np.ndarray  # [T, Kp]
    edge_change: np.ndarray  # [Kp, Kp]


@kernel
def compare_rows(new, memory, first, n_rows, change, lanes):
    """change = new - memory[first:], over n_rows rows. Writes: change."""
    for r in range(n_rows):
        for b in range(0, new.shape[1], len(lanes)):
            row = add_scaled(-1.0, load(memory, first + r, b, lanes), load(new, r, b, lanes))
            store(change, r, b, row)


@means(exchange, Snapshot)
def compare(memory, i, first, n_positions, posteriors, edge_sums, n_labels, lanes):
    compare_rows(posteriors, memory.marginals, first, n_positions, memory.change, lanes)
    compare_rows(edge_sums, memory.bigrams, i * n_labels, n_labels, memory.edge_change, lanes)


@means(growth, Snapshot)
def growth_of_snapshot(memory):
    return 0.0


@kernel
def take_snapshot(sequences, first, last, vector, memory, space, lanes):
    """Store the expectations of sequences first..last-1, add their gradients to d; their loss. Writes: all but w."""
    local, support, K = sequences.local, sequences.support, sequences.layout.n_labels
    lattice, total = space.lattice, 0.0
    for i in range(first, last):
        begin, T = local.starts[i], local.starts[i + 1] - local.starts[i]
        labels = sequences.labels[begin : begin + T]
        weight = sequences.weights[i] if len(sequences.weights) > 0 else 1.0
        edges = score_sequence(sequences, i, vector, space, lanes)
        loss = -gold_score(labels, lattice.scores, edges.scores)
        loss += infer_sequence(lattice, T, edges, weight, space.wide_edges, space.edge_sums, K, lanes)
        exchange_rows(lattice.scores, memory.marginals, begin, T, memory.change, lanes)
        exchange_rows(space.edge_sums, memory.bigrams, i * K, K, memory.edge_change, lanes)
        subtract_gold(labels, weight, lattice.scores, space.edge_sums)
        collect_change(local, support, i, lattice.scores, space.change, lanes)
        turn_drift(vector, support, i, 1.0, 0.0, space.change, space.edge_sums, K, lanes)
        total += weight * loss
    return total


class SnapshotRun(AverageGradientRun):
    """The state of one run: `drawn` of the period's draws are done, then `snapped` of the sequences."""

    def __init__(
        self,
        problem: Any,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        rule: Rule,
        seed: int,
        n_draws: int,
    ) -> None:
        self.n_draws, self.snapped, self.loss = n_draws, 0, 0.0
        super().__init__(problem, weights, memory, rule, seed, correction=1.0)
        self.memory = Snapshot(*self.memory)
        if not memory:
            self.drawn = n_draws  # a run begins with a snapshot

    def run_period(self) -> Step:
        """What is left of the draws and of the snapshot, in slices short enough for Ctrl-C."""
        evaluations = 0
        if self.drawn < self.n_draws:
            evaluations = self.draw(self.n_draws)
            if self.drawn == self.n_draws:
                self._forget()
        if self.drawn == self.n_draws:
            evaluations += self._take_snapshot(evaluations)
        return self.step(evaluations)

    def _take_snapshot(self, evaluations: int) -> int:
        """What is left of a snapshot, or less if told to stop, after so many recursions; the number of recursions."""
        n, before = self.problem.n_sequences, self.snapped
        while self.snapped < n and not (evaluations and self.problem.asked_to_stop()):
            last = min(self.snapped + self.problem.slice_size, n)
            self.loss += take_snapshot(
                self.sequences, self.snapped, last, self.vector, self.memory, self.space, self.lanes
            )
            evaluations += last - self.snapped
            self.snapped = last
        if self.snapped == n:
            self.epoch, self.drawn = self.epoch + 1, 0
        return self.snapped - before

    def step(self, evaluations: int = 0) -> Step:
        """Where the run is; after a whole period with its exact objective and gradient."""
        step = super().step(evaluations)
        if self.drawn > 0:
            return step._replace(info={**step.info, "gradient_norm_estimate": np.inf})
        c2 = self.problem.c2
        objective = self.loss + c2 * float(np.square(self.weights).sum())
        return step._replace(objective=objective, gradient=self.drift + 2.0 * c2 * self.weights)

    def _forget(self) -> None:
        """Clear the old gradient to make room for that of a new snapshot. Writes: vector, settled."""
        settle_drifting(self.vector, self.places, 0.0, *self.settled, self.lanes)
        self.vector.rows[1::2] = 0.0
        self.vector.cells[:, 1] = 0.0
        self.snapped, self.loss = 0, 0.0

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "snapped": self.snapped, "loss": self.loss}

    def _restore(self, memory: Mapping[str, Any]) -> None:
        super()._restore(memory)
        self.snapped, self.loss = int(memory["snapped"]), float(memory["loss"])
