"""What runs for a paper: a `Study` is sets x penalties x curves x seeds. Items (item.py) read its rows, several of them
the same, so that it runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fastcrf.lab.experiment import Penalty
from fastcrf.lab.limits import Limits

if TYPE_CHECKING:
    from fastcrf.lab.dataset import Dataset

Row = dict[str, Any]

TOY_PASSES, TOY_ETAS = 10.0, 2


@dataclass(frozen=True)
class Curve:
    """A line of a figure, or a row of a table: a solver with options, some of which are chosen by whole runs.

    etas: step sizes to choose from, in ascending order, and where the search begins; none: the solver has its own.
    others: options that are tried after that, each set of them with the best step size, as the papers do.
    sets: only on these; seeds: at most so many; limits, penalty: in place of those of the study.
    """

    label: str
    solver: str
    options: Mapping[str, Any] = field(default_factory=dict)
    etas: tuple[float, ...] = ()
    first: float = 0.1
    others: tuple[Mapping[str, Any], ...] = ()
    sets: tuple[str, ...] = ()
    seeds: int | None = None
    limits: Limits | None = None
    penalty: Penalty | None = None


OPTIMUM = Curve("F*", "lbfgs", {"pairs": 20}, limits=Limits(tol=1e-8, passes=600.0))  # what distances are taken from


@dataclass(frozen=True)
class Study:
    """Runs of every curve on every set with every penalty, one for each seed where the solver is stochastic.

    marks: effective passes at which runs are measured, every Step if there are none; scores: what is measured besides
    the objective; optimum: whether it is looked for, because items read distances to it; probe: figures of a set that
    need no run; hours: of the machine named on the page, by set.
    """

    name: str
    sets: tuple[str, ...]
    curves: tuple[Curve, ...] = ()
    penalties: tuple[Penalty, ...] = (Penalty(),)
    limits: Limits = field(default_factory=Limits)
    marks: tuple[float, ...] = ()
    scores: tuple[str, ...] = ("active", "error")
    seeds: int = 3
    optimum: bool = False
    probe: Callable[[Dataset], Row] | None = None
    hours: Mapping[str, float] = field(default_factory=dict)

    def on(self, name: str) -> list[Curve]:
        """The curves of a set, which items show."""
        return [curve for curve in self.curves if not curve.sets or name in curve.sets]

    def to_run(self, name: str) -> list[Curve]:
        """What runs on a set: the optimum comes first."""
        return [*([OPTIMUM] if self.optimum else []), *self.on(name)]

    def toy(self) -> Study:
        """The same study so small that it takes seconds."""
        marks = tuple(mark for mark in self.marks if mark <= TOY_PASSES)
        curves = tuple(
            replace(curve, limits=toy_limits(curve.limits), others=curve.others[:1], seeds=1) for curve in self.curves
        )
        limits = toy_limits(self.limits) or self.limits
        return replace(self, curves=curves, penalties=self.penalties[:2], limits=limits, marks=marks, seeds=1)


def toy_limits(limits: Limits | None) -> Limits | None:
    return limits and Limits(tol=None, passes=TOY_PASSES if limits.epochs is None else None, epochs=limits.epochs and 2)
