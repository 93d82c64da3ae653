"""How far the certified gap is from the true one, step by step, with the bundle of planes and with one gradient alone.

    python benchmarks/certificates.py [--data DIR] [--store DIR] [--sets conll2000,conll2002-ned]
                                      [--penalties 0/10,0/1,0/0.1,0/0.01,0.1/0.1,1/0] [--picture FILE] [--fits]

Optima are looked for first, to 1e-8, and kept in the store together with the rows of each run, so a second call with
the same code only prints. `alone` is the certificate of the newest gradient, all that there was before the bundle. With
c2 = 0 it costs a pass, and is taken at every tenth step. --fits trains CRF with the usual penalties, as a user would.
"""

from __future__ import annotations

import argparse
import math
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import corpora

from fastcrf import CRF
from fastcrf.certificates.certifier import Certifier, RunPoint
from fastcrf.data.datasets.loaders import load
from fastcrf.fitting.solver_choice import quasi_newton
from fastcrf.lab.experiment import Objective, Penalty, PlannedRun
from fastcrf.lab.named_datasets import from_literature
from fastcrf.lab.optimum import Optimum, keep, search
from fastcrf.lab.store import Row, Rows, Store
from fastcrf.lab.tables import table
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.system.cache_folder import lab_folder
from fastcrf.training.driver import minimize

SETS, PENALTIES = "conll2000,conll2002-ned", "0/10,0/1,0/0.1,0/0.01,0.1/0.1,1/0"
GAPS = (1e-2, 1e-3, 1e-4)
TOL = 1e-3  # the default goal of a fit
NEAR_ENOUGH = 5e-5  # true gap at which a run has shown all
MAX_STEPS = 1000  # the default limit of a fit
OPTIMUM_TOL = 1e-8
PERIOD, DELTA = 10, 1e-5  # CRFsuite's defaults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--store", type=Path, default=lab_folder(), help="where optima and rows are kept")
    parser.add_argument("--sets", default=SETS, help="names, with commas between")
    parser.add_argument("--penalties", default=PENALTIES, help="c1/c2, with commas between")
    parser.add_argument("--picture", help="draw the runs with c2=0.1 and c1=c2=0.1 into this file")
    parser.add_argument("--fits", action="store_true", help="train as a user would")
    arguments = parser.parse_args()
    os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    store = Store(arguments.store)
    penalties = [Penalty(*map(float, pair.split("/"))) for pair in arguments.penalties.split(",")]
    runs: dict[tuple[str, Penalty], Rows] = {}
    for name in arguments.sets.split(","):
        dataset = from_literature(name)
        for penalty in penalties:
            runs[name, penalty] = rows_of(Objective(dataset, penalty), store)
            print(summary(name, penalty, runs[name, penalty]), flush=True)
    print(ratios(runs), goals(runs), sep="\n\n")
    if arguments.picture:
        draw(runs, arguments.picture)
    if arguments.fits:
        for name in arguments.sets.split(","):
            print(fits(name))


def rows_of(objective: Objective, store: Store) -> Rows:
    """A row a step: objective, true gap, certified gaps, and what certifying cost. Stored ones, or of a run now."""
    problem = objective.problem(n_jobs=1)
    solver = make(quasi_newton(problem.c1))
    planned = PlannedRun(objective, "certificates", solver)
    optimum = optimum_of(objective, store)
    rows = store.rows(f"{planned.key}.certificates")
    if not rows:
        recorder = Recorder(optimum.value)
        with timed_certifier() as spent:
            result = minimize(problem, solver, stop=[recorder, MaxIterations(MAX_STEPS)])
        whole = {"certifying": spent[0], "seconds": result.trace[-1]["seconds"], "reason": result.reason}
        rows = [row | whole for row in recorder.rows]
        store.keep(f"{planned.key}.certificates", rows, result.weights)
    known = {"accuracy": optimum.accuracy}
    return [row | known | {"true": (row["objective"] - optimum.value) / optimum.value} for row in rows]


def optimum_of(objective: Objective, store: Store) -> Optimum:
    """StateField, or looked for now."""
    kept = store.best(objective.key)
    if not kept:
        found, weights = search(objective, store, None, OPTIMUM_TOL, n_jobs=1)
        keep(store, objective, found, OPTIMUM_TOL, weights)
        kept = store.best(objective.key)
    return Optimum(kept["value"], kept["lower_bound"] or -math.inf)


@dataclass(frozen=True)
class Recorder:
    """A stopping rule that writes down what it sees, and stops when that is enough."""

    optimum: float
    rows: Rows = field(default_factory=list)
    status: ClassVar[str] = "finished"
    exact: ClassVar[bool] = True

    def reason(self, point: Any, history: Any) -> str | None:
        free = point.problem.c2 > 0.0
        alone = point.own_certificate.relative_gap if free or point.number % 10 == 0 else None
        assert point.certifier is not None
        bound = point.certifier.lower_bound
        certified = (point.objective - bound) / bound if bound > 0.0 else math.inf
        true = (point.objective - self.optimum) / self.optimum
        self.rows.append({"step": point.number, "objective": point.objective, "alone": alone, "certified": certified})
        shown = true <= NEAR_ENOUGH and (alone or math.inf) <= TOL and delta_rule(self.rows) is not None
        return "All is shown." if shown else None


def delta_rule(rows: Rows) -> int | None:
    """The step at which CRFsuite's rule would end the run."""
    for before, row in zip(rows, rows[PERIOD:], strict=False):
        if before["objective"] - row["objective"] < DELTA * row["objective"]:
            return int(row["step"])
    return None


@contextmanager
def timed_certifier() -> Iterator[list[float]]:
    """Seconds that a run spends on its bundle."""
    spent, learn = [0.0], Certifier.learn

    def timed(self: Certifier, point: RunPoint) -> None:
        began = time.perf_counter()
        learn(self, point)
        spent[0] += time.perf_counter() - began

    Certifier.learn = timed  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Certifier.learn = learn  # type: ignore[method-assign]


def at_gap(rows: Rows, gap: float) -> Row | None:
    """The first row with at most this true gap that has both certificates."""
    return next((row for row in rows if row["true"] <= gap and row["alone"] is not None), None)


def first_within(rows: Rows, column: str) -> str:
    """The step at which a certificate is within the default goal."""
    steps = (row["step"] for row in rows if row[column] is not None and row[column] <= TOL)
    return str(next(steps, f"> {rows[-1]['step']}"))


def ratios(runs: dict[tuple[str, Penalty], Rows]) -> str:
    """Certified over true gap, alone and in a bundle."""
    lines = []
    for (name, penalty), rows in runs.items():
        cells = [name, f"{penalty.c1:g}", f"{penalty.c2:g}"]
        for row in (at_gap(rows, gap) for gap in GAPS):
            cells += ["-"] * 3 if row is None else [str(row["step"]), times(row, "alone"), times(row, "certified")]
        lines.append(cells)
    groups = ((f"step at {gap:.0e}", "alone", "bundle") for gap in GAPS)
    head = ("set", "c1", "c2", *(column for group in groups for column in group))
    return "certified gap / true gap, where the true gap first is so small\n" + table(head, lines)


def times(row: Row, column: str) -> str:
    """A certified gap as a multiple of the true one."""
    return "none" if row[column] is None or math.isinf(row[column]) else f"{row[column] / max(row['true'], 1e-300):.1f}"


def goals(runs: dict[tuple[str, Penalty], Rows]) -> str:
    """Where a fit with the default goal ends, and what the bundle costs."""
    lines = [
        [
            name, f"{penalty.c1:g}", f"{penalty.c2:g}", first_within(rows, "alone"), first_within(rows, "certified"),
            *at_delta_rule(rows), f"{100 * rows[0]['certifying'] / rows[0]['seconds']:.1f} %",
            f"{rows[0]['accuracy']:.0e}",
        ]
        for (name, penalty), rows in runs.items()
    ]  # fmt: skip
    head = ("set", "c1", "c2", "alone", "bundle", "delta rule", "true gap there", "cost of bundle", "optimum known to")
    return f"steps until certified within {TOL:g}, and until CRFsuite's rule fires\n" + table(head, lines)


def at_delta_rule(rows: Rows) -> tuple[str, str]:
    step = delta_rule(rows)
    return (f"> {rows[-1]['step']}", "-") if step is None else (str(step), f"{rows[step]['true']:.0e}")


def summary(name: str, penalty: Penalty, rows: Rows) -> str:
    last = rows[-1]
    return f"{name} c1={penalty.c1:g} c2={penalty.c2:g}: {last['step']} steps to a true gap of {last['true']:.1e}"


def fits(name: str) -> str:
    """CRF with the usual penalties, all else left alone."""
    X, y = load(name, items=True, return_X_y=True)
    lines = []
    for c1, c2 in ((0.0, 0.1), (0.1, 0.1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            crf = CRF(c1=c1, c2=c2, n_jobs=1).fit(X, y)
        seconds = crf.history_[-1]["seconds"]
        relative = f"{crf.certificate_.relative_gap:.2e}"
        lines.append([name, f"{c1:g}", f"{c2:g}", str(crf.n_iter_), relative, f"{seconds:.1f}", str(len(caught))])
    return table(("CRF on", "c1", "c2", "steps", "certified", "seconds", "warnings"), lines)


def draw(runs: dict[tuple[str, Penalty], Rows], path: str) -> None:
    """True gap and both certificates by step."""
    import matplotlib.pyplot as plt

    shown = {key: rows for key, rows in runs.items() if key[1] in (Penalty(0.0, 0.1), Penalty(0.1, 0.1))}
    figure, axes = plt.subplots(1, len(shown), figsize=(3.4 * len(shown), 3.2), sharey=True, squeeze=False)
    for ax, ((name, penalty), rows) in zip(axes[0], shown.items(), strict=True):
        steps = [row["step"] for row in rows]
        for column, label in (("alone", "one gradient"), ("certified", "bundle"), ("true", "true gap")):
            values = [math.nan if row[column] is None else max(row[column], 1e-7) for row in rows]
            ax.semilogy(steps, values, label=label, linewidth=1.2)
        ax.axhline(TOL, color="grey", linewidth=0.6, linestyle=":")
        ax.set(title=f"{name}, c1={penalty.c1:g}, c2={penalty.c2:g}", xlabel="step", ylim=(3e-5, 3.0))
        ax.title.set_fontsize(8)
    axes[0][0].set_ylabel("relative gap")
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
