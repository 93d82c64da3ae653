"""Seconds to each gap of the optimum: fastcrf, CRFsuite, CRF++ and Wapiti on one objective, data and thread.

    CRFPP=crf_learn WAPITI=wapiti python benchmarks/peers/run.py [--data addresses,conll2000] [--first 2000] [--c2 1]
        [--seconds 60] [--page peers.html] [--json]

Every library has a weight for each attribute with each label and for each pair of labels. fastcrf certifies the optimum
to 1e-8 first, off the clock. A curve has the objective that the library itself reports after each iteration, against
the seconds since its training began, or against iterations (the page's passes): reading data and making features do
not count. Wapiti prints two decimals. At the end, fastcrf's code evaluates the model that each library wrote: column
`model` is its relative gap. A library that is not here is skipped, with the reason.

In benchopt's form: benchopt run benchmarks/peers.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmark_utils.judge import Judge
from benchmark_utils.programs import CRFPP, FOREVER, WAPITI, Point, Program
from benchmark_utils.tables import Labels, Rows, as_items, with_neighbors, write_files

from fastcrf import Model, __version__
from fastcrf.data.datasets.addresses import make_addresses
from fastcrf.data.datasets.loaders import load
from fastcrf.lab.drawing.page import page
from fastcrf.lab.machine import machine_facts
from fastcrf.solvers import make
from fastcrf.stopping import CertifiedGap, MaxSeconds
from fastcrf.system.atomic_write import replace_file
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

GAPS = (1e-1, 1e-2, 1e-3, 1e-4)
TOL = 1e-6


class Case(NamedTuple):
    """Data with a penalty, and how long each library may train."""

    name: str
    rows: Rows
    labels: Labels
    c2: float
    seconds: float
    judge: Judge


class Run(NamedTuple):
    """Iteration, objective and seconds; the model, if the library wrote one."""

    points: list[Point]
    model: Model | None


class Skipped(Exception):
    """A library is not here."""


def ours(algorithm: str) -> Callable[[Case], Run]:
    def run(case: Case) -> Run:
        solver = make(algorithm)
        warm_up(case.judge.problem, solver)
        result = minimize(case.judge.problem, solver, stop=[CertifiedGap(TOL), MaxSeconds(case.seconds)], measure=True)
        return Run([(row["step"], row["objective"], row["seconds"]) for row in result.trace], None)

    return run


def crfsuite(case: Case) -> Run:
    if find_spec("pycrfsuite") is None:
        raise Skipped("python-crfsuite is not installed: pip install python-crfsuite")
    import pycrfsuite

    points: list[Point] = []

    class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
        def message(self, message: str) -> None:
            if self.logparser.feed(message) == "iteration":
                info, spent = self.logparser.last_iteration, time.perf_counter() - began
                points.append((info["num"], info["loss"], spent))
                if spent > case.seconds:
                    raise TimeoutError

    parameters = {"c2": case.c2, "max_iterations": FOREVER, "delta": 1e-10,
                  "feature.possible_states": True, "feature.possible_transitions": True}  # fmt: skip
    trainer = Trainer("lbfgs", parameters, verbose=True)
    for items, labels in zip(as_items(case.rows), case.labels, strict=True):
        trainer.append(items, labels)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            trainer.train(f"{folder}/model.crfsuite")
        except TimeoutError:
            return Run(points, None)
        return Run(points, Model.load(f"{folder}/model.crfsuite"))


def by_program(program: Program) -> Callable[[Case], Run]:
    def run(case: Case) -> Run:
        if program.path() is None:
            raise Skipped(program.missing())
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_files(case.rows, case.labels, folder)
            points = program.train(folder, case.c2, seconds=case.seconds)
            return Run(points, Model.load(folder / program.model) if (folder / program.model).exists() else None)

    return run


LIBRARIES: dict[str, Callable[[Case], Run]] = {
    "auto": ours("auto"),
    "lbfgs": ours("lbfgs"),
    "crfsuite": crfsuite,
    "crf++": by_program(CRFPP),
    "wapiti": by_program(WAPITI),
}


def make_case(name: str, first: int, c2: float, seconds: float) -> Case:
    if name == "addresses":
        sentences, labels = make_addresses(first, random_state=0)
        rows = with_neighbors(sentences, lambda word: [word.lower(), word[-3:], word[:2]])
    else:
        data = load(name, subset="train")
        labels = data.target[:first]
        joined = [["\t".join(columns[:2]) for columns in each] for each in data.data[:first]]
        rows = with_neighbors(joined, lambda token: token.split("\t"))
    texts = [list(map(str, own)) for own in labels]
    return Case(name, rows, texts, c2, seconds, Judge(rows, texts, c2))


def rows_of(case: Case, library: str, run: Run, optimum: float, accuracy: float) -> list[dict[str, Any]]:
    """The curve in the form of the lab's rows, for its page."""
    shape = case.judge.features
    same = {
        "objective_key": case.name, "run": f"{case.name}-{library}", "dataset": case.name, "c1": 0.0, "c2": case.c2,
        "sequences": len(case.rows), "positions": sum(map(len, case.rows)), "labels": shape.n_labels,
        "weights": shape.n_weights, "solver": library, "seed": None, "status": "finished", "reason": "", "error": None,
        "active": None, "state_mb": None, "peak_mb": None, "cpu_share": None, "optimum": optimum, "accuracy": accuracy,
        "machine": machine_facts(), "version": __version__,
    }  # fmt: skip
    return [
        same
        | {"step": k, "passes": float(k), "seconds": spent, "objective": value,
           "suboptimality": max(0.0, value / optimum - 1.0)}
        for k, value, spent in run.points
    ]  # fmt: skip


def compare(case: Case) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run every library; return seconds to each gap, and rows for the page."""
    optimum, accuracy = case.judge.optimum()
    table: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for library, train in LIBRARIES.items():
        try:
            run = train(case)
        except Skipped as reason:
            table[library] = {"skipped": str(reason)}
            continue
        reached = {f"{gap:g}": next((s for _, f, s in run.points if f <= optimum * (1 + gap)), None) for gap in GAPS}
        model = None if run.model is None else case.judge.objective(run.model) / optimum - 1.0
        table[library] = {"seconds": reached, "iterations": run.points[-1][0], "model": model}
        rows += rows_of(case, library, run, optimum, accuracy)
    return {"case": case.name, "c2": case.c2, "optimum": optimum, "accuracy": accuracy, "libraries": table}, rows


def print_table(found: dict[str, Any]) -> None:
    print(
        f"\n{found['case']}, c2 = {found['c2']:g}: "
        f"optimum {found['optimum']:.4f}, certified to {found['accuracy']:.0e}\n"
    )
    print("| library | " + " | ".join(f"{gap:g}" for gap in GAPS) + " | iterations | model |")
    print("|---|" + "--:|" * (len(GAPS) + 2), flush=True)
    for library, own in found["libraries"].items():
        if "skipped" in own:
            print(f"| {library} | skipped: {own['skipped']} |")
            continue
        cells = ["-" if s is None else f"{s:.2f} s" for s in own["seconds"].values()]
        model = "-" if own["model"] is None else f"{own['model']:.0e}"
        print(f"| {library} | " + " | ".join([*cells, str(own["iterations"]), model]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="addresses,conll2000", help="names, with commas between")
    parser.add_argument("--first", type=int, default=2000, help="train on the first sequences")
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each library")
    parser.add_argument("--page", type=Path, default=Path("peers.html"), help="where the curves go")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results, rows = [], []
    for name in given.data.split(","):
        found, own = compare(make_case(name, given.first, given.c2, given.seconds))
        results.append(found)
        rows += own
        if not given.json:
            print_table(found)
    if given.json:
        print(json.dumps(results, indent=2))
    replace_file(given.page, page(rows).encode())


if __name__ == "__main__":
    main()
