"""Stopping criteria: `CRF(stopping=[GradientNorm(0.05)])`. Training ends when the first of them is met.

A criterion is a frozen dataclass without state, so that one object serves many runs. After each iteration the package
checks the criteria together with the parameters `tol`, `max_iterations` and `max_seconds` of `CRF`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from fastcrf.core.checks import above, at_least, one_of, whole
from fastcrf.core.types import Floats

__all__ = [
    "CertifiedGap",
    "EarlyStopping",
    "GradientNorm",
    "MaxIterations",
    "MaxPasses",
    "MaxSeconds",
    "RelativeDecrease",
]

Row = Mapping[str, Any]
ONLINE = "online_objective"  # column of solvers that sum up losses while the weights change
LOSS = "training_loss"  # column of mistake-driven trainers, which minimize no objective
ESTIMATE = "largest_slope_estimate"  # column of solvers with stored gradients; infinite until all sequences were seen
NORMS = ("max", "l2")


class Certified(Protocol):
    """A lower bound on the optimum, as stopping criteria read it."""

    @property
    def relative_gap(self) -> float: ...


class Point(Protocol):
    """The state of a run after an iteration. Reading a value that the solver has not evaluated costs a pass over the
    data.
    """

    number: int  # iterations since the start
    passes: float
    seconds: float  # in the solver
    scores: Mapping[str, float]  # on held-out data

    @property
    def weights(self) -> Floats: ...
    @property
    def info(self) -> Mapping[str, float]: ...  # values that the solver reports
    @property
    def n_sequences(self) -> int: ...
    @property
    def has_objective(self) -> bool: ...  # whether the solver reports the objective itself
    @property
    def is_evaluated(self) -> bool: ...  # whether objective and gradient are known
    @property
    def certifies_free(self) -> bool: ...  # whether a certificate costs nothing once the gradient is known
    @property
    def objective(self) -> float: ...
    @property
    def gradient_norm(self) -> float: ...
    @property
    def largest_component(self) -> float: ...
    @property
    def certificate(self) -> Certified: ...
    def may_be_within(self, tol: float) -> bool: ...


@runtime_checkable
class Rule(Protocol):
    """A stopping criterion: returns a reason to end the run at `point`, or None.

    history: history[k] is the row of iteration k, up to the previous one.
    status: the status of a run that the criterion ends: `converged` for a criterion of optimality, `stopped` for a
        limit, `requested` if the user asked for the end.
    exact: whether the criterion reads the objective or its gradient at every iteration, so that no iteration may be in
        single precision.
    """

    @property
    def status(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    def reason(self, point: Point, history: Sequence[Row]) -> str | None: ...


@dataclass(frozen=True)
class MaxIterations:
    """End after `limit` iterations (epochs of a stochastic solver).

    Parameters
    ----------
    limit : int
        Number of iterations.
    """

    limit: int
    status: ClassVar[str] = "stopped"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole("max_iterations", self.limit, 0)

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        return f"Reached max_iterations={self.limit}." if point.number >= self.limit else None


@dataclass(frozen=True)
class MaxPasses:
    """Begin no iteration after `limit` effective passes over the data.

    Parameters
    ----------
    limit : float
        Number of passes. A pass is one evaluation of log p(y | x) per sequence.
    """

    limit: float
    status: ClassVar[str] = "stopped"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        above("max_passes", self.limit, 0.0)

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        if point.passes < self.limit:
            return None
        return f"Reached max_passes={self.limit:g} after {point.passes:.6g} effective passes over the data."


@dataclass(frozen=True)
class MaxSeconds:
    """Begin no iteration after `limit` seconds inside the solver.

    Parameters
    ----------
    limit : float
        Number of seconds.
    """

    limit: float
    status: ClassVar[str] = "stopped"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        above("max_seconds", self.limit, 0.0)

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        if point.seconds < self.limit:
            return None
        return f"Reached max_seconds={self.limit:g} after {point.seconds:.3g} seconds in the solver."


@dataclass(frozen=True)
class GradientNorm:
    """End when the norm of the minimum-norm subgradient of F is at most `tol`.

    Solvers with stored gradients estimate the largest component without a pass. When the estimate is small enough, the
    gradient is evaluated, and it must be small enough as well; if it is not, the estimate must halve before the next
    attempt. Other solvers that do not evaluate the gradient pay a pass at each iteration.

    Parameters
    ----------
    tol : float
        Largest norm at which training ends.
    norm : {"max", "l2"}, default="max"
        The largest component (Tsuboi et al., 2011, with tol=0.05), or the Euclidean norm.
    per_sequence : bool, default=False
        Whether the norm is divided by the number of sequences (Schmidt et al., 2015, Algorithm 1, line 3, where
        "m < n and" must read "m < n or").
    """

    tol: float
    _: KW_ONLY
    norm: str = "max"
    per_sequence: bool = False
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        at_least("GradientNorm's tol", self.tol, 0.0)
        one_of("GradientNorm's norm", self.norm, NORMS)

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        scale = point.n_sequences if self.per_sequence else 1
        if not self._worth_evaluating(point, history, self.tol * scale):
            return None
        value = (point.largest_component if self.norm == "max" else point.gradient_norm) / scale
        if not value <= self.tol:
            return None
        kind = {"max": "largest component", "l2": "Euclidean norm"}[self.norm]
        share = ", divided by the number of sequences," if self.per_sequence else ""
        return f"The {kind} of the gradient{share} is {value:.3g}, at most {self.tol:g}."

    def _worth_evaluating(self, point: Point, history: Sequence[Row], limit: float) -> bool:
        estimate = point.info.get(ESTIMATE)
        if estimate is None or point.is_evaluated or self.norm != "max":
            return True
        tried = (row[ESTIMATE] for row in history if row["gradient_norm"] is not None and ESTIMATE in row)
        return estimate <= min([limit, *(0.5 * before for before in tried if before <= limit)])


@dataclass(frozen=True)
class RelativeDecrease:
    """End when the objective decreased by at most `tol`, relative to itself, in `iterations` iterations, or increased.

    It compares what the solver reports: the objective, else the online objective, else the training loss of an epoch.

    Parameters
    ----------
    tol : float
        Largest relative decrease at which training ends.
    iterations : int, default=10
        Number of iterations between the two values.
    """

    tol: float
    _: KW_ONLY
    iterations: int = 10
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        at_least("RelativeDecrease's tol", self.tol, 0.0)
        whole("RelativeDecrease's iterations", self.iterations, 1)

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        if point.number < self.iterations:
            return None
        column = reported(point)
        now = point.objective if column == "objective" else point.info[column]
        before = history[point.number - self.iterations].get(column)
        if before is None or not before - now <= self.tol * abs(now):
            return None
        change = (before - now) / abs(now) if now else before - now
        moved = f"rose by a relative {-change:.3g}" if change < 0.0 else f"fell by a relative {change:.3g}"
        limit = "" if change < 0.0 else f", at most {self.tol:g}"
        return f"The {column.replace('_', ' ')} {moved} in {self.iterations} iterations{limit}."


def reported(point: Point) -> str:
    """Return the column of the reported function that the solver minimizes."""
    if point.has_objective:
        return "objective"
    return next((column for column in (ONLINE, LOSS) if column in point.info), "objective")


@dataclass(frozen=True)
class CertifiedGap:
    """End when F is certified to be within `tol` of the optimum, relative to the optimum.

    For c2 > 0 the certificate costs nothing once the gradient is known. For c2 = 0 it costs a pass over the data. The
    criterion then computes it only after an iteration that gained less than `tol`, and only when the number of
    iterations has grown by 12.5 % since the last certificate.

    Parameters
    ----------
    tol : float
        Certified relative gap at which training ends.
    """

    tol: float
    status: ClassVar[str] = "converged"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least("tol", self.tol, 0.0)

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        if not (point.may_be_within(self.tol) and self._worth_asking(point, history)):
            return None
        gap = point.certificate.relative_gap
        return f"The certified relative gap {gap:.1e} is at most tol={self.tol:g}." if gap <= self.tol else None

    def _worth_asking(self, point: Point, history: Sequence[Row]) -> bool:
        if point.certifies_free or not history:
            return True
        asked = max((row["step"] for row in history if row["gap"] is not None), default=0)
        gained = (history[-1]["objective"] or math.inf) - point.objective
        return point.number > asked + asked // 8 and gained <= self.tol * abs(point.objective)


@dataclass(frozen=True)
class EarlyStopping:
    """End when the held-out score has not improved for `patience` iterations, and return the best weights.

    `CRF.fit` takes the held-out data as `X_dev` and `y_dev`. A higher score is better.

    Parameters
    ----------
    patience : int, default=5
        Number of iterations without a better score.
    score : str, default="accuracy"
        The column ``dev_<score>`` of `history_`.
    """

    patience: int = 5
    _: KW_ONLY
    score: str = "accuracy"
    status: ClassVar[str] = "requested"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)

    @property
    def column(self) -> str:
        """Return the column of the score in the history."""
        return f"dev_{self.score}"

    def reason(self, point: Point, history: Sequence[Row]) -> str | None:
        scores = [row[self.column] for row in history] + [point.scores[self.column]]
        best = max(range(len(scores)), key=lambda k: (scores[k] if scores[k] == scores[k] else -math.inf, -k))
        if point.number - best < self.patience:
            return None
        since = f"has not improved for {self.patience} iterations"
        return f"The held-out {self.score} {since}; it was {scores[best]:.6g} at iteration {best}."
