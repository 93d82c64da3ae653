"""What the first fit costs: seconds of the compiler, for each solver and number of labels, in a fresh process.

    python benchmarks/first_fit.py [--solvers lbfgs,sag-nus-star] [--labels 4,9,22,41,49,91] [--repeats 1] [--json]
    python benchmarks/first_fit.py --solvers all --labels 22 --cold-only
    python benchmarks/first_fit.py --solvers all --labels 22 --cold-only --l1     # those that handle L1 with L2

The corpus is tiny, so that training takes no time; what remains is compiling (or loading) the kernels and some Python.
The penalty is the solver's default, for those that are for L1 (and with --l1 for all) c1 = 0.1 and c2 = 0.01 where they
handle both.

    cold     in an empty cache: processor seconds and wall seconds of `fit`
    moved    in a cache that knows the solver at another number of labels (the one before in the list)
    warm     in a cache that knows the solver at this number of labels

Imports are not counted. Seconds of columns without a word are those of the processor, all threads of the process
together: on a busy machine they rise, too, though less than those of the wall. Of several repeats the least is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastcrf.core.types import NOTHING
from fastcrf.solvers import registry

FIT = """
import json, sys, time
import numpy as np
from fastcrf import CRF
from fastcrf.solvers import registry

solver, n_labels, penalty = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
random = np.random.default_rng(0)
ids = np.concatenate((np.arange(n_labels), random.integers(0, n_labels, 200)))
y = [[f"L{k}" for k in ids[i : i + 10]] for i in range(0, len(ids), 10)]
X = [[{"a": f"word{random.integers(0, 50)}", "b": f"of{label}", "bias": 1.0} for label in row] for row in y]
registry.solver_class(solver)  # with its imports
crf = CRF(solver, tol=None, max_iterations=3, **penalty)
wall, processor = time.perf_counter(), time.process_time()
crf.fit(X, y)
print(json.dumps({"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}))
"""

SPARSE = {"c1": 0.1, "c2": 0.01}
Seconds = dict[str, float]


class Case(NamedTuple):
    """What is fitted."""

    solver: str
    n_labels: int
    penalty: dict[str, float]


def first_fit(case: Case, cache: str, before: str = "", more: Mapping[str, str] = NOTHING) -> Seconds:
    """Seconds of the first fit of a new process with this cache: after the code `before`, with `more` environment."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        before + FIT,
        case.solver,
        str(case.n_labels),
        json.dumps(case.penalty),
    ]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, **more}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def figures_of(case: Case, other: Case, cold_only: bool) -> dict[str, float]:
    """The row of the table."""
    with tempfile.TemporaryDirectory() as cache:
        cold = first_fit(case, cache)
        figures = {"cold": cold["processor"], "cold wall": cold["wall"]}
        if cold_only:
            return figures
        figures["warm"] = first_fit(case, cache)["processor"]
    if other != case:
        with tempfile.TemporaryDirectory() as cache:
            first_fit(other, cache)
            figures["moved"] = first_fit(case, cache)["processor"]
    return figures


def solvers_of(words: str, l1: bool) -> list[str]:
    """The solvers asked for; with `l1` those of them that handle L1 together with L2."""
    solvers = registry.names() if words == "all" else words.split(",")
    return [solver for solver in solvers if not l1 or "l1+l2" in registry.solver_class(solver).handles]


def penalty_of(solver: str, l1: bool) -> dict[str, float]:
    handled = registry.solver_class(solver).handles
    return SPARSE if "l1+l2" in handled and (l1 or "l2" not in handled) else {}


def least(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(min(row[name] for row in rows), 2) for name in rows[0]}


def print_table(rows: list[dict[str, Any]]) -> None:
    print("| solver | labels | cold | cold, wall | moved | warm |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in rows:
        seconds = (f"{row[name]:.1f}" if name in row else "-" for name in ("cold", "cold wall", "moved", "warm"))
        print(f"| {row['solver']} | {row['labels']} |", " | ".join(seconds), "|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solvers", default="lbfgs,owlqn,sag-nus-star")
    parser.add_argument("--labels", default="4,9,22,41,49,91")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--cold-only", action="store_true", help="leave out the columns moved and warm")
    parser.add_argument("--l1", action="store_true", help="L1 and L2 together, for the solvers that handle both")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    labels = [int(word) for word in asked.labels.split(",")]
    rows = []
    for solver in solvers_of(asked.solvers, asked.l1):
        cases = [Case(solver, n_labels, penalty_of(solver, asked.l1)) for n_labels in labels]
        for case, other in zip(cases, [cases[-1], *cases], strict=False):
            seconds = least([figures_of(case, other, asked.cold_only) for _ in range(asked.repeats)])
            rows.append({"solver": solver, "labels": case.n_labels, **seconds})
            print(rows[-1], file=sys.stderr, flush=True)
    print(json.dumps(rows)) if asked.json else print_table(rows)


if __name__ == "__main__":
    main()
