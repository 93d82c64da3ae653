"""What a table of psi is worth to `ngd` (cao2015, section 3.6): epochs with psi computed, and with psi looked up.

    FASTCRF_DATA=folder python benchmarks/ngd.py [--data conll2000]

Processor seconds. The paper's comparison of updates is `fastcrf papers run cao2015`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.ngd.bregman_updates import SlopeOfGap
from fastcrf.solvers.sgd.ngd.convex_functions import Arctan, Erf, Gd, tabulate
from fastcrf.solvers.sgd.ngd.natural_descent import natural_descent
from fastcrf.stochastic.sampling import epoch_permutation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="conll2000")
    dataset = NAMED_DATASETS[parser.parse_args().data]()
    time_tables(Problem(dataset.corpus, dataset.features, c2=1.0))


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
