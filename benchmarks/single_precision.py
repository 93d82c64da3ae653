"""What inference in single precision gains, and what it costs in digits.

    FASTCRF_DATA=folder python benchmarks/single_precision.py [--cases conll2000:0:1,...] [--repeats 3] [--json]

A case is set:c1:c2 or set:c1:c2:sequences. Two threads. Gradients: milliseconds by the clock in double and in single
precision, medians of runs that take turns, at the end of a fit to a certified 1e-2; the error of the value relative to
the objective, and of the gradient beside the gradient's norm there. Fits: seconds inside `auto`, from zero until it is
certified within 1e-3, in double precision throughout and with single precision first, medians of runs that take turns;
the passes of both, and how many steps were in single precision.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import median
from typing import Any

import numpy as np

from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

CASES = (
    "conll2000:0:1,conll2002-ned:0:0.1,conll2002-ned:0.1:0.1,ud-ewt-xpos:0:0.1,ocr-letters:0:0.1,brown-base:0:1:8000"
)
TURNS = 9
SOLVERS = {
    precision: make("auto", single_precision=when, target=1e-3)
    for precision, when in (("double", "never"), ("single", "always"))
}


def problem_of(case: str) -> Problem | MergedProblem:
    name, c1, c2, *first = case.split(":")
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    first = int(first[0]) if first else None  # type: ignore[assignment]
    corpus, attributes, labels = encode_training(X[:first], y[:first])  # type: ignore[misc]
    features = build_feature_map(corpus, len(attributes), len(labels))
    return choose_problem(make("auto"), corpus, features, float(c1), float(c2), n_jobs=2)


def gradients(problem: Problem | MergedProblem) -> dict[str, Any]:
    weights = minimize(problem, SOLVERS["double"], stop=[CertifiedGap(1e-2), MaxIterations(1000)]).weights
    sides = {"double": problem, "single": problem.in_single_precision()}
    values = {name: side.gradient(weights) for name, side in sides.items()}
    spent: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(TURNS):
        for name, side in sides.items():
            began = time.perf_counter()
            side.gradient(weights)
            spent[name].append(time.perf_counter() - began)
    (value, gradient), (rough_value, rough_gradient) = values["double"], values["single"]
    return {name: 1e3 * median(seconds) for name, seconds in spent.items()} | {
        "value_error": abs(rough_value - value) / value,
        "norm": float(np.linalg.norm(gradient)),
        "gradient_error": float(np.linalg.norm(rough_gradient - gradient)),
    }


def fits(problem: Problem | MergedProblem, repeats: int) -> dict[str, Any]:
    rows: dict[str, list[Any]] = {name: [] for name in SOLVERS}
    for _ in range(repeats):
        for name, solver in SOLVERS.items():
            rows[name].append(minimize(problem, solver, stop=[CertifiedGap(1e-3), MaxIterations(2000)]).trace)
    return {
        name: {
            "seconds": median(trace[-1]["seconds"] for trace in traces),
            "passes": traces[0][-1]["passes"],
            "rough_steps": sum("objective_estimate" in row for row in traces[0]),
        }
        for name, traces in rows.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not given.json:
        print("| case | gradient ms, double / single | errors of F, of the gradient (norm) | fit s | passes (single) |")
        print("|---|--:|--:|--:|--:|")
    for case in given.cases.split(","):
        problem = problem_of(case)
        for solver in SOLVERS.values():
            warm_up(problem, solver)
        row = {"case": case, "gradients": gradients(problem), "fits": fits(problem, given.repeats)}
        print(json.dumps(row) if given.json else line_of(**row), flush=True)


def line_of(case: str, gradients: dict[str, Any], fits: dict[str, Any]) -> str:
    milliseconds = gradients["double"], gradients["single"]
    seconds, passes = ([fits[side][key] for side in SOLVERS] for key in ("seconds", "passes"))
    errors = f"{gradients['value_error']:.0e}, {gradients['gradient_error']:.1g} ({gradients['norm']:.3g})"
    return (
        f"| {case} | {beside(milliseconds, '.1f')} | {errors} | {beside(seconds, '.2f')} | "
        f"{passes[0]:.0f} / {passes[1]:.0f} ({fits['single']['rough_steps']}) |"
    )


def beside(pair: Any, form: str) -> str:
    return f"{pair[0]:{form}} / {pair[1]:{form}} ({pair[0] / pair[1]:.2f})"


if __name__ == "__main__":
    main()
