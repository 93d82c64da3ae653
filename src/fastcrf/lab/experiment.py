"""What is to be compared: datasets x penalties x solvers x seeds, and how far each run goes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from fastcrf.core.checks import whole
from fastcrf.lab.dataset import Dataset
from fastcrf.lab.limits import Limits
from fastcrf.lab.machine import code_version
from fastcrf.lab.scores import USUAL
from fastcrf.lab.store import Rows
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import changed, check
from fastcrf.training.progress import Display

SEED = "seed"  # the option of solvers that draw


class Penalty(NamedTuple):
    """c1 |w|_1 + c2 |w|^2, the package's scale. The papers' lambda = 1/n is c2 = 0.5."""

    c1: float = 0.0
    c2: float = 0.0


@dataclass(frozen=True, eq=False)
class Objective:
    """A dataset with a penalty: what several solvers minimize, and what has one optimum."""

    dataset: Dataset
    penalty: Penalty

    @cached_property
    def key(self) -> str:
        return short_hash([self.dataset.fingerprint, *self.penalty])

    def problem(self, n_jobs: int) -> Problem:
        return self.dataset.problem(*self.penalty, n_jobs)


@runtime_checkable
class OtherLibrary(Protocol):
    """Another library, which trains on an objective by itself and reports rows. `run` also returns how it ended."""

    name: ClassVar[str]

    def reason_to_skip(self, objective: Objective) -> str | None: ...

    def run(self, objective: Objective, limits: Limits, display: Display | None) -> tuple[Rows, str, str]: ...


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """One run: a solver with its options and its seed on an objective. `label` is what tables and figures call it.

    marks: the effective passes at which it is measured (none: at every Step); scores: what is measured there besides
    the objective.
    """

    objective: Objective
    label: str
    solver: Solver | OtherLibrary
    n_jobs: int = 1
    marks: tuple[float, ...] = ()
    scores: tuple[str, ...] = USUAL

    @property
    def options(self) -> dict[str, Any]:
        return dataclasses.asdict(self.solver)  # type: ignore[call-overload]

    @cached_property
    def key(self) -> str:
        """Hash of everything that the rows of this run depend on, the code included."""
        return short_hash([*self.identity, code_version(self.solver)])

    @property
    def identity(self) -> list[Any]:
        """What is asked of this run; the code that answers may change."""
        asked = [self.objective.key, self.solver.name, self.options, self.n_jobs]
        return [*asked, list(self.marks), list(self.scores)]

    def reason_to_skip(self) -> str | None:
        """Why the solver cannot run here, as a sentence."""
        if isinstance(self.solver, OtherLibrary):
            return self.solver.reason_to_skip(self.objective)
        outline = SimpleNamespace(provides=Problem.provides, **self.objective.penalty._asdict())
        try:
            check(outline, self.solver)
        except ValueError as error:
            return str(error)
        return None

    def facts(self) -> dict[str, Any]:
        """What each row says of its run."""
        options = self.options
        return {
            "run": self.key,
            "objective_key": self.objective.key,
            **self.objective.dataset.facts(),
            **self.objective.penalty._asdict(),
            "solver": self.label,
            "options": options,
            "seed": options.get(SEED),
            "n_jobs": self.n_jobs,
            "version": code_version(self.solver),
        }


@dataclass(frozen=True)
class Experiment:
    """Runs of every solver on every dataset with every penalty; those that draw, once with each seed."""

    datasets: Sequence[Dataset]
    penalties: Sequence[Penalty]
    solvers: Mapping[str, Solver | OtherLibrary]
    seeds: Sequence[int] = (0,)
    limits: Limits = field(default_factory=Limits)
    n_jobs: int = 1
    marks: tuple[float, ...] = ()
    scores: tuple[str, ...] = USUAL

    def objectives(self) -> Iterator[Objective]:
        for dataset, penalty in product(self.datasets, self.penalties):
            yield Objective(dataset, penalty)

    def planned_runs(self, objective: Objective) -> Iterator[PlannedRun]:
        for label, solver in self.solvers.items():
            for seeded in with_seeds(solver, self.seeds):
                yield PlannedRun(objective, label, seeded, self.n_jobs, self.marks, self.scores)


def with_seeds(solver: Solver | OtherLibrary, seeds: Sequence[int]) -> list[Solver | OtherLibrary]:
    """The solver with each seed; one that does not draw is the same every time, and so comes once."""
    if isinstance(solver, OtherLibrary) or SEED not in {option.name for option in dataclasses.fields(solver)}:  # type: ignore[arg-type]
        return [solver]
    return [changed(solver, **{SEED: whole(SEED, seed, 0)}) for seed in seeds]


def short_hash(parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
