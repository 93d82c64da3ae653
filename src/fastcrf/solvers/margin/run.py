"""The state of a run that learns from mistakes, and its epochs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.chain.blocks import make_workspace
from fastcrf.draws.drifting_vector import make_drifting
from fastcrf.draws.lazy_weights import LazyWeights
from fastcrf.draws.sampling import epoch_permutation
from fastcrf.draws.slices import Slices
from fastcrf.memory import COUNT, WEIGHTS, Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.margin.mistakes import make_path, visit_sequences
from fastcrf.types import NOTHING, Diverged, Floats, Step
from fastcrf.vectors import norm

KEEPS = {"weights": WEIGHTS, **dict.fromkeys(("epoch", "drawn", "visits"), COUNT), "loss": Kept()}
SUMS = {"sums": WEIGHTS}  # of averaged weights


class MistakeRun:
    """A rule at work. beside: name and first value of the number beside each weight."""

    def __init__(
        self,
        name: str,
        problem: SequenceProblem,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        rule: Any,
        seed: int,
        beside: tuple[str, float] = ("sums", 0.0),
    ) -> None:
        self.name, self.problem, self.rule, self.seed = name, problem, rule, seed
        self.beside, fill = beside
        known = memory or {"epoch": 0, "drawn": 0, "visits": 0, "loss": 0.0}
        weights = np.array(memory["weights"]) if memory else weights
        numbers = np.array(memory[self.beside]) if memory else np.full_like(weights, fill)
        self.epoch, self.visits, self.loss = int(known["epoch"]), int(known["visits"]), float(known["loss"])
        self.part = problem.part(weights)
        self.lazy = LazyWeights(self.part, weights, numbers, make_drifting)
        self.space, self.path = make_workspace(self.part.blocks), make_path(self.part.blocks)
        n = problem.n_sequences
        self.draws = Slices(n, problem.slice_size, lambda: problem.asked_to_stop(), done=min(int(known["drawn"]), n))
        self.visited = 0  # since the last Step

    def run_epoch(self) -> Step:
        """All sequences in random order, or what is left of them, in slices short enough for Ctrl-C."""
        n = self.problem.n_sequences
        order = epoch_permutation(self.seed, self.epoch, n)
        for some in self.draws:
            self.loss += visit_sequences(
                self.part.blocks, order[some], self.visits, self.rule, self.lazy.vector, self.space, self.path,
                self.lazy.lanes,
            )  # fmt: skip
            self.visits += some.stop - some.start
            self.visited += some.stop - some.start
        info: dict[str, float] = {}
        if self.draws.finished:
            info["training_loss"] = self.loss
            self.epoch, self.loss = self.epoch + 1, 0.0
            self.draws.start_again()
        return self.step(info)

    def step(self, info: Mapping[str, float] = NOTHING) -> Step:
        """Where the run is."""
        self.lazy.settle(0.0)
        weights = self.lazy.weights
        length = norm(weights)
        if not np.isfinite(length + norm(self.lazy.drift) + info.get("training_loss", self.loss)):
            raise Diverged(
                f"The weights or the losses of {self.name} are not finite after {self.visits} sequences; are there "
                "very large values among the attributes?"
            )
        passes, self.visited = self.visited / self.problem.n_sequences, 0
        numbers = {"epoch": self.epoch, "drawn": self.draws.done, "visits": self.visits, "loss": self.loss}
        memory = {"weights": weights, self.beside: self.lazy.drift, **numbers}
        return Step(weights, passes, info={**info, "last_weights_norm": length}, memory=memory)


class Average:
    """The mean of the weights after each visit, w - sums / c; a change at visit c added c times itself to the sums."""

    def __init__(self, n_weights: int) -> None:
        self.weights = np.empty(n_weights)

    def of(self, step: Step) -> Step:
        """The step with averaged weights in place of the last ones."""
        last, sums, c = step.memory["weights"], step.memory["sums"], step.memory["visits"] + 1
        np.multiply(sums, -1.0 / c, out=self.weights)
        self.weights += last
        return step._replace(weights=self.weights)
