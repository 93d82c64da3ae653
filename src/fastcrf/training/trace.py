"""The trace of a run: one row per Step.

A `Point` is a Step as stopping criteria read it. Values that the Step carries are free. Other values are evaluated on
first access, once, outside the solver's clock. The row has None for values that were not evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcrf.certificates.certificate import Certificate
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import RunProblem
from fastcrf.objective.evaluation import evaluate
from fastcrf.penalties.orthant import shortest_subgradient
from fastcrf.simd.vectors import norm

if TYPE_CHECKING:
    from fastcrf.certificates.certifier import Certifier

Row = dict[str, Any]
Trace = list[Row]

# Columns of every row. Neither a solver's info nor a watched score may use these names.
SPENT = ("step", "passes", "seconds", "wall")
EVALUATED = ("objective", "gradient_norm", "gap", "relative_gap")
COLUMNS = SPENT + EVALUATED
ESTIMATE = "objective_estimate"  # the objective that a solver expects; "objective" is always measured


class Point:
    """A Step with its place in the run: number, cumulative passes, solver seconds, wall seconds and the run's
    certifier.
    """

    def __init__(
        self, problem: RunProblem, step: Step, number: int, passes: float, seconds: float, wall: float
    ) -> None:
        self.problem, self.step, self.number = problem, step, number
        self.passes, self.seconds, self.wall = passes, seconds, wall
        self.scores: Mapping[str, float] = {}
        self.certifier: Certifier | None = None
        self._evaluation: tuple[float, Floats] | None = None
        if step.objective is not None and step.gradient is not None:
            self._evaluation = step.objective, step.gradient

    @property
    def weights(self) -> Floats:
        return self.step.weights

    @property
    def info(self) -> Mapping[str, float]:
        """Return the values that the solver reports."""
        return self.step.info

    @property
    def n_sequences(self) -> int:
        return int(self.problem.n_sequences)

    @property
    def has_objective(self) -> bool:
        """Return whether the solver reports the objective."""
        return self.step.objective is not None

    @property
    def certifies_free(self) -> bool:
        """Return whether a certificate costs nothing once the gradient is known."""
        return bool(self.problem.c2 > 0.0)

    @property
    def is_evaluated(self) -> bool:
        """Return whether objective and gradient are known."""
        return self._evaluation is not None

    @property
    def evaluation(self) -> tuple[float, Floats]:
        """Return the objective (penalties included) and the gradient of the smooth part."""
        if self._evaluation is None:
            self._evaluation = evaluate(self.problem, self.weights)
        return self._evaluation

    @property
    def objective(self) -> float:
        return self.evaluation[0] if self.step.objective is None else self.step.objective

    def may_be_within(self, tol: float) -> bool:
        """Return whether the certified gap may be as small as `tol`; if not, the point need not be evaluated."""
        return self.certifier is None or self.certifier.may_be_within(tol, self)

    @property
    def estimated_gap(self) -> float | None:
        """Estimate the relative gap from the solver's expected objective and the run's lower bound; None without an
        expectation.
        """
        expected = self.step.info.get(ESTIMATE)
        if expected is None or self.certifier is None or not expected > 0.0:
            return None
        return max(0.0, expected - self.certifier.lower_bound) / expected

    @cached_property
    def _length(self) -> float:
        return norm(self.weights)

    @cached_property
    def gradient_norm(self) -> float:
        """Return the Euclidean norm of the minimum-norm subgradient, which is zero exactly at the optimum."""
        return norm(self._shortest_gradient())

    @cached_property
    def largest_component(self) -> float:
        """Return the largest absolute component of the minimum-norm subgradient."""
        return float(np.abs(self._shortest_gradient()).max(initial=0.0))

    def _shortest_gradient(self) -> Floats:
        gradient = self.evaluation[1]
        if self.problem.c1 > 0.0:
            return shortest_subgradient(self.weights, gradient, float(self.problem.c1), self.problem.c1_factors)
        return gradient

    @cached_property
    def own_certificate(self) -> Certificate:
        """Return the certificate of this point alone. For c2 = 0 it costs a pass over the data."""
        return self.problem.certificate(self.weights, *self.evaluation)

    @property
    def certificate(self) -> Certificate:
        """Return a certified bound on F(w) - F*, from this point and all earlier evaluations of its run."""
        return self.own_certificate if self.certifier is None else self.certifier.certify(self)

    @property
    def is_finite(self) -> bool:
        """Return whether the weights, and objective and gradient if known, are finite."""
        known = [self._length]
        if self.step.objective is not None:
            known.append(self.step.objective)
        if self._evaluation is not None:
            known += [self.objective, self.gradient_norm]
        return all(map(math.isfinite, known))

    def row(self) -> Row:
        """Return the known values of this point; evaluate nothing over the data."""
        evaluated = self.is_evaluated
        certified = "own_certificate" in self.__dict__ or (evaluated and self.problem.c2 > 0.0)
        return {
            "step": self.number,
            "passes": self.passes,
            "seconds": self.seconds,
            "wall": self.wall,
            "objective": self.objective if evaluated else self.step.objective,
            "gradient_norm": self.gradient_norm if evaluated else None,
            "gap": self.certificate.gap if certified else None,
            "relative_gap": self.certificate.relative_gap if certified else None,
            **self.scores,
            **self.step.info,
        }
