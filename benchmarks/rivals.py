"""Whether `auto` is the right default: seconds to a gap beside solvers that might be better, all in one run.

    FASTCRF_DATA=folder python benchmarks/rivals.py [--cases conll2000:0:1,...] [--first 5000] [--least 5] [--json]

A case is set:c1:c2; of large sets the --first sequences may do. `auto` runs first, until it is certified within 1e-6.
The rivals are those of SMOOTH, or of SPARSE where c1 > 0, whatever the data are. Each has half as much time again as
`auto` took, and --least seconds at the least: who is not there by then has lost. The optimum is the lowest objective of
all runs. Seconds are those inside the solver, by the clock; solvers that do not know their objective are measured after
each epoch, outside the clock. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations, Rule
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

GAPS = (1e-2, 1e-4, 1e-6)
CASES = (
    "usaddress:0:0.1,ocr-letters:0:0.1,conll2000:0:1,conll2002-ned:0:0.1,conll2002-esp:0:0.1,ud-ewt-xpos:0:0.1,"
    "jnlpba:0:1,usaddress:0.1:0.1,conll2002-ned:0.1:0.1"
)
SMOOTH: tuple[tuple[str, dict[str, Any]], ...] = (
    ("lbfgs", {}),
    ("lbfgs", {"pairs": 20, "preconditioner": "counts"}),
    ("lbfgs", {"pairs": 50, "preconditioner": "counts"}),
    ("sag-nus-star", {}),
    ("sag-nus-star", {"batch_size": 8}),
    ("newton-cg", {}),
    ("hybrid", {}),
    ("accelerated-gradient", {}),
)
SPARSE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("owlqn", {}),
    ("owlqn", {"pairs": 20, "preconditioner": "counts"}),
    ("prox-lbfgs", {}),
    ("prox-lbfgs", {"pairs": 50, "preconditioner": "counts"}),
    ("newton-l1", {}),
    ("prox-saga", {}),
    ("accelerated-gradient", {}),
)
AIMING = {"single_precision": "if long", "target": 1e-6}  # as `CRF(tol=1e-6)` makes `auto`
MOST = 3000  # steps

Curve = list[tuple[float, float]]  # objective, seconds


def run(
    problem: Problem | MergedProblem, name: str, options: dict[str, Any], stop: list[Rule], seconds: float
) -> Curve:
    solver, curve = make(name, **options), Curve()

    def keep(row: dict[str, Any]) -> bool:
        curve.append((row["objective"], row["seconds"]))
        return row["seconds"] > seconds

    warm_up(problem, solver)
    minimize(problem, solver, stop=[*stop, MaxIterations(MOST)], callbacks=[keep], measure=True)
    return curve


def reached(curve: Curve, target: float) -> float | None:
    return next((seconds for objective, seconds in curve if objective <= target), None)


def called(name: str, options: dict[str, Any]) -> str:
    return ":".join([name, *(f"{option}={value}" for option, value in options.items())])


def figures_of(case: str, first: int | None, least: float) -> dict[str, Any]:
    name, c1, c2 = case.split(":")
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    corpus, attributes, labels = encode_training(X[:first], y[:first])
    data = corpus, build_feature_map(corpus, len(attributes), len(labels)), float(c1), float(c2), 2
    problem = Problem(*data)
    curves = {"auto": run(choose_problem(make("auto"), *data), "auto", AIMING, [CertifiedGap(1e-6)], float("inf"))}
    limit = max(least, 1.5 * curves["auto"][-1][1])
    for rival, options in SPARSE if problem.c1 > 0.0 else SMOOTH:
        curves[called(rival, options)] = run(problem, rival, options, [], limit)
    optimum = min(objective for curve in curves.values() for objective, _ in curve)
    rows = {key: [reached(curve, optimum * (1.0 + gap)) for gap in GAPS] for key, curve in curves.items()}
    return {"case": case, "optimum": optimum, "limit": limit, "seconds": rows}


def print_table(figures: dict[str, Any]) -> None:
    best = [min((row[k] for row in figures["seconds"].values() if row[k]), default=0.0) for k in range(len(GAPS))]
    print(f"\n{figures['case']}: optimum {figures['optimum']:.4f}, at most {figures['limit']:.0f} s each\n")
    print("| solver | " + " | ".join(f"{gap:g}" for gap in GAPS) + " |\n|---|" + "--:|" * len(GAPS), flush=True)
    for name, row in figures["seconds"].items():
        cells = ["-" if s is None else f"{s:.2f} s ({s / best[k]:.2f})" for k, s in enumerate(row)]
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--first", type=int, help="sequences of each set; all of them if not given")
    parser.add_argument("--least", type=float, default=5.0, help="seconds that each rival has at the least")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for case in given.cases.split(","):
        figures = figures_of(case, given.first, given.least)
        print(json.dumps(figures)) if given.json else print_table(figures)


if __name__ == "__main__":
    main()
