"""What gradients would save by leaving something out: features that stay zero, sequences that are fitted already.

    FASTCRF_DATA=folder python benchmarks/leaving_out.py [--sets usaddress,conll2002-ned,conll2000] [--steps 40,80]

Features: after so many steps of `auto` at c1 = c2 = 0.1, which attributes have a weight other than zero or one whose
slope exceeds c1; their share of weights and of occurrences, and milliseconds of a gradient with all and with those
alone, two threads. Sequences: after so many steps at c2 = 0.1, the share of positions in sequences whose loss is below
a bound, and of the loss that those below 1e-3 have.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from fastcrf.data.corpus.occurrences import with_attributes
from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize

BOUNDS = (1e-5, 1e-4, 1e-3, 1e-2)
REPEATS = 7


def milliseconds(problem: GradientProblem, weights: np.ndarray) -> float:
    """The least of several gradients."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        problem.gradient(weights)
        times.append(time.perf_counter() - began)
    return 1e3 * min(times)


def features_left(corpus: Any, features: Any, steps: int) -> str:
    problem = choose_problem(make("auto"), corpus, features, 0.1, 0.1, 2)
    if isinstance(problem, Problem):
        factors: Any = 1.0
    else:
        corpus, features, factors = problem.merging.corpus, problem.features, problem.c1_factors
    w = minimize(problem, make("auto"), stop=[MaxIterations(steps)]).weights
    alive = (w != 0.0) | (np.abs(problem.gradient(w)[1]) > 0.1 * factors)
    kept = np.add.reduceat(alive[: features.n_state], features.offsets[:-1]) > 0
    sizes = np.diff(features.offsets)
    offsets = np.concatenate(([0], np.cumsum(sizes[kept])))
    few = features._replace(offsets=offsets, labels=features.labels[np.repeat(kept, sizes)])
    fewer = with_attributes(corpus, kept, (np.cumsum(kept) - 1).astype(np.int32))
    alone = Problem(fewer, few, 0.1, 0.1, n_jobs=2)
    before, after = milliseconds(problem, w), milliseconds(alone, np.zeros(few.n_weights))
    weights, occurrences = few.n_weights / features.n_weights, len(fewer.attributes) / len(corpus.attributes)
    return f"{100 * weights:.0f} % of weights, {100 * occurrences:.0f} % of occurrences, {before:.1f} -> {after:.1f} ms"


def sequences_left(corpus: Any, features: Any, steps: int) -> str:
    problem = Problem(corpus, features, 0.0, 0.1, n_jobs=2)
    figures = problem.likelihood.sequence_figures(minimize(problem, make("auto"), stop=[MaxIterations(steps)]).weights)
    loss, lengths = figures[:, 0] - figures[:, 2], np.diff(corpus.starts)
    shares = (f"{100 * lengths[loss < bound].sum() / lengths.sum():.1f} % below {bound:g}" for bound in BOUNDS)
    return ", ".join(shares) + f"; {100 * loss[loss < 1e-3].sum() / loss.sum():.2f} % of the loss below 1e-3"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="usaddress,conll2002-ned,conll2000")
    parser.add_argument("--steps", default="40,80")
    given = parser.parse_args()
    for name in given.sets.split(","):
        X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
        corpus, attributes, labels = encode_training(X, y)
        features = build_feature_map(corpus, len(attributes), len(labels))
        for steps in map(int, given.steps.split(",")):
            print(f"{name}, {steps} steps, features: {features_left(corpus, features, steps)}", flush=True)
            print(f"{name}, {steps} steps, sequences: {sequences_left(corpus, features, steps)}", flush=True)


if __name__ == "__main__":
    main()
