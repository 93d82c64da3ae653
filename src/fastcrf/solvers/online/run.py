"""The state of a run with periodic step sizes, and its epochs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import COUNT, StateField
from fastcrf.core.types import NOTHING, Diverged, Floats, Step
from fastcrf.exceptions import OptionError
from fastcrf.objective.blocks import make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.online import rated_places
from fastcrf.solvers.online.loop import State, rated_updates
from fastcrf.solvers.online.periods import ByComponent, ByProducts, Discount, make_discount
from fastcrf.solvers.online.rated_places import RatedWeights, new_state, settled
from fastcrf.solvers.online.rated_vector import LATE, NOW, STEP
from fastcrf.solvers.options import check_positive, check_seed, check_whole, seed_of
from fastcrf.stochastic.residuals import make_residuals
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stochastic.slices import Slices

STATE = ("began", "middle", "clock", "step_size")  # of the vector, in its order
COUNTED = ("epoch", "sampled", "updates", "wrong", "positions")
STATE_FIELDS = {
    **rated_places.STATE_FIELDS,
    **dict.fromkeys(STATE, StateField(low=0.0)),
    **dict.fromkeys(COUNTED, COUNT),
    "loss": StateField(),
}


class Method(NamedTuple):
    """The choices of a solver of the family for a run."""

    name: str  # of the solver, for messages
    rule: ByComponent | ByProducts  # the adaptation of step sizes at the end of a double period
    eta: float  # the first step size
    batch_size: int  # sequences per update
    seed: int
    steps: int  # number of Steps per epoch


class PeriodicRun:
    """Updates in periods of `rule.period`; after every second one the rule changes the step sizes."""

    def __init__(
        self, method: Method, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None
    ) -> None:
        self.name, self.problem, self.seed = method.name, problem, method.seed
        self.batch_size = min(method.batch_size, problem.n_sequences)
        zeros = dict.fromkeys((*STATE, "loss"), 0.0) | dict.fromkeys(COUNTED, 0)
        known = state or {**new_state(weights, problem.c1 > 0.0), **zeros, "step_size": method.eta}
        self.epoch, self.updates = int(known["epoch"]), int(known["updates"])
        self.loss, self.wrong, self.positions = float(known["loss"]), int(known["wrong"]), int(known["positions"])
        part = problem.part(weights, whole=True)  # features that do not occur also have a penalty
        blocks, self.lanes = part.blocks, (0,) * part.blocks.layout.width
        self.arrays = {name: np.array(known[name]) for name in rated_places.STATE_FIELDS if name in known}
        self.rated = RatedWeights(blocks.layout, part.features, self.arrays)
        self.vector = self.rated.vector
        self.vector.state[:] = [known[name] for name in STATE]
        self.vector.counts[LATE] = self.updates % (2 * method.rule.period) >= method.rule.period
        self.state = State(
            blocks,
            vector=self.vector,
            charge=(2.0 * problem.c2 + problem.c1) / problem.n_sequences,  # one of them is 0
            rule=method.rule,
            space=make_workspace(blocks),
            residuals=make_residuals(blocks, self.batch_size),
        )
        n = problem.n_sequences
        self.lengths = np.diff(problem.corpus.starts)
        done = min(int(known["sampled"]), n)
        self.slices = Slices(problem, n, problem.slice_size, method.steps, unit=self.batch_size, done=done)
        self.evaluations = 0

    def run_epoch(self) -> Step:
        """Visit all sequences in random order (or the rest before the next Step), in slices short enough for Ctrl-C."""
        n = self.problem.n_sequences
        order = epoch_permutation(self.seed, self.epoch + 1, n)
        for some in self.slices:
            self.learn(order[some])
        info = {"step_size": float(self.vector.state[STEP]), "progressive_error": self.wrong / max(1, self.positions)}
        if not self.slices.finished:
            return self.step(info)
        step = self.step(info, done=True)
        self.epoch, self.loss, self.wrong, self.positions = self.epoch + 1, 0.0, 0, 0
        self.slices.start_again()
        return step._replace(state={**step.state, **self.numbers()})

    def learn(self, order: np.ndarray) -> None:
        """Update with some sequences."""
        loss, wrong = rated_updates(self.state, order, self.batch_size, self.updates, self.lanes)
        self.loss, self.wrong = self.loss + loss, self.wrong + wrong
        self.updates += -(-len(order) // self.batch_size)
        self.positions += int(self.lengths[order].sum())
        self.evaluations += len(order)

    def step(self, info: Mapping[str, float] = NOTHING, done: bool = False) -> Step:
        """Return the current Step. Lazy updates stay deferred: only the reported weights have them applied."""
        self.arrays = self.rated.state()
        self.rated.list_by_place()
        weights = settled(self.arrays, float(self.vector.state[NOW]))
        penalty = self.problem.regularizer.value(weights)
        if not np.isfinite(penalty + self.loss) or not np.isfinite(weights.sum()):
            raise Diverged(
                f"The weights or the losses of {self.name} are not finite after {self.updates} updates; "
                "try a smaller eta."
            )
        if done:
            info = {**info, "online_objective": self.loss + penalty}
        passes, self.evaluations = self.evaluations / self.problem.n_sequences, 0
        return Step(weights, passes, info=info, state={**self.arrays, **self.numbers()})

    def numbers(self) -> dict[str, Any]:
        state = dict(zip(STATE, self.vector.state.tolist(), strict=True))
        counts = {"epoch": self.epoch, "sampled": self.slices.done, "updates": self.updates}
        return {**state, **counts, "wrong": self.wrong, "positions": self.positions, "loss": self.loss}


@solver
class PeriodicStepSizes:
    """Declare the options that solvers with periodic step sizes share.

    Parameters
    ----------
    eta
        First step size of every weight.
    kappa
        Upper bound on |gamma|.
    alpha
        Largest factor of a step size at the end of a double period; at most 1.
    beta
        Smallest factor of a step size at the end of a double period; below alpha.
    period
        Updates per period; step sizes change after every second one.
    batch_size
        Sequences per update; None: a 2,000th of all (the rule of Hsu et al., 2009).
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2"})
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS
    streams: ClassVar[bool] = True

    eta: float = 0.1
    kappa: float = 0.9
    alpha: float = 0.9999
    beta: float = 0.99
    period: int = 10
    batch_size: int | None = 1
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        for option in ("eta", "kappa", "alpha", "beta"):
            check_positive(self.name, option, getattr(self, option))
        if not self.beta < self.alpha <= 1.0:
            message = (
                f"{self.name}: beta must be below alpha, and alpha at most 1; got beta={self.beta!r} and "
                f"alpha={self.alpha!r}."
            )
            raise OptionError(message, self.name, "beta", self.beta)
        if self.batch_size is not None:
            check_whole(self.name, "batch_size", self.batch_size, 1)
        check_whole(self.name, "period", self.period, 1)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    @abstractmethod
    def rule(self) -> ByComponent | ByProducts:
        """Return the adaptation of step sizes at the end of a double period."""

    def discount(self) -> Discount:
        return make_discount(self.kappa, self.alpha, self.beta)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        batch_size = max(1, problem.n_sequences // 2000) if self.batch_size is None else self.batch_size
        method = Method(self.name, self.rule(), self.eta, batch_size, seed_of(self), self.steps_per_epoch)
        run = PeriodicRun(method, problem, weights, state)
        yield run.step()
        while True:
            yield run.run_epoch()
