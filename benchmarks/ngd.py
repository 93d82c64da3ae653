"""cao2015's claims on CoNLL-2000 and OCR: test accuracy of each update, and what a table of psi is worth.

    FASTCRF_DATA=folder python benchmarks/ngd.py [--data conll2000] [--epochs 50] [--seeds 5] [--c2 1]
    FASTCRF_DATA=folder python benchmarks/ngd.py --table

The first compares the updates of the paper's Table 2 with sgd, each with its own calibrated step size, by token
accuracy on the test set after so many epochs (the paper's "F-score" is this accuracy), and shows what became of the
objective.
The second times epochs with psi computed, and with psi looked up on [-1, 1] (section 3.6); processor seconds.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from statistics import mean, stdev
from typing import Any

import numpy as np

from fastcrf.lab.dataset import Dataset
from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import changed, make
from fastcrf.solvers.sgd.ngd.bregman_updates import SlopeOfGap
from fastcrf.solvers.sgd.ngd.convex_functions import Arctan, Erf, Gd, tabulate
from fastcrf.solvers.sgd.ngd.natural_descent import natural_descent
from fastcrf.stochastic.sampling import epoch_permutation

SOLVERS = {
    "sgd": make("sgd", calibration="crfsuite"),
    "U1*.G1": make("ngd", update="u1.g1"),
    "U2*.G1, arctan.1": make("ngd", update="u2.g1"),
    "U2*.G1', arctan.2": make("ngd", update="u2.g1", epsilon=0.01),
    "U2*.G2, erf": make("ngd", update="u2.g2"),
    "U2*.G3, gd": make("ngd", update="u2.g3"),
    "U2*.G1 by position": make("ngd", update="u2.g1", granularity="position"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="conll2000")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--only", help="names of updates, by semicolons")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    dataset = NAMED_DATASETS[options.data]()
    problem = Problem(dataset.corpus, dataset.features, c2=options.c2)
    if options.table:
        return time_tables(problem)
    print(f"{options.data}, c2 = {options.c2:g}, {options.epochs} epochs, {options.seeds} seeds")
    for name in options.only.split(";") if options.only else SOLVERS:
        print(row(name, problem, dataset, options.epochs, options.seeds), flush=True)


def row(name: str, problem: Problem, dataset: Dataset, epochs: int, seeds: int) -> str:
    """Test accuracy (mean, deviation, each), objective and first step size."""
    accuracies, objectives, etas = [], [], []
    for seed in range(seeds):
        solver = changed(SOLVERS[name], seed=seed)
        step = next(islice(solver.iterate(problem, np.zeros(problem.n_weights)), epochs, None))
        accuracies.append(100.0 * (1.0 - dataset.error(step.weights)))
        objectives.append(problem.value(step.weights))
        etas.append(step.state["eta"])
    spread = stdev(accuracies) if seeds > 1 else 0.0
    each = " ".join(f"{accuracy:.2f}" for accuracy in accuracies)
    return f"{name:20} {mean(accuracies):.3f} +- {spread:.3f}  ({each})  objective {mean(objectives):,.0f}  eta {etas}"


def time_tables(problem: Problem) -> None:
    """Seconds of the processor for an epoch, with psi computed and looked up."""
    for function in (Arctan(0.1), Gd(10.0), Erf(8.862)):
        computed, looked_up = (epoch_seconds(problem, SlopeOfGap(each)) for each in (function, tabulate(function)))
        print(f"{type(function).__name__:8} computed {computed:.3f} s, looked up {looked_up:.3f} s", flush=True)


def epoch_seconds(problem: Problem, update: Any) -> float:
    """The least of three epochs."""
    descent, seconds = natural_descent(problem, np.zeros(problem.n_weights), update, by_position=False), []
    order, steps = epoch_permutation(0, 0, problem.n_sequences), np.full(problem.n_sequences, 0.01)
    descent.descend(order[:2], steps[:2])
    for _ in range(3):
        began = time.process_time()
        descent.descend(order, steps)
        seconds.append(time.process_time() - began)
    return min(seconds)


if __name__ == "__main__":
    main()
