"""When to stop: small rules that look at a point and the rows before it, and answer with a sentence or nothing.

A rule is a frozen dataclass without state, so that one object serves many runs. `status` is the word that the result
gets when the rule fires: `converged` where the rule measures distance to the optimum or progress towards it, `stopped`
where a limit was reached, `finished` where the run did all that was asked of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from fastcrf.simd.vectors import norm
from fastcrf.training.trace import Point, Trace

ONLINE = "online_objective"  # column of solvers that sum up losses while the weights move
LOSS = "training_loss"  # column of solvers that learn from mistakes, and minimize no objective


class Rule(Protocol):
    """A reason to stop at `point`, or None. `trace` holds the rows of all earlier steps: trace[k] is step k."""

    status: ClassVar[str]

    def reason(self, point: Point, trace: Trace) -> str | None: ...


@dataclass(frozen=True)
class MaxSteps:
    """At most `limit` steps (iterations or epochs of the paper)."""

    limit: int
    status: ClassVar[str] = "stopped"

    def reason(self, point: Point, trace: Trace) -> str | None:
        return f"Reached the limit of {self.limit} steps." if point.number >= self.limit else None


@dataclass(frozen=True)
class Epochs:
    """`limit` steps, where that is all that was asked for."""

    limit: int
    status: ClassVar[str] = "finished"

    def reason(self, point: Point, trace: Trace) -> str | None:
        return f"Went through the data {self.limit} times, as asked." if point.number >= self.limit else None


@dataclass(frozen=True)
class MeanLoss:
    """CRFsuite's epsilon where mistakes are what is counted: the loss of an epoch, divided by the number of sequences,
    is below `epsilon`, or (AROW) not above it.
    """

    epsilon: float
    or_equal: bool = False
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        loss = point.step.info.get(LOSS)
        if loss is None:
            return None
        mean = loss / point.problem.n_sequences
        if not (mean < self.epsilon or (self.or_equal and mean == self.epsilon)):
            return None
        return f"The mean loss {mean:.3g} is {'at most' if self.or_equal else 'below'} epsilon={self.epsilon:g}."


@dataclass(frozen=True)
class MaxPasses:
    """No new step after `limit` effective passes over the data."""

    limit: float
    status: ClassVar[str] = "stopped"

    def reason(self, point: Point, trace: Trace) -> str | None:
        if point.passes < self.limit:
            return None
        return f"Spent {point.passes:.6g} effective passes over the data; the limit is {self.limit:g}."


@dataclass(frozen=True)
class MaxSeconds:
    """No new step after `limit` seconds inside the solver."""

    limit: float
    status: ClassVar[str] = "stopped"

    def reason(self, point: Point, trace: Trace) -> str | None:
        if point.seconds < self.limit:
            return None
        return f"Spent {point.seconds:.3g} seconds in the solver; the limit is {self.limit:g}."


@dataclass(frozen=True)
class GradientNorm:
    """The shortest sub-gradient has a Euclidean norm of at most `tol`."""

    tol: float
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        if not point.gradient_norm <= self.tol:
            return None
        return f"The gradient norm {point.gradient_norm:.3g} is at most {self.tol:g}."


@dataclass(frozen=True)
class GradientRatio:
    """CRFsuite's epsilon: |g| / max(1, |w|) is at most `epsilon`."""

    epsilon: float
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        ratio = point.gradient_norm / max(1.0, norm(point.weights))
        return f"The gradient ratio {ratio:.3g} is at most epsilon={self.epsilon:g}." if ratio <= self.epsilon else None


@dataclass(frozen=True)
class RelativeDecrease:
    """CRFsuite's period and delta: (F before `period` steps - F) / F is below `delta`. An increase stops, too.

    Of solvers that measure an online objective it is this one that counts, as in CRFsuite, and F is not evaluated.
    """

    period: int = 10
    delta: float = 1e-5
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        if not 0 < self.period <= point.number:
            return None
        online = point.step.info.get(ONLINE)
        column, objective = ("objective", point.objective) if online is None else (ONLINE, online)  # in every row
        before = trace[point.number - self.period].get(column)
        if before is None or not before - objective < self.delta * objective:
            return None
        ratio, name = (before - objective) / objective, column.replace("_", " ")
        if ratio < 0.0:
            return f"The {name} rose by a relative {-ratio:.3g} in {self.period} steps."
        return f"The {name} fell by a relative {ratio:.3g} in {self.period} steps, less than delta={self.delta:g}."


@dataclass(frozen=True)
class CertifiedGap:
    """F is proven to be within `tol` of the optimum, relative to F.

    For c2 > 0 the proof costs nothing once the gradient is known. For c2 = 0 it costs a pass over the data, so it is
    asked for only after a step that gained less than `tol`, and each time the number of steps has grown by an eighth.
    """

    tol: float
    status: ClassVar[str] = "converged"

    def reason(self, point: Point, trace: Trace) -> str | None:
        if not (point.may_be_within(self.tol) and self._worth_asking(point, trace)):
            return None
        if not point.certificate.relative <= self.tol:
            return None
        return f"The certified relative gap {point.certificate.relative:.3g} is at most tol={self.tol:g}."

    def _worth_asking(self, point: Point, trace: Trace) -> bool:
        if point.problem.c2 > 0.0 or not trace:
            return True
        asked = max((row["step"] for row in trace if row["gap"] is not None), default=0)
        gained = (trace[-1]["objective"] or math.inf) - point.objective
        return point.number > asked + asked // 8 and gained <= self.tol * abs(point.objective)


@dataclass(frozen=True)
class HeldOut:
    """The watched score in `column` (higher is better) has not improved for `patience` steps."""

    column: str
    patience: int = 5
    status: ClassVar[str] = "finished"

    def reason(self, point: Point, trace: Trace) -> str | None:
        scores = [row[self.column] for row in trace] + [point.scores[self.column]]
        best = max(range(len(scores)), key=lambda k: (scores[k] if scores[k] == scores[k] else -math.inf, -k))
        if point.number - best < self.patience:
            return None
        return f"{self.column} has not improved for {self.patience} steps; it was {scores[best]:.6g} at step {best}."


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
