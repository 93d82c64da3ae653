"""CRFsuite's stopping rules. `fastcrf.stopping` has all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fastcrf.simd.vectors import norm
from fastcrf.stopping import LOSS, ONLINE, Point, Row


@dataclass(frozen=True)
class Epochs:
    """`limit` steps, where that is all that was asked for."""

    limit: int
    status: ClassVar[str] = "finished"
    exact: ClassVar[bool] = False

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        return f"Went through the data {self.limit} times, as asked." if point.number >= self.limit else None


@dataclass(frozen=True)
class MeanLoss:
    """CRFsuite's epsilon where mistakes are what is counted: the loss of an epoch, divided by the number of sequences,
    is below `epsilon`, or (AROW) not above it.
    """

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


@dataclass(frozen=True)
class GradientRatio:
    """CRFsuite's epsilon: |g| / max(1, |w|) is at most `epsilon`."""

    epsilon: float
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        ratio = point.gradient_norm / max(1.0, norm(point.weights))
        return f"The gradient ratio {ratio:.3g} is at most epsilon={self.epsilon:g}." if ratio <= self.epsilon else None


@dataclass(frozen=True)
class Improvement:
    """CRFsuite's period and delta: (F before `period` steps - F) / F is below `delta`. An increase stops, too.

    Of solvers that measure an online objective it is this one that counts, as in CRFsuite, and F is not evaluated.
    """

    period: int = 10
    delta: float = 1e-5
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        if not 0 < self.period <= point.number:
            return None
        online = point.info.get(ONLINE)
        column, objective = ("objective", point.objective) if online is None else (ONLINE, online)  # in every row
        before = history[point.number - self.period].get(column)
        if before is None or not before - objective < self.delta * objective:
            return None
        ratio, name = (before - objective) / objective, column.replace("_", " ")
        if ratio < 0.0:
            return f"The {name} rose by a relative {-ratio:.3g} in {self.period} steps."
        return f"The {name} fell by a relative {ratio:.3g} in {self.period} steps, less than delta={self.delta:g}."
