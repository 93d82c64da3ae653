"""The order of the classic stochastic methods in schmidt2015's Figure 1: SG over Pegasos, ASG over AdaGrad and SMD.

Each method runs with powers of ten as its step size for so many passes, and is judged by the best of them, as in the
paper. Powers are tried outwards from the middle until the best one has a worse neighbor on either side, whatever the
number of passes that is looked at. A pass is n evaluations: an epoch of `smd`, with its Hessians, is two. What a quick
calibration on 1,000 sequences would have chosen is shown beside it.

Each run is a line of a file as soon as it is done. A run that is in the file is not repeated while its solver's sources
stay the same.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Diverged
from fastcrf.features.feature_map import build_feature_map
from fastcrf.lab.machine import code_version
from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.sgd.calibration import calibrate
from fastcrf.solvers.sgd.run import Run
from fastcrf.training.warm_up import first_sequences

CLASSIC: dict[str, dict[str, Any]] = {
    "pegasos": {},
    "sg": {},
    "asg": {},
    "adagrad": {"delta": 1.0, "floor": 0.0},  # schmidt2015's form
    "smd": {},
}
CLAIMS = (("sg", "pegasos"), ("asg", "adagrad"), ("asg", "smd"), ("asg", "sg"))
EXPONENTS = range(-5, 3)  # of the powers of ten
FIRST = {"pegasos": 0}  # the exponents where the search begins; -1 for the others
LAMBDA_TIMES_N = 1.0  # the paper's lambda = 1 / n
Key = tuple[str, str, int, int]  # set, solver, seed, exponent


class Study(NamedTuple):
    """Runs by key, each the objective per sequence after so many passes."""

    marks: tuple[int, ...]
    rows: dict[Key, dict[int, float]]
    file: Path

    def known(self, key: Key) -> bool:
        return set(self.marks) <= self.rows.get(key, {}).keys()

    def add(self, key: Key, objectives: dict[int, float], seconds: float) -> None:
        self.rows[key] = objectives
        with self.file.open("a") as lines:
            row = {"key": key, "code": code_of(key[1]), "objectives": objectives, "seconds": round(seconds, 1)}
            lines.write(json.dumps(row) + "\n")

    def best(self, dataset: str, solver: str, seed: int, mark: int) -> tuple[float, int]:
        """(lowest objective, its exponent)."""
        return min(
            (row[mark], key[3]) for key, row in self.rows.items() if key[:3] == (dataset, solver, seed) and mark in row
        )


def open_study(file: Path, marks: tuple[int, ...]) -> Study:
    rows: dict[Key, dict[int, float]] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        row = json.loads(line)
        _, solver, *_ = row["key"]
        if row.get("code") != code_of(solver):  # made by other sources
            continue
        rows[tuple(row["key"])] = {int(mark): value for mark, value in row["objectives"].items()}
    return Study(marks, rows, file)


@cache
def code_of(solver: str) -> str:
    """The version of the code that a solver's runs depend on."""
    return code_version(registry.make(solver, **CLASSIC[solver]))


def load_problem(dataset: str, first: int | None) -> Problem:
    problem = NAMED_DATASETS[dataset]().problem(0.0, 0.5 * LAMBDA_TIMES_N, 1)
    if not first:
        return problem
    corpus, features = first_sequences(problem.corpus, first), problem.features
    return Problem(corpus, build_feature_map(corpus, features.n_attributes, features.n_labels), 0.0, problem.c2)


def title_of(dataset: str, first: int | None) -> str:
    return f"{dataset}, the first {first}" if first else dataset


def run_all(study: Study, sets: list[str], solvers: list[str], seeds: int, first: int | None) -> None:
    """What is not known yet. Writes: study."""
    for dataset in sets:
        problem, title = load_problem(dataset, first), title_of(dataset, first)
        for seed in range(seeds):
            for solver in solvers:
                for exponent in search(study, title, solver, seed):
                    clock = time.process_time()
                    objectives = objectives_of(problem, solver, 10.0**exponent, seed, study.marks)
                    study.add((title, solver, seed, exponent), objectives, time.process_time() - clock)


def search(study: Study, dataset: str, solver: str, seed: int) -> Iterator[int]:
    """Exponents yet to be tried, until the best one of every mark has neighbors on both sides."""
    wanted = [FIRST.get(solver, -1)]
    while wanted:
        for exponent in wanted:
            if not study.known((dataset, solver, seed, exponent)):
                yield exponent
        found = {study.best(dataset, solver, seed, mark)[1] for mark in study.marks}
        beside = sorted({near for exponent in found for near in (exponent - 1, exponent + 1) if near in EXPONENTS})
        wanted = [near for near in beside if not study.known((dataset, solver, seed, near))]


def objectives_of(problem: Problem, name: str, eta: float, seed: int, marks: tuple[int, ...]) -> dict[int, float]:
    """The objective per sequence after so many passes; infinity once the run has diverged."""
    solver = registry.make(name, eta=eta, seed=seed, **CLASSIC[name])
    found, passes = dict.fromkeys(marks, math.inf), 0.0
    try:
        for step in solver.iterate(problem, np.zeros(problem.n_weights)):
            passes += step.passes
            if round(passes) in found:
                value = problem.value(step.weights) / problem.n_sequences
                found[round(passes)] = value if math.isfinite(value) else math.inf
            if passes >= max(marks):
                break
    except Diverged:
        pass
    return found


def quick_exponent(problem: Problem, name: str, seed: int) -> int:
    """The power of ten that calibration on 1,000 sequences chooses."""
    solver: Any = registry.changed(registry.make(name, seed=seed, **CLASSIC[name]), eta=None)
    descent = solver.descent(problem, np.zeros(problem.n_weights), None)
    run = Run(name, problem, None, descent, seed=seed)
    eta = calibrate(run, "powers", lambda eta: solver.rates(descent, eta), solver.samples)
    return round(math.log10(eta))


def order(
    sets: list[str], solvers: list[str], marks: tuple[int, ...], seeds: int, first: int | None, file: Path
) -> None:
    """Who is lower after so many passes, for every seed."""
    study = open_study(file, marks)
    run_all(study, sets, solvers, seeds, first)
    for name in sets:
        problem, dataset = load_problem(name, first), title_of(name, first)
        print(f"\n{dataset}: mean objective per sequence, its range, and the best powers of ten\n")
        print("| passes | " + " | ".join(solvers) + " |\n|--:|" + "--:|" * len(solvers))
        for mark in marks:
            line(f"{mark}", [cell(study, dataset, solver, seeds, mark) for solver in solvers])
        line("quick", [quick_cell(study, problem, dataset, solver, seeds) for solver in solvers])
        print()
        for mark in marks:
            for one, other in CLAIMS:
                if {one, other} <= set(solvers):
                    print(f"{one} over {other}, {mark} passes: {verdict(study, dataset, (one, other), seeds, mark)}")


def line(title: str, cells: list[str]) -> None:
    print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


def cell(study: Study, dataset: str, solver: str, seeds: int, mark: int) -> str:
    values, exponents = zip(*(study.best(dataset, solver, seed, mark) for seed in range(seeds)), strict=True)
    etas = ", ".join(f"{10.0**exponent:g}" for exponent in sorted(set(exponents)))
    return f"{np.mean(values):.4f}, {min(values):.4f} to {max(values):.4f} ({etas})"


def quick_cell(study: Study, problem: Problem, dataset: str, solver: str, seeds: int) -> str:
    """After the most passes, with the step sizes of a quick calibration."""
    found = []
    for seed in range(seeds):
        exponent = quick_exponent(problem, solver, seed)
        row = study.rows.get((dataset, solver, seed, exponent), {})
        found.append(f"{row.get(max(study.marks), math.nan):.4f} ({10.0**exponent:g})")
    return ", ".join(found)


def verdict(study: Study, dataset: str, claim: tuple[str, str], seeds: int, mark: int) -> str:
    one, other = ([study.best(dataset, name, seed, mark)[0] for seed in range(seeds)] for name in claim)
    lower = sum(a < b for a, b in zip(one, other, strict=True))
    word = "confirmed" if lower == seeds else "refuted" if lower == 0 else "undecided"
    return f"{word}, {lower} of {seeds} seeds, means {np.mean(one):.4f} and {np.mean(other):.4f}"
