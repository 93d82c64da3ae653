"""What rows say, run by run: how it ended, and when it first came within each gap of the optimum. From rows alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from fastcrf.lab.store import Row, Rows

GAPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

PROBLEM = ("dataset", "sequences", "positions", "labels", "weights", "c1", "c2", "optimum", "accuracy")
OUTCOME = ("status", "reason", "step", "passes", "seconds", "objective", "suboptimality", "error", "active", "state_mb",
           "peak_mb", "cpu_share")  # fmt: skip
SPENT = ("passes", "seconds")


class RunSummary(NamedTuple):
    """One run. `reached` has, for each gap that it came within, the passes and seconds spent until then."""

    solver: str
    seed: int | None
    outcome: Row
    reached: dict[float, dict[str, float]]


class Comparison(NamedTuple):
    """The runs on one dataset with one penalty."""

    problem: Row
    runs: list[RunSummary]

    def by_solver(self) -> dict[str, list[RunSummary]]:
        """Runs that differ in the seed alone, together; in the order of the experiment."""
        solvers: dict[str, list[RunSummary]] = {}
        for run in self.runs:
            solvers.setdefault(run.solver, []).append(run)
        return solvers

    def first_to(self, gap: float, spent: str) -> str | None:
        """The solver that came within `gap` with the least seconds or passes, by the median over its seeds."""
        costs = {solver: median_cost(runs, gap, spent) for solver, runs in self.by_solver().items()}
        known = {solver: cost for solver, cost in costs.items() if cost is not None}
        return min(known, key=known.__getitem__) if known else None

    def gaps(self) -> list[float]:
        """Those that some run came within."""
        return [gap for gap in GAPS if any(gap in run.reached for run in self.runs)]


def compare(rows: Rows) -> list[Comparison]:
    """The comparisons that an experiment's rows hold, in their order."""
    return [
        Comparison({name: own[-1][name] for name in PROBLEM}, [summarize(run) for run in by_run(own)])
        for own in by_problem(rows)
    ]


def by_problem(rows: Rows) -> list[Rows]:
    """Rows on the same data with the same penalty, together."""
    return [list(own) for _, own in groupby(rows, key=lambda row: (row["dataset"], row["objective_key"]))]


def by_run(rows: Rows) -> list[Rows]:
    """Rows of the same run, together. A run may be there twice under different names."""
    return [list(own) for _, own in groupby(rows, key=lambda row: (row["solver"], row["run"]))]


def summarize(rows: Rows) -> RunSummary:
    last = rows[-1]
    return RunSummary(last["solver"], last["seed"], {name: last.get(name) for name in OUTCOME}, reached(rows))


def reached(rows: Rows) -> dict[float, dict[str, float]]:
    """When each gap was first reached. A gap that is smaller than the optimum is known cannot be claimed."""
    found = {}
    for gap in GAPS:
        row = next((row for row in rows if is_within(row, gap)), None)
        if row is not None:
            found[gap] = {name: row[name] for name in SPENT}
    return found


def is_within(row: Row, gap: float) -> bool:
    distance, accuracy = row["suboptimality"], row["accuracy"]
    return distance is not None and accuracy is not None and accuracy <= gap and distance <= gap


def median_cost(runs: list[RunSummary], gap: float, spent: str) -> float | None:
    """The median of what the runs spent until the gap, if more than half of them reached it."""
    costs = [run.reached[gap][spent] if gap in run.reached else float("inf") for run in runs]
    middle = statistics.median_high(costs)
    return None if middle == float("inf") else middle


def median(runs: Iterable[RunSummary], name: str) -> float | None:
    """The median of an outcome over the seeds."""
    values = [run.outcome[name] for run in runs if run.outcome[name] is not None]
    return statistics.median(values) if values else None


def as_json(comparisons: list[Comparison]) -> list[dict[str, Any]]:
    """Comparisons as JSON holds them."""
    return [
        {
            **comparison.problem,
            "runs": [
                {
                    "solver": run.solver,
                    "seed": run.seed,
                    **run.outcome,
                    "reached": {f"{gap:g}": spent for gap, spent in run.reached.items()},
                }
                for run in comparison.runs
            ],
            "first": {
                spent: {f"{gap:g}": comparison.first_to(gap, spent) for gap in comparison.gaps()} for spent in SPENT
            },
        }
        for comparison in comparisons
    ]
