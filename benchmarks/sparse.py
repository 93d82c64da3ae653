"""Solvers with an L1 penalty on CoNLL-2000: a race with CRFsuite, and how long an epoch takes.

    python benchmarks/sparse.py race  [--data DIR]
    python benchmarks/sparse.py pace  [--data DIR] [--sets conll2000,ocr-letters]

`race` trains with c1 = 0.7 and lets CRFsuite do the same, one after the other in one process, each to within 3 % of the
optimum; in processor seconds, which both count for one thread.

`pace` is how long an epoch of each solver takes beside one of `sgd`.

The tables and figures of the papers are run by `fastcrf papers run`.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import islice
from pathlib import Path

import corpora
import numpy as np

from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.solvers import registry
from fastcrf.stopping import MaxPasses
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

C, ETA = 0.7, 0.5
OWLQN_PASSES = 160
PACED = ("sgd", "asg", "adagrad", "sgd-l1", "sgd-l1-clipping")
NEAR = 1.03  # times the optimum: where the race with CRFsuite ends
PEER_ITERATIONS = 120  # some more than CRFsuite needs for that


def race(folder: Path) -> None:
    """Processor seconds to within 3 % of the optimum; those of CRFsuite are its own count of its iterations."""
    import peer  # python-crfsuite is asked for only here

    problem = NAMED_DATASETS["conll2000"]().problem(C, 0.0, 1)
    best = minimize(problem, registry.make("owlqn", pairs=10), stop=[MaxPasses(OWLQN_PASSES)])
    target = NEAR * problem.value(best.weights)
    spent, solver = 0.0, registry.make("sgd-l1", eta=ETA, decay=0.9)
    warm_up(problem, solver)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    for epoch in range(100):  # noqa: B007
        clock = time.process_time()
        step = next(steps)
        spent += time.process_time() - clock
        if problem.value(step.weights) <= target:
            break
    print(f"sgd-l1: {epoch} epochs, {spent:.2f} s, objective {problem.value(step.weights):.1f}, to reach {target:.1f}")
    rows = peer.train(*corpora.load(folder, "conll2000"), c1=C, c2=0.0, max_iterations=PEER_ITERATIONS)
    theirs = peer.seconds_to(rows, target)
    print(f"CRFsuite: {theirs} s" + (f", {theirs / spent:.1f} times as long" if theirs else ", never"))


def pace(sets: list[str], rounds: int = 7) -> None:
    """Processor seconds of an epoch, the least of some; the solvers take turns, so that all meet the same weather."""
    for dataset in sets:
        least: dict[str, float] = {}
        load = NAMED_DATASETS[dataset]()
        ridge, sparse = load.problem(0.0, 0.5, 1), load.problem(C, 0.0, 1)
        runs = {}
        for name in PACED:
            problem = sparse if "l1" in name else ridge
            runs[name] = registry.make(name, eta=0.1).iterate(problem, np.zeros(problem.n_weights))
            next(islice(runs[name], 1, None))  # the first epoch, which compiles
        for _ in range(rounds):
            for name, steps in runs.items():
                clock = time.process_time()
                next(steps)
                least[name] = min(least.get(name, np.inf), time.process_time() - clock)
        print(f"{dataset}: " + ", ".join(f"{name} {t:.3f} s ({t / least['sgd']:.2f})" for name, t in least.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("race", "pace"))
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--sets", default="conll2000,ocr-letters", help="of `pace`, with commas between")
    given = parser.parse_args()
    folder = corpora.data_folder(given.data)
    os.environ.setdefault("FASTCRF_DATA", str(folder))
    if given.what == "race":
        race(folder)
    else:
        pace(given.sets.split(","))


if __name__ == "__main__":
    main()
