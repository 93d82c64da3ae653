"""What the solvers by curvature pairs share: options, start, and pairs in the metric that was asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import POINT, StateField
from fastcrf.core.types import NOTHING, Floats, Step
from fastcrf.objective.capabilities import SequenceGradientProblem
from fastcrf.objective.evaluation import Start, begin
from fastcrf.solvers.options import check_choice, check_whole
from fastcrf.solvers.quasi_newton import curvature_pairs
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.metric import counts_of, metric_of

METRICS = ("none", "counts")


@dataclass(frozen=True)
class QuasiNewton(ABC):
    """pairs: how many curvature pairs are kept; max_linesearch: gradient evaluations per line search; metric: the first
    inverse Hessian, "none" for a multiple of the identity, or "counts" for the features' own scales (metric.py).
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})  # and "sequences", where there is a metric of all counts
    guarantee: ClassVar[str] = "optimum"
    precision: ClassVar[type] = np.float64  # of the pairs
    always_scaled: ClassVar[bool] = False  # whether there is a metric in any case, of ones where none is asked for
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **POINT,
        **curvature_pairs.STATE_FIELDS,
        "scale": curvature_pairs.SCALE._replace(optional=True),
    }

    pairs: int = 6
    max_linesearch: int = 20
    metric: str = "none"

    def __post_init__(self) -> None:
        check_whole(self.name, "pairs", self.pairs, 1)
        check_whole(self.name, "max_linesearch", self.max_linesearch, 1)
        check_choice(self.name, "metric", self.metric, METRICS)

    def iterate(
        self, problem: SequenceGradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        start, given = begin(self.name, problem, weights, state), state or NOTHING
        metric = self._metric(problem, start, given)
        pairs = CurvaturePairs(self.pairs, problem.n_weights, problem.n_jobs, self.precision, metric)
        if state:
            pairs.restore(self.name, state)
        return (yield from self._descend(problem, start, pairs, given))

    def _metric(self, problem: SequenceGradientProblem, start: Start, state: Mapping[str, Any]) -> Floats | None:
        """D; with a memory, room for the one that it holds."""
        if self.metric == "counts" and not state:
            return metric_of(1.0 + counts_of(problem, start))
        return np.ones(problem.n_weights) if self.always_scaled or "scale" in state else None

    @abstractmethod
    def _descend(
        self, problem: SequenceGradientProblem, start: Start, pairs: CurvaturePairs, state: Mapping[str, Any]
    ) -> Generator[Step, None, str]:
        """The steps from an evaluated start, with the pairs that there are; `state` is what it goes on from."""
