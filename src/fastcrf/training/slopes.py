"""Stopping rules of two papers, on the largest slope: the largest component of the shortest sub-gradient, in size.

A slope says when a solver is done, not how far the optimum is: for that there is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fastcrf.training.trace import Point, Trace

ESTIMATE = "largest_slope_estimate"  # column of solvers with stored gradients; infinite until all sequences were seen


@dataclass(frozen=True)
class LargestSlope:
    """|g|_inf <= tol, in the scale of F: the rule of tsuboi2011, there with tol=0.05.

    Free where the solver evaluates the gradient; elsewhere it costs a pass at each step.
    """

    tol: float
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        if not point.largest_slope <= self.tol:
            return None
        return f"The largest slope {point.largest_slope:.3g} is at most gradient_tol={self.tol:g}."


@dataclass(frozen=True)
class MeanSlope:
    """|g|_inf / n < delta: the rule of schmidt2015, Algorithm 1, line 3 (where "m < n and" must read "m < n or").

    The paper's g is d + n lambda w, with d the sum of stored gradients, once all n sequences were seen. It is an
    estimate that costs no pass. When it is small enough, the gradient is evaluated, and it must be small enough, too;
    if it is not, the estimate must halve before the next attempt. Solvers without such an estimate are evaluated at
    each step.
    """

    delta: float
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        n = point.problem.n_sequences
        if not self._worth_evaluating(point, trace, self.delta * n) or not point.largest_slope / n < self.delta:
            return None
        mean = point.largest_slope / n
        return f"The largest slope of the mean objective {mean:.3g} is below mean_gradient_tol={self.delta:g}."

    def _worth_evaluating(self, point: Point, trace: Trace, limit: float) -> bool:
        estimate = point.step.info.get(ESTIMATE)
        if estimate is None or point.is_evaluated:
            return True
        tried = (row[ESTIMATE] for row in trace if row["gradient_norm"] is not None and ESTIMATE in row)
        return estimate < min([limit, *(0.5 * before for before in tried if before < limit)])
