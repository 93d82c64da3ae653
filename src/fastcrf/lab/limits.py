"""Where a run ends: at a goal that measures the optimum, or when it has spent what it may."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from fastcrf.stopping import CertifiedGap, GradientNorm, MaxIterations, MaxPasses, MaxSeconds, Rule
from fastcrf.training.trace import Point, Row, Trace

# How a run ended, in words that a table can show.
CONVERGED, OUT_OF_PASSES, OUT_OF_TIME, OUT_OF_EPOCHS = "converged", "out of passes", "out of time", "out of epochs"
FINISHED, DIVERGED, SKIPPED, FAILED = "finished", "diverged", "skipped", "failed"

FEWEST, MOST = 6, 10  # earlier values that an improvement is the mean over


class Ending(NamedTuple):
    """How a run ended, as a word and a sentence."""

    status: str
    reason: str


class Limits(NamedTuple):
    """A run ends at the first of these that it meets; None: no such limit.

    tol: certified relative gap; passes: effective passes; seconds: in the solver; epochs: Steps of the solver;
    slope: largest component of the gradient (the stopping rule of Tsuboi et al., 2011); improvement: mean relative
    improvement (that of Andrew & Gao, 2007).
    """

    tol: float | None = 1e-6
    passes: float | None = 100.0
    seconds: float | None = None
    epochs: int | None = None
    slope: float | None = None
    improvement: float | None = None

    def rules(self) -> list[Rule]:
        made: dict[str, Any] = {
            "tol": CertifiedGap,
            "passes": MaxPasses,
            "seconds": MaxSeconds,
            "epochs": MaxIterations,
            "slope": GradientNorm,
            "improvement": MeanImprovement,
        }
        return [made[name](limit) for name, limit in self._asdict().items() if limit is not None]

    def ending_at(self, row: Row, before: Sequence[Row]) -> Ending | None:
        """The limit that a row reaches. (Rows do not hold the gradient, so `slope` cannot be told from them.)"""
        gap, improvement = row["relative_gap"], mean_improvement([each["objective"] for each in (*before, row)])
        if self.tol is not None and gap is not None and gap <= self.tol:
            return Ending(CONVERGED, f"The certified relative gap {gap:.3g} is at most {self.tol:g}.")
        if self.improvement is not None and improvement is not None and improvement < self.improvement:
            return Ending(CONVERGED, improved_little(improvement, self.improvement))
        if self.passes is not None and row["passes"] >= self.passes:
            spent = f"Spent {row['passes']:.6g} effective passes over the data"
            return Ending(OUT_OF_PASSES, f"{spent}; the limit is {self.passes:g}.")
        if self.seconds is not None and row["seconds"] >= self.seconds:
            return Ending(
                OUT_OF_TIME, f"Spent {row['seconds']:.3g} seconds in the solver; the limit is {self.seconds:g}."
            )
        if self.epochs is not None and row["step"] >= self.epochs:
            return Ending(OUT_OF_EPOCHS, f"Took {row['step']} steps; the limit is {self.epochs}.")
        return None


class MeanImprovement:
    """End when the objective improves by less than `tol` an iteration, in the mean and relative to itself.

    The rule of Andrew & Gao's OWL-QN: the mean is over the last 6 to 9 iterations, as in their code, which removes the
    oldest of 10 values before it divides by their number.
    """

    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def __init__(self, tol: float) -> None:
        self.tol = tol

    def reason(self, point: Point, history: Trace) -> str | None:
        improvement = mean_improvement([*(row["objective"] for row in history), point.objective])
        return improved_little(improvement, self.tol) if improvement is not None and improvement < self.tol else None


def mean_improvement(objectives: Sequence[float | None]) -> float | None:
    """The mean relative improvement at the last of some objectives; None while they are too few."""
    values: deque[float] = deque()
    improvement = None
    for value in objectives:
        if value is None:
            return None
        if len(values) >= FEWEST:
            oldest = values.popleft() if len(values) == MOST else values[0]
            improvement = (oldest - value) / len(values) / abs(value)
        values.append(value)
    return improvement


def improved_little(improvement: float, tol: float) -> str:
    return f"The mean relative improvement {improvement:.3g} is below {tol:g}."
