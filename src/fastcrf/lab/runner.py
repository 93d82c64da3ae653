"""Runs what has not been run yet, and gives back rows.

A run is looked up before it is started, so repeating an experiment trains nothing; a run that was killed goes on from
its checkpoint. Limits are not part of what a run is: rows that go further than asked are cut, and rows that do not go
far enough are measured again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastcrf.lab.experiment import Experiment, Limits, Objective, PlannedRun
from fastcrf.lab.machine import MEGABYTE, machine_facts, measured
from fastcrf.lab.optimum import find_optimum
from fastcrf.lab.resumable_run import minimize_resumably
from fastcrf.lab.store import Row, Rows, Store, plain
from fastcrf.training.driver import Score
from fastcrf.training.progress import Display
from fastcrf.training.warm_up import run_briefly

# How a run ended, in words that a table can show.
CONVERGED, OUT_OF_PASSES, OUT_OF_TIME = "converged", "out of passes", "out of time"
FINISHED, DIVERGED, SKIPPED, FAILED = "finished", "diverged", "skipped", "failed"


class Watcher(NamedTuple):
    """Who is told how far an experiment is: `say` gets sentences, `progress` makes a display for each run."""

    say: Callable[[str], None] = lambda sentence: None
    progress: Callable[[], Display | None] = lambda: None


NOBODY = Watcher()


def run_experiment(experiment: Experiment, store: Store, watcher: Watcher = NOBODY) -> Rows:
    """Every row of the experiment, each with its distance to the best known optimum."""
    return [
        row for objective in experiment.objectives() for row in run_objective(experiment, objective, store, watcher)
    ]


def run_objective(experiment: Experiment, objective: Objective, store: Store, watcher: Watcher) -> Rows:
    planned_runs = list(experiment.planned_runs(objective))
    warm_up([planned for planned in planned_runs if is_missing(planned, experiment.limits, store)], watcher)
    runs = [rows_of(planned, experiment.limits, store, watcher) for planned in planned_runs]
    rows = [row for run in runs for row in run]
    optimum = find_optimum(objective, rows, store, experiment.limits.tol / 10, experiment.n_jobs, watcher.say)
    return [row | optimum.facts(row["objective"]) for row in rows]


def is_missing(planned: PlannedRun, limits: Limits, store: Store) -> bool:
    return planned.reason_to_skip() is None and cut(store.rows(planned.key), limits) is None


def warm_up(planned_runs: list[PlannedRun], watcher: Watcher) -> None:
    """Let every kernel that the runs need be compiled or loaded: a few steps on a few sequences, off the clock."""
    for planned in {planned.label: planned for planned in planned_runs}.values():
        sample = Objective(planned.objective.dataset.sample(), planned.objective.penalty)
        run_briefly(sample.problem(planned.n_jobs), planned.solver, scores(sample))
    if planned_runs:
        watcher.say(f"{planned_runs[0].objective.dataset.name}: kernels are ready.")


def rows_of(planned: PlannedRun, limits: Limits, store: Store, watcher: Watcher) -> Rows:
    """The rows of a run: kept ones, or those of a run that happens now; one row with the reason if it cannot."""
    reason = planned.reason_to_skip()
    if reason is not None:
        return [empty_row(planned, SKIPPED, reason)]
    kept = cut(store.rows(planned.key), limits)
    if kept is not None:
        return [row | {"solver": planned.label, "dataset": planned.objective.dataset.name} for row in kept]
    seed = planned.options.get("seed")
    seeded = "" if seed is None else f" (seed {seed})"
    watcher.say(f"{planned.objective.dataset.name}: {planned.label} runs{seeded}.")
    try:
        return carry_out(planned, limits, store, watcher.progress())
    except (ValueError, ArithmeticError, MemoryError) as error:
        return [empty_row(planned, FAILED, f"{type(error).__name__}: {error}")]


def carry_out(planned: PlannedRun, limits: Limits, store: Store, progress: Display | None) -> Rows:
    """Run, keep rows and weights, and forget the checkpoint."""
    machine = machine_facts()
    gc.collect()
    with measured() as measures:
        problem, path = planned.objective.problem(planned.n_jobs), store.state(planned.key)
        watch = scores(planned.objective)
        result = minimize_resumably(
            problem, planned.solver, path, stop=limits.rules(), watch=watch, progress=progress, measure=True
        )
    facts = {
        **planned.facts(),
        "status": result.status,
        "reason": result.reason,
        **measures,
        "state_mb": round(sum(np.asarray(part).nbytes for part in result.state.values()) / MEGABYTE, 6),
        "machine": machine,
    }
    rows = [plain({**row, **facts}) for row in result.trace]
    rows = cut(rows, limits) or rows  # says which limit it was
    store.keep(planned.key, rows, result.weights)
    return rows


def scores(objective: Objective) -> dict[str, Score]:
    """What is measured at each step besides the objective, outside the solver's clock."""
    watched: dict[str, Score] = {"active": lambda weights: float(np.count_nonzero(weights))}
    if objective.dataset.held_out is not None:
        watched["error"] = objective.dataset.error
    return watched


def cut(rows: Rows, limits: Limits) -> Rows | None:
    """Rows up to the first that reaches a limit; all of them if the run ended by itself; None if they are too few."""
    for k, row in enumerate(rows):
        ending = ending_at(row, limits)
        if ending is not None:
            return [earlier | {"status": ending[0], "reason": ending[1]} for earlier in rows[: k + 1]]
    return rows if rows and rows[-1]["status"] in (FINISHED, DIVERGED) else None


def ending_at(row: Row, limits: Limits) -> tuple[str, str] | None:
    """The limit that a row reaches, as a word and a sentence."""
    gap = row["relative_gap"]
    if gap is not None and gap <= limits.tol:
        return CONVERGED, f"The certified relative gap {gap:.3g} is at most {limits.tol:g}."
    if limits.passes is not None and row["passes"] >= limits.passes:
        return (
            OUT_OF_PASSES,
            f"Spent {row['passes']:.6g} effective passes over the data; the limit is {limits.passes:g}.",
        )
    if limits.seconds is not None and row["seconds"] >= limits.seconds:
        return OUT_OF_TIME, f"Spent {row['seconds']:.3g} seconds in the solver; the limit is {limits.seconds:g}."
    return None


def empty_row(planned: PlannedRun, status: str, reason: str) -> Row:
    """The row of a run that has no steps."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("step", "passes", "seconds", "wall", "objective", "gradient_norm", "gap", "relative_gap", "active", "error")
    )
    ended = {"status": status, "reason": reason, "peak_mb": None, "state_mb": None, "cpu_share": None, "machine": None}
    return {**nothing, **plain(planned.facts()), **ended}
