"""What the solvers with periodic step sizes have in common: their options, and how they run. Not solvers themselves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.memory import Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.online.periods import ByComponent, ByProducts, Discount, make_discount
from fastcrf.solvers.online.run import KEEPS, Method, PeriodicRun
from fastcrf.solvers.options import check_positive, check_whole
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class PeriodicStepSizes:
    """eta: the first step size of every weight; kappa: the largest |gamma| that counts; alpha, beta: the largest and
    the smallest factor of a step size at the end of a double period; period: updates in half of it; batch: sequences
    an update, or None for half a thousandth of them all (Hsu's rule); seed: of the order; steps_per_epoch: Steps in an
    epoch, to see the course of the first pass.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2"})
    promises: ClassVar[str] = "neighbourhood"
    keeps: ClassVar[Mapping[str, Kept]] = KEEPS
    streams: ClassVar[bool] = True

    eta: float = 0.1
    kappa: float = 0.9
    alpha: float = 0.9999
    beta: float = 0.99
    period: int = 10
    batch: int | None = 1
    seed: int = 0
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        for option in ("eta", "kappa", "alpha", "beta"):
            check_positive(self.name, option, getattr(self, option))
        if not self.beta < self.alpha <= 1.0:
            raise ValueError(
                f"{self.name}: beta must be below alpha, and alpha at most 1; got beta={self.beta!r} and "
                f"alpha={self.alpha!r}."
            )
        if self.batch is not None:
            check_whole(self.name, "batch", self.batch, 1)
        check_whole(self.name, "period", self.period, 1)
        check_whole(self.name, "seed", self.seed, 0)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    @abstractmethod
    def rule(self) -> ByComponent | ByProducts:
        """How step sizes adapt at the end of a double period."""

    def goes(self) -> str:
        """Where updates go, one of directions.py."""
        return "gradient"

    def discount(self) -> Discount:
        return make_discount(self.kappa, self.alpha, self.beta)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        batch = max(1, problem.n_sequences // 2000) if self.batch is None else self.batch
        method = Method(self.name, self.rule(), self.goes(), self.eta, batch, self.seed, self.steps_per_epoch)
        run = PeriodicRun(method, problem, weights, memory)
        yield run.step()
        while True:
            yield run.run_epoch()
