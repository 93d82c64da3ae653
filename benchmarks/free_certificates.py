"""What a table of stored gradients proves without a pass over the data, by epoch, beside the full certificate.

    python benchmarks/free_certificates.py [--data DIR] [--sets conll2000,conll2002-ned] [--epochs 40] [--c2 1]

Of each solver, every few epochs: the true gap (the optimum is that of a quasi-Newton run to 1e-8), the gap that the
table proves (best so far), and what the gradient at that point proves alone, which costs a pass. Then a fit to the
default goal: how many of its epochs were measured, and its share of time outside the solver. One seed.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from itertools import islice

import corpora
import numpy as np

from fastcrf.fitting.solver_choice import quasi_newton
from fastcrf.lab.named_datasets import from_literature
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize

SOLVERS = {"sag-nus-star": 0.0, "saga": 0.0, "prox-saga": 1.0}  # c1 over c2
EVERY = 5
GOAL = 1e-3


def lowest(problem: Problem) -> float:
    solver = make(quasi_newton(problem.c1), pairs=20)
    return float(minimize(problem, solver, stop=[CertifiedGap(1e-8), MaxIterations(3000)]).certificate.objective)


def by_epoch(name: str, problem: Problem, epochs: int) -> None:
    optimum, best = lowest(problem), -math.inf
    print("| epoch | true gap | free | full | free / true |\n|--:|--:|--:|--:|--:|")
    steps = make(name).iterate(problem, np.zeros(problem.n_weights))  # type: ignore[arg-type]
    for epoch, step in enumerate(islice(steps, epochs + 1)):
        best = max(best, step.lower_bound or -math.inf)
        if epoch and epoch % EVERY == 0:
            full = problem.certificate(step.weights)
            true, free = (full.objective - optimum) / full.objective, (full.objective - best) / full.objective
            print(f"| {epoch} | {true:.1e} | {free:.1e} | {full.relative_gap:.1e} | {free / max(true, 1e-16):.1f} |")


def fit(name: str, problem: Problem) -> None:
    began = time.perf_counter()
    result = minimize(problem, make(name), stop=[CertifiedGap(GOAL), MaxIterations(200)])
    wall, inside = time.perf_counter() - began, result.trace[-1]["seconds"]
    measured = sum(row["objective"] is not None for row in result.trace)
    print(
        f"\nTo a certified {GOAL:g}: {result.status} after {result.n_steps} epochs, {measured} of them measured; "
        f"{wall:.1f} s, {100 * (1 - inside / wall):.1f} % of it outside the solver.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--sets", default="conll2000,conll2002-ned", help="names, with commas between")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--c2", type=float, default=1.0)
    arguments = parser.parse_args()
    os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    for dataset in arguments.sets.split(","):
        for name, share in SOLVERS.items():
            problem = from_literature(dataset).problem(share * arguments.c2, arguments.c2, n_jobs=2)
            print(f"\n### {dataset}, {name}, c1 = {problem.c1:g}, c2 = {problem.c2:g}\n")
            by_epoch(name, problem, arguments.epochs)
            fit(name, problem)


if __name__ == "__main__":
    main()
