"""Runs what has not been run yet, and gives back rows.

A run is looked up before it is started, so repeating an experiment trains nothing; a run that was killed goes on from
its checkpoint. Limits are not part of what a run is: rows that go further than asked are cut, and rows that do not go
far enough are measured again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.lab.experiment import Experiment, Objective, OtherLibrary, PlannedRun
from fastcrf.lab.limits import DIVERGED, FAILED, FINISHED, SKIPPED, Limits
from fastcrf.lab.machine import MEGABYTE, machine_facts, measured
from fastcrf.lab.observed import CPU, Observed, with_cumulative_cpu
from fastcrf.lab.optimum import find_optimum
from fastcrf.lab.resumable_run import minimize_resumably
from fastcrf.lab.scores import make_scores
from fastcrf.lab.store import Row, Rows, Store, plain
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Solver
from fastcrf.training.progress import Display
from fastcrf.training.warm_up import run_briefly

ACCURACY = 1e-8  # of an optimum where no gap ends the runs
WIDE = 5000.0  # weights that send inference to the log domain


class Watcher(NamedTuple):
    """Who learns how far an experiment is: `say` gets sentences, `progress` makes a display for each run."""

    say: Callable[[str], None] = lambda sentence: None
    progress: Callable[[], Display | None] = lambda: None


NOBODY = Watcher()


def run_experiment(experiment: Experiment, store: Store, watcher: Watcher = NOBODY) -> Rows:
    """Every row of the experiment, each with its distance to the best known optimum."""
    planned_runs = [run for objective in experiment.objectives() for run in experiment.planned_runs(objective)]
    return run_all(planned_runs, experiment.limits, store, watcher)


def run_all(planned_runs: Iterable[PlannedRun], limits: Limits, store: Store, watcher: Watcher = NOBODY) -> Rows:
    """The rows of any list of runs. Those on one objective follow each other, and share its optimum."""
    rows: Rows = []
    for objective, own in groupby(planned_runs, key=lambda planned: planned.objective):
        rows += run_objective(objective, list(own), limits, store, watcher)
    return rows


def run_objective(
    objective: Objective, planned_runs: list[PlannedRun], limits: Limits, store: Store, watcher: Watcher
) -> Rows:
    warm_up([planned for planned in planned_runs if is_missing(planned, limits, store)], watcher)
    runs = [
        rows_of(planned, limits, store, watcher, f"{k} of {len(planned_runs)}")
        for k, planned in enumerate(planned_runs, 1)
    ]
    n_jobs = max(planned.n_jobs for planned in planned_runs)
    tol = ACCURACY if limits.tol is None else limits.tol / 10
    own = [row for planned, run in zip(planned_runs, runs, strict=True) if not is_foreign(planned) for row in run]
    optimum = find_optimum(objective, own, store, tol, n_jobs, watcher.say)
    return [row | optimum.facts(row["objective"]) for run in runs for row in run]


def is_foreign(planned: PlannedRun) -> bool:
    """Return whether another library runs. It reports rounded objectives and no weights."""
    return isinstance(planned.solver, OtherLibrary)


def is_missing(planned: PlannedRun, limits: Limits, store: Store) -> bool:
    return planned.reason_to_skip() is None and cut(store.rows(planned.key), limits) is None


def warm_up(planned_runs: list[PlannedRun], watcher: Watcher) -> None:
    """Let every kernel that the runs need be compiled or loaded: a few steps on a few sequences, off the clock."""
    for planned in {planned.label: planned for planned in planned_runs if not is_foreign(planned)}.values():
        sample = Objective(planned.objective.dataset.sample(), planned.objective.penalty)
        problem = sample.problem(planned.n_jobs)
        visit_log_domain(problem)
        run_briefly(problem, cast(Solver, planned.solver), make_scores(sample.dataset, planned.scores))
    if planned_runs:
        watcher.say(f"{planned_runs[0].objective.dataset.name}: kernels are ready.")


def visit_log_domain(problem: Problem) -> None:
    """Load the kernels for wide scores, which otherwise wait for the first run that needs them: step sizes that are
    tried in vain lead there, and would pay for the compiler.
    """
    weights: Floats = np.resize([WIDE, -WIDE], problem.n_weights)
    with suppress(ArithmeticError):
        problem.gradient(weights)


def rows_of(planned: PlannedRun, limits: Limits, store: Store, watcher: Watcher, place: str) -> Rows:
    """The rows of a run: kept ones, or those of a run that happens now; one row with the reason if it cannot.
    `place` is its number for the watcher, such as `2 of 5`.
    """
    reason = planned.reason_to_skip()
    if reason is not None:
        return [empty_row(planned, SKIPPED, reason)]
    kept = cut(store.rows(planned.key), limits)
    if kept is not None:
        return [row | {"solver": planned.label, "dataset": planned.objective.dataset.name} for row in kept]
    seed = planned.options.get("seed")
    seeded = "" if seed is None else f" (seed {seed})"
    watcher.say(f"{planned.objective.dataset.name}: {planned.label} runs{seeded}, {place}.")
    try:
        return carry_out(planned, limits, store, watcher.progress())
    except (ValueError, ArithmeticError, MemoryError) as error:
        return [empty_row(planned, FAILED, f"{type(error).__name__}: {error}")]


def carry_out(planned: PlannedRun, limits: Limits, store: Store, progress: Display | None) -> Rows:
    """Run, keep rows and weights, and forget the checkpoint."""
    gc.collect()  # what an earlier run left behind is not this one's memory
    weights: Floats | None = None
    if isinstance(planned.solver, OtherLibrary):
        rows = measure_other(planned, planned.solver, limits, progress)
    else:
        rows, weights = measure(planned, limits, store.state(planned.key), progress)
    rows = cut(rows, limits) or rows  # says which limit it was
    store.keep(planned.key, rows, weights)
    return rows


def measure_other(planned: PlannedRun, library: OtherLibrary, limits: Limits, progress: Display | None) -> Rows:
    """Run another library: its rows, with the facts that all rows have."""
    machine = machine_facts()
    with measured() as measures:
        rows, status, reason = library.run(planned.objective, limits, progress)
    ended = {"status": status, "reason": reason, "state_mb": None, "machine": machine}
    return [plain({**row, **planned.facts(), **measures, **ended}) for row in rows]


def measure(
    planned: PlannedRun, limits: Limits, checkpoint: Path, progress: Display | None = None
) -> tuple[Rows, Floats]:
    """Run, or go on from the checkpoint: the rows, and the weights at the end."""
    machine = machine_facts()
    with measured() as measures:
        problem = planned.objective.problem(planned.n_jobs)
        observed = cast(Any, Observed(cast(Solver, planned.solver), planned.marks))
        watch = make_scores(planned.objective.dataset, planned.scores)
        asked = {"stop": limits.rules(), "watch": watch, "progress": progress, "measure": True}
        result = minimize_resumably(problem, observed, checkpoint, **asked)
    facts = {
        **planned.facts(),
        "status": result.status,
        "reason": result.reason,
        **measures,
        "state_mb": round(sum(np.asarray(part).nbytes for part in result.state.values()) / MEGABYTE, 6),
        "machine": machine,
    }
    return [plain({**row, **facts}) for row in with_cumulative_cpu(result.trace)], result.weights


def cut(rows: Rows, limits: Limits) -> Rows | None:
    """Rows up to the first that reaches a limit; all of them if the run ended by itself; None if they are too few."""
    for k, row in enumerate(rows):
        ending = limits.ending_at(row, rows[:k])
        if ending is not None:
            return [earlier | ending._asdict() for earlier in rows[: k + 1]]
    return rows if rows and rows[-1]["status"] in (FINISHED, DIVERGED) else None


def empty_row(planned: PlannedRun, status: str, reason: str) -> Row:
    """The row of a run that has no steps."""
    nothing: dict[str, Any] = dict.fromkeys(
        (
            "step",
            "passes",
            "seconds",
            CPU,
            "wall",
            "objective",
            "gradient_norm",
            "gap",
            "relative_gap",
            "active",
            "error",
        )
    )
    ended = {"status": status, "reason": reason, "peak_mb": None, "state_mb": None, "cpu_share": None, "machine": None}
    return {**nothing, **plain(planned.facts()), **ended}
