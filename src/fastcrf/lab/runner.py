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

from fastcrf.lab.experiment import Experiment, Limits, Objective, Trial
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
    trials = list(experiment.trials(objective))
    warm_up([trial for trial in trials if is_missing(trial, experiment.limits, store)], watcher)
    runs = [rows_of(trial, experiment.limits, store, watcher) for trial in trials]
    rows = [row for run in runs for row in run]
    optimum = find_optimum(objective, rows, store, experiment.limits.tol / 10, experiment.n_jobs, watcher.say)
    return [row | optimum.facts(row["objective"]) for row in rows]


def is_missing(trial: Trial, limits: Limits, store: Store) -> bool:
    return trial.reason_to_skip() is None and cut(store.rows(trial.key), limits) is None


def warm_up(trials: list[Trial], watcher: Watcher) -> None:
    """Let every kernel that the trials need be compiled or loaded: a few steps on a few sequences, off the clock."""
    for trial in {trial.label: trial for trial in trials}.values():
        sample = Objective(trial.objective.dataset.sample(), trial.objective.penalty)
        run_briefly(sample.problem(trial.n_jobs), trial.solver, scores(sample))
    if trials:
        watcher.say(f"{trials[0].objective.dataset.name}: kernels are ready.")


def rows_of(trial: Trial, limits: Limits, store: Store, watcher: Watcher) -> Rows:
    """The rows of a trial: kept ones, or those of a run that happens now; one row with the reason if it cannot."""
    reason = trial.reason_to_skip()
    if reason is not None:
        return [empty_row(trial, SKIPPED, reason)]
    kept = cut(store.rows(trial.key), limits)
    if kept is not None:
        return [row | {"solver": trial.label, "dataset": trial.objective.dataset.name} for row in kept]
    watcher.say(f"{trial.objective.dataset.name}: {trial.label} runs (seed {trial.options.get('seed')}).")
    try:
        return run_trial(trial, limits, store, watcher.progress())
    except (ValueError, ArithmeticError, MemoryError) as error:
        return [empty_row(trial, FAILED, f"{type(error).__name__}: {error}")]


def run_trial(trial: Trial, limits: Limits, store: Store, progress: Display | None) -> Rows:
    """Run, keep rows and weights, and forget the checkpoint."""
    machine = machine_facts()
    gc.collect()
    with measured() as measures:
        problem, path, watch = trial.objective.problem(trial.n_jobs), store.state(trial.key), scores(trial.objective)
        result = minimize_resumably(problem, trial.solver, path, stop=limits.rules(), watch=watch, progress=progress)
    facts = {
        **trial.facts(),
        "status": result.status,
        "reason": result.reason,
        **measures,
        "state_mb": round(sum(np.asarray(part).nbytes for part in result.memory.values()) / MEGABYTE, 6),
        "machine": machine,
    }
    rows = [plain({**row, **facts}) for row in result.trace]
    rows = cut(rows, limits) or rows  # says which limit it was
    store.keep(trial.key, rows, result.weights)
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


def empty_row(trial: Trial, status: str, reason: str) -> Row:
    """The row of a run that has no steps."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("step", "passes", "seconds", "wall", "objective", "gradient_norm", "gap", "relative_gap", "active", "error")
    )
    ended = {"status": status, "reason": reason, "peak_mb": None, "state_mb": None, "cpu_share": None, "machine": None}
    return {**nothing, **plain(trial.facts()), **ended}
