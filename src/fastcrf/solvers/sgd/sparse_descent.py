"""What the solvers of tsuruoka2009 have in common: their schedules. Not a solver itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fastcrf.solvers.options import check_choice, check_not_negative, check_positive
from fastcrf.solvers.sgd.run import Descent
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule
from fastcrf.solvers.sgd.stochastic_descent import StochasticDescent

SCHEDULES = ("constant", "epoch", "exponential")


@dataclass(frozen=True)
class SparseDescent(StochasticDescent):
    """schedule: of the step sizes (exponential, epoch, constant); decay: of "exponential", by epoch; tail: share of
    1 / (1 + epochs) added to it; others: see StochasticDescent.
    """

    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1"})
    promises: ClassVar[str] = "sparse neighbourhood"

    eta: float | None = 0.5  # what the paper's own rule chooses for chunking
    calibration: str = "crfsuite"
    schedule: str = "epoch"
    decay: float = 0.85
    tail: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "schedule", self.schedule, SCHEDULES)
        check_positive(self.name, "decay", self.decay)
        check_not_negative(self.name, "tail", self.tail)

    @property
    def tunable(self) -> frozenset[str]:
        return frozenset({"eta", "decay"} if self.schedule == "exponential" else {"eta"})

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return make_schedule(self.schedule, eta, descent.lam, descent.n_draws, decay=self.decay, tail=self.tail)
