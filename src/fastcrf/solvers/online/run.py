"""The state of a run with periodic step sizes, and its epochs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.chain.blocks import make_workspace
from fastcrf.draws.residuals import make_residuals
from fastcrf.draws.sampling import epoch_permutation
from fastcrf.draws.slices import Slices
from fastcrf.memory import COUNT, Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.online import rated_places
from fastcrf.solvers.online.directions import make_direction
from fastcrf.solvers.online.loop import State, rated_updates
from fastcrf.solvers.online.periods import ByComponent, ByProducts
from fastcrf.solvers.online.rated_places import RatedWeights, new_state, settled
from fastcrf.solvers.online.rated_vector import LATE, NOW, STEP
from fastcrf.types import NOTHING, Diverged, Floats, Step

STATE = ("began", "middle", "clock", "step_size")  # of the vector, in its order
COUNTED = ("epoch", "drawn", "updates", "wrong", "positions")
KEEPS = {
    **rated_places.KEEPS,
    **dict.fromkeys(STATE, Kept(low=0.0)),
    **dict.fromkeys(COUNTED, COUNT),
    "loss": Kept(),
}


class Method(NamedTuple):
    """What a solver of the family decides about a run."""

    name: str  # of the solver, for messages
    rule: ByComponent | ByProducts  # how step sizes adapt at the end of a double period
    direction: str  # where updates go, one of directions.py
    eta: float  # the first step size
    batch: int  # sequences an update
    seed: int
    steps: int  # that are due in an epoch


class PeriodicRun:
    """Updates in periods of `rule.period`; after every second one the rule changes the step sizes."""

    def __init__(
        self, method: Method, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None
    ) -> None:
        self.name, self.problem, self.seed = method.name, problem, method.seed
        self.batch = min(method.batch, problem.n_sequences)
        zeros = dict.fromkeys((*STATE, "loss"), 0.0) | dict.fromkeys(COUNTED, 0)
        known = memory or {**new_state(weights, problem.c1 > 0.0), **zeros, "step_size": method.eta}
        self.epoch, self.updates = int(known["epoch"]), int(known["updates"])
        self.loss, self.wrong, self.positions = float(known["loss"]), int(known["wrong"]), int(known["positions"])
        part = problem.part(weights, whole=True)  # penalties of features that do not occur are due, too
        blocks, self.lanes = part.blocks, (0,) * part.blocks.layout.width
        self.arrays = {name: np.array(known[name]) for name in rated_places.KEEPS if name in known}
        self.rated = RatedWeights(blocks.layout, part.features, self.arrays)
        self.vector = self.rated.vector
        self.vector.state[:] = [known[name] for name in STATE]
        self.vector.counts[LATE] = self.updates % (2 * method.rule.period) >= method.rule.period
        self.state = State(
            blocks,
            vector=self.vector,
            direction=make_direction(method.direction, problem, blocks),
            rule=method.rule,
            space=make_workspace(blocks),
            residuals=make_residuals(blocks, self.batch),
        )
        n = problem.n_sequences
        self.lengths = np.diff(problem.corpus.starts)
        done = min(int(known["drawn"]), n)
        self.draws = Slices(problem, n, problem.slice_size, method.steps, unit=self.batch, done=done)
        self.evaluations = 0

    def run_epoch(self) -> Step:
        """All sequences in random order (what is left of them before the next Step), in slices short for Ctrl-C."""
        n = self.problem.n_sequences
        order = epoch_permutation(self.seed, self.epoch + 1, n)
        for some in self.draws:
            self.learn(order[some])
        info = {"step_size": float(self.vector.state[STEP]), "progressive_error": self.wrong / max(1, self.positions)}
        if not self.draws.finished:
            return self.step(info)
        step = self.step(info, done=True)
        self.epoch, self.loss, self.wrong, self.positions = self.epoch + 1, 0.0, 0, 0
        self.draws.start_again()
        return step._replace(memory={**step.memory, **self.numbers()})

    def learn(self, order: np.ndarray) -> None:
        """Updates over some sequences."""
        loss, wrong = rated_updates(self.state, order, self.batch, self.updates, self.lanes)
        self.loss, self.wrong = self.loss + loss, self.wrong + wrong
        self.updates += -(-len(order) // self.batch)
        self.positions += int(self.lengths[order].sum())
        self.evaluations += len(order)

    def step(self, info: Mapping[str, float] = NOTHING, done: bool = False) -> Step:
        """Where the run is. What waits for a look goes on waiting: only the weights handed out are settled."""
        self.arrays = self.rated.state()
        self.rated.list_by_place()
        weights = settled(self.arrays, float(self.vector.state[NOW]))
        penalty = self.problem.regulariser.value(weights)
        if not np.isfinite(penalty + self.loss) or not np.isfinite(weights.sum()):
            raise Diverged(
                f"The weights or the losses of {self.name} are not finite after {self.updates} updates; "
                "try a smaller eta."
            )
        if done:
            info = {**info, "online_objective": self.loss + penalty}
        passes, self.evaluations = self.evaluations / self.problem.n_sequences, 0
        return Step(weights, passes, info=info, memory={**self.arrays, **self.numbers()})

    def numbers(self) -> dict[str, Any]:
        state = dict(zip(STATE, self.vector.state.tolist(), strict=True))
        counts = {"epoch": self.epoch, "drawn": self.draws.done, "updates": self.updates}
        return {**state, **counts, "wrong": self.wrong, "positions": self.positions, "loss": self.loss}
