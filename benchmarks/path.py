"""What a warm-started path of ten penalties costs beside ten fits from zero, to the same certified gap.

    FASTCRF_DATA=folder python benchmarks/path.py [--sets usaddress,conll2002-ned] [--first 3000] [--tol 1e-3]
        [--pairs 50] [--json]

For each set two paths: c2 from 10 to 0.01, and c1 from 3 to 0.03 at c2 = 0.01. Both sides are `auto`, two threads, and
both merge attributes that always go together. --pairs: how many curvature pairs the path keeps, instead of as many as
cold fits do. Passes over the data, and seconds inside the solver by the clock.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import Any

import numpy as np

from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.plan import make_plan
from fastcrf.fitting.regularization_path import follow_path, problem_of_path
from fastcrf.solvers.auto.auto import Auto

PATHS = {
    "c2": [(0.0, c2) for c2 in np.geomspace(10.0, 0.01, 10).tolist()],
    "c1, c2 = 0.01": [(c1, 0.01) for c1 in np.geomspace(3.0, 0.03, 10).tolist()],
}


def figures_of(name: str, first: int | None, tol: float, pairs: int | None) -> list[dict[str, Any]]:
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    corpus, attributes, labels = encode_training(X[:first], y[:first])
    problem = problem_of_path(Auto(), corpus, build_feature_map(corpus, len(attributes), len(labels)), 0.01, 2)
    rows = []
    for path, along in PATHS.items():
        cold = [follow_path(problem, [penalty], partial(make_plan, tol=tol))[0] for penalty in along]
        warm = follow_path(problem, along, partial(make_plan, Auto(pairs=pairs), tol=tol))
        row: dict[str, Any] = {"set": name, "sequences": corpus.n_sequences, "path": path}
        for side, points in (("cold", cold), ("warm", warm)):
            row[side] = {
                "passes": sum(point.passes for point in points),
                "seconds": sum(point.seconds for point in points),
                "worst": max(point.relative_gap for point in points),
            }
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="usaddress,conll2002-ned")
    parser.add_argument("--first", type=int, help="sequences of each set; all of them if not given")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [row for name in given.sets.split(",") for row in figures_of(name, given.first, given.tol, given.pairs)]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print("| set | sequences | along | passes, cold / path | seconds, cold / path |")
    print("|---|--:|---|--:|--:|")
    for row in rows:
        passes, seconds = ([row[side][key] for side in ("cold", "warm")] for key in ("passes", "seconds"))
        print(
            f"| {row['set']} | {row['sequences']:,} | {row['path']} | {passes[0]:.0f} / {passes[1]:.0f} "
            f"({passes[1] / passes[0]:.2f}) | {seconds[0]:.1f} / {seconds[1]:.1f} ({seconds[1] / seconds[0]:.2f}) |"
        )


if __name__ == "__main__":
    main()
