"""Averaged stochastic gradient: constant steps, and the mean of all iterates.

Polyak & Juditsky (1992), "Acceleration of stochastic approximation by averaging", SIAM J. Control Optim. 30(4); Xu
(2010), "Towards optimal one pass large scale learning with averaged stochastic gradient descent", for the lazy mean; a
baseline of Schmidt et al. (2015), AISTATS.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    for t = 1, 2, ..., sequences i in random order
        w <- (1 - a lambda) w - a grad nll_i(w);   total <- total + w

A Step is one epoch; its weights are total / t. Its memory holds w and the total. Steps are a = eta; by option
eta / sqrt(t) or eta / (offset + t) (schmidt2015, footnote 7).

Differs from the paper: permutations instead of independent draws. Recipes that try step sizes on a sample score the
last iterate; calibration="full" scores the mean, as the paper does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from fastcrf.memory import WEIGHTS, Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.options import check_choice, check_positive
from fastcrf.solvers.sgd.averaged_vector import make_averaged
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent
from fastcrf.solvers.sgd.run import Descent
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule
from fastcrf.solvers.sgd.stochastic_descent import KEEPS, StochasticDescent
from fastcrf.types import Floats, Step

KEEPING = Keeping("total", "summed")
AVERAGE = {KEEPING.drift: WEIGHTS, KEEPING.number: Kept(low=0.0)}
SCHEDULES = ("constant", "sqrt", "inverse")


@dataclass(frozen=True)
class ASG(StochasticDescent):
    """schedule: of the step sizes (constant, sqrt, inverse); offset: of "inverse", eta / (offset + t); others: see
    StochasticDescent.
    """

    name: ClassVar[str] = "asg"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    keeps: ClassVar[Mapping[str, Kept]] = KEEPS | AVERAGE
    streams: ClassVar[bool] = True

    schedule: str = "constant"
    offset: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "schedule", self.schedule, SCHEDULES)
        check_positive(self.name, "offset", self.offset)

    def descent(self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None) -> LazyDescent:
        return averaging(problem, weights, memory, self.batch, self.seed)

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return make_schedule(self.schedule, eta, descent.lam, descent.n_draws, offset=self.offset)

    def reported(self, step: Step) -> Step:
        return averaged(step)


def averaging(
    problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None, batch: int, seed: int
) -> LazyDescent:
    """A descent that keeps the sum of its iterates."""
    make = partial(make_averaged, lam=problem.regulariser.mean_scale(problem.n_sequences)[1])
    return LazyDescent(problem, weights, memory, make, KEEPING, batch, seed)


def averaged(step: Step) -> Step:
    """The Step with the mean of all iterates in place of the last one."""
    total, summed = step.memory[KEEPING.drift], step.memory[KEEPING.number]
    return step._replace(weights=total / summed) if summed > 0.0 else step
