"""How many evaluations iterative scaling takes, plain and accelerated, to come within given distances of the optimum.

    python benchmarks/scaling.py [--data DIR] [--sets ocr-letters,conll2000] [--first 1000] [--passes 200] [--c2 1]

Of each method: map evaluations (passes over the data, refused extrapolations included) until the objective is where
plain gis is after all its passes, and until it is within a given share of the optimum, which lbfgs finds to 1e-8;
the largest rise of the objective between two rows, relative to it; and how far it stood from the optimum when the
passes ran out or all was reached. No clock: the figures do not depend on the machine.
conll2000 is cut to its first 1,000 sentences.
"""

from __future__ import annotations

import argparse
import os
from typing import NamedTuple

import corpora
import numpy as np

from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.lab.named_datasets import from_literature
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations, Rule
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import first_sequences

METHODS: dict[str, tuple[str, dict[str, object]]] = {
    "gis": ("gis", {}),
    "gis, the paper's rule": ("gis", {"rule": "paper"}),
    "iis": ("iis", {}),
    "staggered Aitken, gamma 1": ("staggered-aitken-gis", {"gamma": 1}),
    "staggered Aitken, gamma 2 (triple jump)": ("triple-jump", {}),
    "staggered Aitken, gamma 3": ("staggered-aitken-gis", {"gamma": 3}),
    "staggered Aitken, Haemmerlin-Hoffmann": ("staggered-aitken-gis", {"length": "haemmerlin-hoffmann"}),
    "triple jump by component": ("componentwise-triple-jump", {}),
    "Aitken at every step, gamma 1": ("aitken-gis", {"gamma": 1}),
    "Aitken at every step, gamma 2": ("aitken-gis", {"gamma": 2}),
    "Aitken at every step, gamma 3": ("aitken-gis", {"gamma": 3}),
    "Anderson, 6 pairs": ("anderson-gis", {}),
    "lbfgs": ("lbfgs", {}),
}
GAPS = (0.1, 0.01, 0.001)
CUT = {"conll2000"}


def problem_of(dataset: str, first: int, c2: float) -> Problem:
    """The training part of a set; of those in CUT the first sentences, with the features that occur there."""
    whole = from_literature(dataset).problem(0.0, c2, n_jobs=1)
    if dataset not in CUT:
        return whole
    corpus = first_sequences(whole.corpus, first)
    features = build_feature_map(corpus, whole.features.n_attributes, whole.features.n_labels)
    return Problem(corpus, features, 0.0, c2)


class Outcome(NamedTuple):
    """How a run went."""

    reached: dict[float, int]  # passes by goal
    objective: float
    rise: float


def follow(method: str, problem: Problem, goals: list[float], limit: int) -> Outcome:
    """Run until all goals are reached or the passes run out."""
    name, options = METHODS[method]
    passes, before, rise = 0.0, np.inf, 0.0
    reached: dict[float, int] = {}
    for step in make(name, **options).iterate(problem, np.zeros(problem.n_weights)):  # type: ignore[arg-type]
        passes += step.passes
        value = float(step.objective or np.nan)
        rise = max(rise, (value - before) / value)
        before = value
        for goal in goals:
            if goal not in reached and value <= goal:
                reached[goal] = int(passes)
        if passes >= limit or len(reached) == len(goals):
            break
    return Outcome(reached, before, rise)


def table(problem: Problem, lowest: float, limit: int, methods: list[str]) -> None:
    """A row a method."""
    near = [lowest * (1.0 + gap) for gap in GAPS]
    plain = follow("gis", problem, [*near, 0.0], limit)
    plain.reached[plain.objective] = limit
    goals = [plain.objective, *near]
    print(
        f"| method | to gis after {limit} | "
        + " | ".join(f"{gap:g}" for gap in GAPS)
        + " | largest rise | gap at the end |"
    )
    print("|---|" + "--:|" * (len(goals) + 2))
    for method in methods:
        run = plain if method == "gis" else follow(method, problem, goals, limit)
        counts = " | ".join(f"{run.reached[goal]}" if goal in run.reached else f"> {limit}" for goal in goals)
        print(f"| {method} | {counts} | {run.rise:.0e} | {(run.objective - lowest) / lowest:.1e} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--sets", default="ocr-letters,conll2000", help="names, with commas between")
    parser.add_argument("--first", type=int, default=1000, help="sentences of conll2000")
    parser.add_argument("--methods", default="", help="only gis and those with one of these in their names")
    parser.add_argument("--passes", type=int, default=200, help="when to give up")
    parser.add_argument("--c2", type=float, default=1.0)
    arguments = parser.parse_args()
    os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    for dataset in arguments.sets.split(","):
        problem = problem_of(dataset, arguments.first, arguments.c2)
        stop: list[Rule] = [CertifiedGap(1e-8), MaxIterations(3000)]
        lowest = float(minimize(problem, make("lbfgs", pairs=20), stop=stop).certificate.objective)
        sums = problem.feature_sums()
        print(
            f"\n### {dataset}, {problem.n_sequences:,} sequences, {problem.n_weights:,} weights, c2 = {problem.c2:g}\n"
        )
        print(f"Masses {sums.min():g} to {sums.max():g}, mean {sums.mean():.0f}; optimum {lowest:.3f}.\n")
        wanted = arguments.methods.split(",")
        methods = [method for method in METHODS if method == "gis" or any(word in method for word in wanted)]
        table(problem, lowest, arguments.passes, methods)


if __name__ == "__main__":
    main()
