"""What the first fit costs: seconds of the compiler, for each solver and number of labels, in a fresh process.

    python benchmarks/first_fit.py [--solvers lbfgs,sag-nus-star] [--labels 4,9,22,41,49,91] [--repeats 1] [--json]

The corpus is tiny, so that training takes no time; what remains is compiling (or loading) the kernels and some Python.

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
from typing import Any

FIT = """
import json, sys, time
import numpy as np
from fastcrf import CRF
from fastcrf.solvers import registry

solver, n_labels = sys.argv[1], int(sys.argv[2])
random = np.random.default_rng(0)
ids = np.concatenate((np.arange(n_labels), random.integers(0, n_labels, 200)))
y = [[f"L{k}" for k in ids[i : i + 10]] for i in range(0, len(ids), 10)]
X = [[{"a": f"word{random.integers(0, 50)}", "b": f"of{label}", "bias": 1.0} for label in row] for row in y]
registry.solver_class(solver)  # with its imports
crf = CRF(algorithm="lbfgs" if solver == "owlqn" else solver, max_iterations=3)
if solver == "owlqn":
    crf.set_params(c1=0.1, c2=0.01)
wall, processor = time.perf_counter(), time.process_time()
crf.fit(X, y)
print(json.dumps({"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}))
"""

Seconds = dict[str, float]


def first_fit(solver: str, n_labels: int, cache: str) -> Seconds:
    """Seconds of the first fit of a new process with this cache."""
    command = [sys.executable, "-W", "ignore", "-c", FIT, solver, str(n_labels)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def figures_of(solver: str, n_labels: int, other: int) -> dict[str, float]:
    """The row of the table."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (first_fit(solver, n_labels, cache) for _ in range(2))
    figures = {"cold": cold["processor"], "cold wall": cold["wall"], "warm": warm["processor"]}
    if other != n_labels:
        with tempfile.TemporaryDirectory() as cache:
            first_fit(solver, other, cache)
            figures["moved"] = first_fit(solver, n_labels, cache)["processor"]
    return figures


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
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    labels = [int(word) for word in asked.labels.split(",")]
    rows = []
    for solver in asked.solvers.split(","):
        for n_labels, other in zip(labels, [labels[-1], *labels], strict=False):
            seconds = least([figures_of(solver, n_labels, other) for _ in range(asked.repeats)])
            rows.append({"solver": solver, "labels": n_labels, **seconds})
            print(rows[-1], file=sys.stderr, flush=True)
    print(json.dumps(rows)) if asked.json else print_table(rows)


if __name__ == "__main__":
    main()
