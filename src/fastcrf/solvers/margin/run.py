"""The state of a mistake-driven run, and its epochs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField
from fastcrf.core.types import NOTHING, Diverged, Floats, Step
from fastcrf.lazy_vectors.scaled_vector import make_scaled, settle_scaled
from fastcrf.objective.blocks import make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.movable import MovablePart
from fastcrf.simd.vectors import norm
from fastcrf.solvers.margin.mistakes import State, visit_sequences
from fastcrf.solvers.options import check_seed, check_whole, seed_of
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stochastic.slices import Slices

STATE_FIELDS = {"weights": WEIGHTS, **dict.fromkeys(("epoch", "sampled", "visits"), COUNT), "loss": StateField()}
SUMS = {"sums": WEIGHTS}  # of averaged weights


class Numbers:
    """One number for each weight, in the kernels' layout and, on request, as a compact vector."""

    def __init__(self, part: MovablePart, values: Floats) -> None:
        self.part, self.values, self.settled = part, values, part.take(values)
        self.vector = make_scaled(part.blocks.layout, part.features, self.settled)

    def settle(self) -> Floats:
        values = self.settled if len(self.part.places) else self.values
        settle_scaled(self.vector, self.part.blocks.layout, self.part.features, values)
        self.part.put(values, self.values)
        return self.values


def check_visits(solver: Any) -> None:
    """Raise `OptionError` if an option of the family is invalid."""
    check_seed(solver.name, solver.seed)
    check_whole(solver.name, "steps_per_epoch", solver.steps_per_epoch, 1)


class MistakeRun:
    """The run of a rule for a solver. beside: name and first value of the additional number of each weight."""

    def __init__(
        self,
        solver: Any,
        problem: SequenceProblem,
        weights: Floats,
        state: Mapping[str, Any] | None,
        rule: Any,
        beside: tuple[str, float] = ("sums", 0.0),
    ) -> None:
        self.name, self.problem, self.rule, self.seed = solver.name, problem, rule, seed_of(solver)
        self.name_beside, fill = beside
        known = state or {"epoch": 0, "sampled": 0, "visits": 0, "loss": 0.0}
        weights = np.array(state["weights"]) if state else weights
        numbers = np.array(state[self.name_beside]) if state else np.full_like(weights, fill)
        self.epoch, self.visits, self.loss = int(known["epoch"]), int(known["visits"]), float(known["loss"])
        self.part = problem.part(weights)
        self.weights, self.beside = Numbers(self.part, weights), Numbers(self.part, numbers)
        blocks = self.part.blocks
        labels = np.zeros(blocks.widest[2], np.int32)
        self.state = State(blocks, self.weights.vector, self.beside.vector, make_workspace(blocks), labels)
        self.lanes = (0,) * blocks.layout.width
        n = problem.n_sequences
        done = min(int(known["sampled"]), n)
        self.slices = Slices(problem, n, problem.slice_size, solver.steps_per_epoch, done=done)
        self.visited = 0  # since the last Step

    def run_epoch(self) -> Step:
        """Visit all sequences in random order, or the rest of them before the next Step, in slices short enough for
        Ctrl-C.
        """
        n = self.problem.n_sequences
        order = epoch_permutation(self.seed, self.epoch, n)
        for some in self.slices:
            self.loss += visit_sequences(self.rule, self.state, order[some], self.visits, self.lanes)
            self.visits += some.stop - some.start
            self.visited += some.stop - some.start
        info: dict[str, float] = {}
        if self.slices.finished:
            info["training_loss"] = self.loss
            self.epoch, self.loss = self.epoch + 1, 0.0
            self.slices.start_again()
        return self.step(info)

    def step(self, info: Mapping[str, float] = NOTHING) -> Step:
        """Return the current Step."""
        weights, numbers = self.weights.settle(), self.beside.settle()
        length = norm(weights)
        if not np.isfinite(length + norm(numbers) + info.get("training_loss", self.loss)):
            raise Diverged(
                f"The weights or the losses of {self.name} are not finite after {self.visits} sequences; "
                "scale the attribute values down."
            )
        passes, self.visited = self.visited / self.problem.n_sequences, 0
        counts = {"epoch": self.epoch, "sampled": self.slices.done, "visits": self.visits, "loss": self.loss}
        state = {"weights": weights, self.name_beside: numbers, **counts}
        return Step(weights, passes, info={**info, "last_weights_norm": length}, state=state)


class Average:
    """The mean of the weights after each visit, w - sums / c; a change at visit c added c times itself to the sums."""

    def __init__(self, n_weights: int) -> None:
        self.weights = np.empty(n_weights)

    def of(self, step: Step) -> Step:
        """Return the step with averaged weights in place of the last ones."""
        last, sums, c = step.state["weights"], step.state["sums"], step.state["visits"] + 1
        np.multiply(sums, -1.0 / c, out=self.weights)
        self.weights += last
        return step._replace(weights=self.weights)
