"""Options and runs shared by stochastic descents. This file defines no solver."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_not_negative, check_positive, check_seed, check_whole, seed_of
from fastcrf.solvers.sgd import grid_tuning, run
from fastcrf.solvers.sgd.calibration import RECIPES, calibrate
from fastcrf.solvers.sgd.run import Descent, Run
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule

STATE_FIELDS = run.STATE_FIELDS | run.TUNED


@solver
class StochasticDescent:
    """Declare the options that stochastic gradient solvers share.

    Parameters
    ----------
    eta
        First step size; None: it is calibrated.
    batch_size
        Sequences per update.
    calibration
        Calibration of the step size if `eta` is None: "bottou", "crfsuite", "powers" or "tsuboi" (short runs on
        `samples` sequences), "full" or "tsuruoka" (whole runs of `calibration_passes` epochs).
    samples
        Sequences of a short calibration run.
    calibration_passes
        Epochs of a whole calibration run.
    seed
        Seed of the samples and of the batches; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]]
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS

    eta: float | None = None
    batch_size: int = 1
    calibration: str = "bottou"
    samples: int = 1000
    calibration_passes: int = 30
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        if self.eta is not None:
            check_positive(self.name, "eta", self.eta)
        check_whole(self.name, "batch_size", self.batch_size, 1)
        check_choice(self.name, "calibration", self.calibration, (*RECIPES, *grid_tuning.GRIDS))
        check_whole(self.name, "samples", self.samples, 1)
        check_whole(self.name, "calibration_passes", self.calibration_passes, 1)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)
        self.check_steps()

    def check_steps(self) -> None:
        """Check the options of the schedule, where a solver has any."""

    @property
    def tunable(self) -> frozenset[str]:
        """Return the options that whole runs can tune."""
        return frozenset({"eta"})

    @abstractmethod
    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> Descent:
        """Return the weights with the rule of their updates."""

    @abstractmethod
    def rates(self, descent: Descent, eta: float) -> Schedule:
        """Return the schedule of a run that begins with eta."""

    def reported(self, step: Step) -> Step:
        """Return the Step that the user reads: some solvers report other weights than those of the run."""
        return step

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        descent = self.descent(problem, weights, state)
        run = Run(self.name, problem, state, descent, seed=seed_of(self), steps=self.steps_per_epoch)
        yield self.reported(run.step())
        solver = self
        if self.eta is None and self.calibration in grid_tuning.GRIDS:
            solver = yield from grid_tuning.tune(self, run)
            run.eta = solver.eta or 0.0
        elif not run.eta:
            run.eta = self.eta or calibrate(run, self.calibration, lambda eta: self.rates(descent, eta), self.samples)
        while True:
            yield self.reported(run.run_epoch(solver.rates(descent, run.eta)))


SCHEDULES = ("constant", "epoch", "exponential")


@solver
class SparseSteps:
    """Declare the step sizes of stochastic gradient solvers with an L1 penalty.

    It is a group of options, not a solver: a solver composes it with `StochasticDescent`, whose defaults it precedes.

    Parameters
    ----------
    schedule
        Step sizes: "exponential", "epoch" or "constant".
    decay
        Of the schedule "exponential": factor per epoch.
    tail
        Share of 1 / (1 + epochs) added to the schedule.
    """

    name: ClassVar[str]
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1"})
    guarantee: ClassVar[str] = "near the optimum, sparse"

    eta: float | None = 0.5  # the choice of the paper's own rule for chunking
    calibration: str = "crfsuite"
    schedule: str = "epoch"
    decay: float = 0.85
    tail: float = 0.0

    def check_steps(self) -> None:
        check_choice(self.name, "schedule", self.schedule, SCHEDULES)
        check_positive(self.name, "decay", self.decay)
        check_not_negative(self.name, "tail", self.tail)

    @property
    def tunable(self) -> frozenset[str]:
        return frozenset({"eta", "decay"} if self.schedule == "exponential" else {"eta"})

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return make_schedule(self.schedule, eta, descent.lam, descent.n_samples, decay=self.decay, tail=self.tail)
