"""Stochastic gradient descent with a calibrated step size.

Bottou (2010), "Large-scale machine learning with stochastic gradient descent", COMPSTAT, pp. 177-186, and his program
crfsgd; Shalev-Shwartz, Singer & Srebro (2007), ICML, for the scaled vector; schedules of Collins et al. (2008), JMLR 9,
and Tsuruoka, Tsujii & Ananiadou (2009), ACL.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    k <- 0
    repeat
        for each batch B of the sequences in random order
            g <- (1/|B|) sum of grad nll_i(w), i in B
            w <- (1 - a_k lambda) w - a_k g;   k <- k + 1

A Step is one epoch. With the schedule "bottou", a_k = eta / (1 + eta lambda k) = 1 / (lambda (t0 + k)). Without `eta`,
short runs on a sample choose it (`step_size_trials.py`); their evaluations count. `info["online_objective"]` is
the sum of the losses of the epoch, each before its update, plus c2 |w|^2 after it.

Differs from crfsgd: penalty and gradient are taken at the same weights; crfsgd shrinks after the gradient step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.memory import Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.options import check_choice, check_positive, check_whole
from fastcrf.solvers.sgd import descent, schedules
from fastcrf.solvers.sgd.descent import ScaledRun
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule
from fastcrf.solvers.sgd.step_size_trials import RECIPES, calibrate
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class SGD:
    """schedule: of the step sizes (bottou, constant, sqrt, inverse, epoch, exponential); eta: the first one, or None to
    calibrate it; offset: of "inverse", eta / (offset + t); decay: of "exponential", by epoch; batch: sequences an
    update; calibration: recipe (bottou, crfsuite, powers, tsuboi); samples: sequences it may use; seed: of the order;
    steps_per_epoch: Steps in an epoch, to see the course of the first pass.
    """

    name: ClassVar[str] = "sgd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    promises: ClassVar[str] = "neighbourhood"
    keeps: ClassVar[Mapping[str, Kept]] = descent.KEEPS
    streams: ClassVar[bool] = True

    schedule: str = "bottou"
    eta: float | None = None
    offset: float = 1.0
    decay: float = 0.85
    batch: int = 1
    calibration: str = "bottou"
    samples: int = 1000
    seed: int = 0
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_choice(self.name, "schedule", self.schedule, schedules.NAMES)
        check_choice(self.name, "calibration", self.calibration, RECIPES)
        if self.eta is not None:
            check_positive(self.name, "eta", self.eta)
        check_positive(self.name, "offset", self.offset)
        check_positive(self.name, "decay", self.decay)
        check_whole(self.name, "batch", self.batch, 1)
        check_whole(self.name, "samples", self.samples, 1)
        check_whole(self.name, "seed", self.seed, 0)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        run = ScaledRun(
            self.name, problem, weights, memory, batch=self.batch, seed=self.seed, steps=self.steps_per_epoch
        )

        def rates(eta: float) -> Schedule:
            updates = run.descent.n_updates(problem.n_sequences)
            return make_schedule(self.schedule, eta, run.descent.lam, updates, self.offset, self.decay)

        yield run.step()
        run.eta = run.eta or self.eta or calibrate(run, self.calibration, rates, self.samples)
        while True:
            yield run.run_epoch(rates(run.eta))
