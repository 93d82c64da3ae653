"""What the solvers of tsuruoka2009 have in common: their options, and how they run. Not a solver itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.memory import Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.options import check_choice, check_not_negative, check_positive, check_whole
from fastcrf.solvers.sgd import run
from fastcrf.solvers.sgd.lazy_descent import LazyDescent
from fastcrf.solvers.sgd.run import Run
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule
from fastcrf.solvers.sgd.step_size_trials import RECIPES, calibrate
from fastcrf.types import Floats, Step

SCHEDULES = ("constant", "epoch", "exponential")


@dataclass(frozen=True)
class SparseSGD:
    """schedule: of the step sizes (exponential, epoch, constant); eta: the first one, or None to calibrate it; decay: of
    "exponential", by epoch; tail: share of 1 / (1 + epochs) added to it; batch: sequences a draw (at most);
    calibration: recipe (bottou, crfsuite, powers, tsuboi); samples: sequences it may use; seed: of the order, and of
    what is drawn together; steps_per_epoch: Steps in an epoch, to see the course of the first pass.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1"})
    promises: ClassVar[str] = "sparse neighbourhood"
    keeps: ClassVar[Mapping[str, Kept]] = run.KEEPS

    schedule: str = "epoch"
    eta: float | None = None
    decay: float = 0.85
    tail: float = 0.0
    batch: int = 1
    calibration: str = "bottou"
    samples: int = 1000
    seed: int = 0
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_choice(self.name, "schedule", self.schedule, SCHEDULES)
        check_choice(self.name, "calibration", self.calibration, RECIPES)
        if self.eta is not None:
            check_positive(self.name, "eta", self.eta)
        check_positive(self.name, "decay", self.decay)
        check_not_negative(self.name, "tail", self.tail)
        check_whole(self.name, "batch", self.batch, 1)
        check_whole(self.name, "samples", self.samples, 1)
        check_whole(self.name, "seed", self.seed, 0)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    @abstractmethod
    def descent(self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None) -> LazyDescent:
        """The weights, and how they move."""

    def iterate(
        self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        descent = self.descent(problem, weights, memory)
        run = Run(self.name, problem, memory, descent, seed=self.seed, steps=self.steps_per_epoch)

        def rates(eta: float) -> Schedule:
            return make_schedule(
                self.schedule, eta, descent.lam, descent.n_draws, decay=self.decay, tail=self.tail
            )  # fmt: skip

        yield run.step()
        run.eta = run.eta or self.eta or calibrate(run, self.calibration, rates, self.samples)
        while True:
            yield run.run_epoch(rates(run.eta))
