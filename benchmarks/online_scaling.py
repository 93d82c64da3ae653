"""Why steps of iterative scaling on a few sequences lead nowhere, whatever their size (docs/online.md).

    python benchmarks/online_scaling.py              one pass over 2,000 sentences of CoNLL-2000, c2 = 1

One pass of `staggered-aitken` along the gradient and by iterative scaling, from zeros and from the optimum; then the
same steps for whole batches, each with the counts and the largest mass of its sequences together. The corpus is in the
folder --data or $FASTCRF_DATA.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
from online import Task

from fastcrf.core.types import Floats
from fastcrf.data.corpus.reordering import reorder
from fastcrf.features.feature_map import count_gold
from fastcrf.lab.tables import table
from fastcrf.solvers import registry
from fastcrf.solvers.iterative_scaling.roots import scale_weights
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stopping import CertifiedGap, MaxIterations, Rule
from fastcrf.training.driver import minimize

BATCH, ETAS, FROM_OPTIMUM, WHOLE_BATCHES = 5, (0.1, 1.0, 10.0, 30.0, 100.0, 1000.0), (0.1, 1.0, 10.0), (50, 500, None)


def one_pass(task: Task, start: Floats, eta: float, direction: str) -> Floats:
    solver = registry.make("staggered-aitken", batch=BATCH, eta=eta, direction=direction)
    steps = solver.iterate(task.problem, start.copy())  # type: ignore[arg-type]
    next(steps)
    return next(steps).weights


def whole_batches(task: Task, start: Floats, size: int) -> Floats:
    """One pass in which each batch takes one exact step of penalized iterative scaling (Chen & Rosenfeld 2000)."""
    problem, corpus, features = task.problem, task.corpus, task.features
    w, masses, n = start.copy(), problem.feature_masses(), problem.n_sequences
    order = epoch_permutation(0, 1, n)
    for first in range(0, n, size):
        members = order[first : first + size]
        observed = count_gold(reorder(corpus, members), features)
        expected = np.maximum(problem.subset_gradient(w, members)[1] + observed, 0.0)
        ridge, moved = 2.0 * problem.c2 * len(members) / n, np.empty_like(w)
        scale_weights(w, expected, observed, float(masses[members].max()), ridge, moved)
        w = np.where(expected + observed > 0.0, moved, w)  # others have no part in the batch
    return w


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--sentences", type=int, default=2000)
    given = parser.parse_args()
    if given.data:
        os.environ["FASTCRF_DATA"] = given.data
    task = Task("conll2000", given.sentences)
    zeros = np.zeros(task.problem.n_weights)
    rules: list[Rule] = [CertifiedGap(1e-4), MaxIterations(1000)]
    optimum = minimize(task.problem, registry.make("lbfgs"), stop=rules).weights
    starts = {"zeros": zeros, "the optimum": optimum}
    rows = []

    def tell(start: str, how: str, batch: str, eta: str, weights: Floats) -> None:
        objective = task.problem.value(weights)
        rows.append([start, how, batch, eta, f"{task.test_score(weights):.2f}", f"{objective:.4g}"])
        print(*rows[-1], flush=True)

    for name, start in starts.items():
        tell(name, "none", "", "", start)
        tell(name, "gradient", str(BATCH), "0.1", one_pass(task, start, 0.1, "gradient"))
        for eta in ETAS if name == "zeros" else FROM_OPTIMUM:
            tell(name, "gis", str(BATCH), f"{eta:g}", one_pass(task, start, eta, "gis"))
        for size in WHOLE_BATCHES:
            size = size or task.problem.n_sequences
            tell(name, "gis, a step a batch", str(size), "1", whole_batches(task, start, size))
    print(table(["from", "direction", "batch", "eta", "test F", "objective"], rows))


if __name__ == "__main__":
    main()
