"""Stopping rules of CRFsuite's algorithms: three rules with exactly its comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fastcrf.simd.vectors import norm
from fastcrf.stopping import LOSS, ONLINE, Point, Row


@dataclass(frozen=True)
class Improvement:
    """Period and delta: (F before `period` steps - F) / F is below `delta`. An increase stops too; period 0 never does.

    Of l2sgd the online objective counts, so F is not evaluated.
    """

    period: int
    delta: float
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        if not 0 < self.period <= point.number:
            return None
        online = point.info.get(ONLINE)
        column, objective = ("objective", point.objective) if online is None else (ONLINE, online)
        before = history[point.number - self.period].get(column)
        if before is None or not before - objective < self.delta * objective:
            return None
        change = (before - objective) / objective
        return f"In {self.period} steps the objective fell by a relative {change:.3g}, less than delta={self.delta:g}."


@dataclass(frozen=True)
class GradientRatio:
    """Epsilon of lbfgs: |g| / max(1, |w|) is at most `epsilon`."""

    epsilon: float
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        ratio = point.gradient_norm / max(1.0, norm(point.weights))
        return f"The gradient ratio {ratio:.3g} is at most epsilon={self.epsilon:g}." if ratio <= self.epsilon else None


@dataclass(frozen=True)
class MeanLoss:
    """Epsilon of the others: the loss of an epoch per sequence is below `epsilon`, or (AROW) not above it."""

    epsilon: float
    or_equal: bool = False
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = False

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        loss = point.info.get(LOSS)
        if loss is None:
            return None
        mean = loss / point.n_sequences
        if not (mean < self.epsilon or (self.or_equal and mean == self.epsilon)):
            return None
        return f"The mean loss {mean:.3g} is {'at most' if self.or_equal else 'below'} epsilon={self.epsilon:g}."
