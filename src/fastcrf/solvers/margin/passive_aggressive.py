"""Passive-aggressive training.

Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online passive-aggressive algorithms", JMLR 7, pp. 551-585, as
implemented in CRFsuite's train_passive_aggressive.c (Okazaki, 2007).

Minimizes no sum over the corpus: each update is the smallest that gives its own sequence a margin.

    u <- 1;   w <- 0;   v <- 0
    repeat
        for each sequence i in random order
            y <- the best label sequence at w;   D <- F(x_i, y_i) - F(x_i, y)
            if y != y_i
                cost <- score(y) - score(y_i) + sqrt(number of wrong labels)         (+ 1 if not error_sensitive)
                tau <- cost / |D|^2                   type 0
                       min(c, cost / |D|^2)           type 1, PA-I
                       cost / (|D|^2 + 1 / (2 c))     type 2, PA-II
                w <- w + s_i tau D;   v <- v + u s_i tau D
            u <- u + 1

A Step is one epoch; its weights are w - v / u, the mean of the weights after each visit, or w without averaging.
`info["training_loss"]` is the sum of s_i cost.

Differs from the paper: the margin is not that of the label sequence with the largest cost, but of the best one; if its
features equal those of the gold one, the weights do not change (CRFsuite divides by 0 for type 0). Differs from
CRFsuite: CRFsuite shuffles with the C library's rand(); a nonzero start is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.exceptions import OptionError
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.margin import run
from fastcrf.solvers.margin.margin_rule import MarginRule
from fastcrf.solvers.margin.run import Average, MistakeRun, check_visits
from fastcrf.solvers.options import check_positive, check_truth, check_whole

TYPES = (0, 1, 2)


@solver
class PassiveAggressive:
    """Train with a passive-aggressive update.

    Parameters
    ----------
    pa_type
        0 without slack, 1 for PA-I, 2 for PA-II.
    c
        Aggressiveness; of PA-I the largest step.
    error_sensitive
        Whether the margin grows with the number of wrong labels.
    averaging
        Whether the result is the mean of all iterates.
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "pa"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | run.SUMS

    pa_type: int = 1
    c: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_whole(self.name, "pa_type", self.pa_type, 0)
        if self.pa_type not in TYPES:
            message = f"{self.name}: pa_type must be 0, 1 or 2; got pa_type={self.pa_type!r}."
            raise OptionError(message, self.name, "pa_type", self.pa_type)
        check_positive(self.name, "c", self.c)
        check_truth(self.name, "error_sensitive", self.error_sensitive)
        check_truth(self.name, "averaging", self.averaging)
        check_visits(self)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        run = MistakeRun(self, problem, weights, state, self._rule())
        average = Average(problem.n_weights) if self.averaging else None
        yield run.step() if average is None else average.of(run.step())
        while True:
            yield run.run_epoch() if average is None else average.of(run.run_epoch())

    def _rule(self) -> MarginRule:
        return MarginRule(
            power=0.5 if self.error_sensitive else 0.0,
            largest=float(self.c) if self.pa_type == 1 else math.inf,
            slack=0.5 / self.c if self.pa_type == 2 else 0.0,
        )
