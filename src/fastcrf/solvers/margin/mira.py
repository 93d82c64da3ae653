"""MIRA, the margin infused relaxed algorithm, with one constraint per sequence: the best label sequence.

Crammer & Singer (2003), "Ultraconservative online algorithms for multiclass problems", JMLR 3, pp. 951-991; for
structured output and averaged, McDonald, Crammer & Pereira (2005), "Online large-margin training of dependency
parsers", ACL.

Minimizes no sum over the corpus: each update is the smallest for which the score of the gold label sequence exceeds
that of the best one by the number of its wrong labels,

    min |w' - w|^2 / 2    such that    score(y_i) - score(y) >= wrong labels of y

    repeat
        for each sequence i in random order
            y <- the best label sequence at w;   D <- F(x_i, y_i) - F(x_i, y)
            if y != y_i
                tau <- (score(y) - score(y_i) + wrong labels of y) / |D|^2           (at most c, if there is one)
                w <- w + s_i tau D

A Step is one epoch; its weights are the mean of the weights after each visit. `info["training_loss"]` is the sum of s_i
times the numerator of tau.

Differs from the papers: one constraint (McDonald et al. use the k best, Crammer & Singer all wrong classes); c limits
the step as in PA-I, but by default there is no limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.margin import run
from fastcrf.solvers.margin.margin_rule import MarginRule
from fastcrf.solvers.margin.run import Average, MistakeRun, check_visits
from fastcrf.solvers.options import check_positive


@solver
class MIRA:
    """Train with MIRA, the margin-infused relaxed algorithm.

    Parameters
    ----------
    c
        Largest step; None: no limit.
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "mira"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | run.SUMS

    c: float | None = None
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        if self.c is not None:
            check_positive(self.name, "c", self.c)
        check_visits(self)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        rule = MarginRule(power=1.0, largest=math.inf if self.c is None else float(self.c), slack=0.0)
        run = MistakeRun(self, problem, weights, state, rule)
        average = Average(problem.n_weights)
        yield average.of(run.step())
        while True:
            yield average.of(run.run_epoch())
