"""Dual solvers and growing batches on the OCR letters: passes until the optimum is proved to be near, and what a small
lambda does to them.

    python benchmarks/dual.py [--data DIR] [--set ocr-letters] [--lambdas 1,0.01] [--solvers oeg,sdca,...]
                              [--tol 1e-6] [--passes 300] [--seconds 240] [--first N] [--jobs 1]

lambda is schmidt2015's, times n: 1 is lambda = 1/n, c2 = 0.5. Gaps are F(w) minus the best lower bound that the run has
proved, relative to that bound; for oeg, eg and sdca the bound is the dual value of their own distributions. The
objective is measured after each step, outside of the solver's clock. Where a solver measures it itself (oeg, eg), these
passes are taken off, so that all count what they need to move. Seconds depend on what else the machine does. --first
takes so many sequences, and lambda as many times 1/n as before of that n. schmidt2015's claim on small lambda is run by
`fastcrf papers run schmidt2015/text`.
"""

from __future__ import annotations

import argparse
import os
from typing import NamedTuple

import corpora

from fastcrf.cli.options.solver_options import read_solver
from fastcrf.lab.experiment import Experiment, Penalty
from fastcrf.lab.limits import Limits
from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.lab.tables import table
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Solver
from fastcrf.stopping import CertifiedGap, MaxPasses, MaxSeconds, Rule
from fastcrf.training.driver import minimize
from fastcrf.training.trace import Row, Trace
from fastcrf.training.warm_up import first_sequences, warm_up

SOLVERS = "sdca,sdca:sampling=uniform,oeg,oeg:initial=10.0,sag-nus-star,lbfgs,hybrid"
GAPS = (1e-2, 1e-4, 1e-6)


class Outcome(NamedTuple):
    """What one run came to."""

    solver: str
    until: tuple[float | None, ...]  # passes until each of GAPS
    last: Row
    spent: float  # passes of the last row


def run(problem: Problem, text: str, solver: Solver, arguments: argparse.Namespace) -> Outcome:
    warm_up(problem, solver)
    rules: list[Rule] = [CertifiedGap(arguments.tol), MaxPasses(arguments.passes), MaxSeconds(arguments.seconds)]
    trace = minimize(problem, solver, stop=rules, measure=True).trace
    return Outcome(text, tuple(passes_until(trace, gap) for gap in GAPS), trace[-1], trace[-1]["passes"])


def passes_until(trace: Trace, gap: float) -> float | None:
    near = (row for row in trace if row["relative_gap"] is not None and row["relative_gap"] <= gap)
    first = next(near, None)
    return None if first is None else first["passes"]


def in_words(outcomes: list[Outcome]) -> str:
    head = ("solver", *(f"{gap:.0e}" for gap in GAPS), "gap at the end", "objective", "passes", "s a pass")
    lines = []
    for outcome in outcomes:
        until = ("-" if passes is None else f"{passes:.1f}" for passes in outcome.until)
        seconds = outcome.last["seconds"] / max(outcome.last["passes"], 1.0)
        gap, objective = f"{outcome.last['relative_gap']:.1e}", f"{outcome.last['objective']:.2f}"
        lines.append((outcome.solver, *until, gap, objective, f"{outcome.spent:.0f}", f"{seconds:.2f}"))
    return table(head, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--set", default="ocr-letters")
    parser.add_argument("--lambdas", default="1,0.01", help="the papers' lambda times n, with commas between")
    parser.add_argument("--solvers", default=SOLVERS, help="names, with options after colons")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--passes", type=float, default=300.0)
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--first", type=int, help="sequences, if not all")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    solvers = dict(read_solver(text) for text in arguments.solvers.split(","))
    for lam in map(float, arguments.lambdas.split(",")):
        penalty, limits = Penalty(0.0, 0.5 * lam), Limits(arguments.tol, arguments.passes, arguments.seconds)
        experiment = Experiment([NAMED_DATASETS[arguments.set]()], [penalty], solvers, range(1), limits, 1)
        problem = next(iter(experiment.objectives())).problem(n_jobs=arguments.jobs)
        if arguments.first:
            some = first_sequences(problem.corpus, arguments.first)
            problem = Problem(some, problem.features, problem.c1, problem.c2, arguments.jobs)
        outcomes: list[Outcome] = []
        for text, solver in solvers.items():
            outcomes.append(run(problem, text, solver, arguments))
            print(f"lambda = {lam:g}/n\n{in_words(outcomes)}\n", flush=True)


if __name__ == "__main__":
    main()
