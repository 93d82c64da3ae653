"""Stochastic solvers of the papers on CoNLL-2000: tsuruoka2009's Table 1, and an order that schmidt2015 claims.

    python benchmarks/sparse.py table [--data DIR] [--seeds 3] [--passes 30] [--naive]
    python benchmarks/sparse.py race  [--data DIR]
    python benchmarks/sparse.py order [--data DIR] [--seeds 3] [--passes 10] [--sets conll2000,ocr-letters] [--first N]
                                      [--solvers pegasos,sg] [--rows order.jsonl]
    python benchmarks/sparse.py pace  [--data DIR] [--sets conll2000,ocr-letters]
    python benchmarks/sparse.py tune  [--data DIR]

`table` trains with c1 = 0.7, eta = 0.5, decay = 0.85, which reproduce the paper's table (it prints none of them), and
compares objective and active features with what it prints, F1 with that of `owlqn`. --naive adds its slowest row.

`race` lets CRFsuite train with the same c1, one after the other in one process, each to within 3 % of the optimum; in
processor seconds, which both count for one thread.

`order` chooses each solver's step size among powers of ten by whole runs, as schmidt2015 does, and compares objectives
(figure_one.py). --passes may be several numbers: 10,30. Runs are kept in --rows, and not made again.

`pace` is how long an epoch of each solver takes beside one of `sgd`.

`tune` is the paper's way to C: the likelihood of 1,000 held-out sentences after `owlqn`.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import corpora
import figure_one
import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.data.corpus.reordering import reorder
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.decoding.decoder_choice import viterbi
from fastcrf.features.feature_map import build_feature_map
from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.metrics import segment_scores
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.stopping import MaxPasses
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

C, ETA, DECAY = 0.7, 0.5, 0.85
OWLQN_PASSES = 160  # as in the paper
PACED = ("sgd", "asg", "adagrad", "sgd-l1", "sgd-l1-clipping")
NEAR = 1.03  # times the optimum: where the race with CRFsuite ends
PEER_ITERATIONS = 120  # some more than CRFsuite needs for that


class Printed(NamedTuple):
    """A row of Table 1: -L_w / N, active features, F1; and what makes it."""

    title: str
    objective: float
    active: int
    f1: float
    solver: str
    options: dict[str, Any]


OPTIMUM = Printed("OWL-QN", 1.583, 18_109, 93.62, "owlqn", {})
NAIVE = Printed("Naive", 1.671, 455_651, 93.64, "sgd-l1-naive", {"schedule": "epoch"})
ROWS = (
    Printed("Clipping + Lazy-Update", 1.671, 87_792, 93.65, "sgd-l1-clipping", {"schedule": "epoch"}),
    Printed("Cumulative", 1.653, 28_189, 93.68, "sgd-l1", {"schedule": "epoch"}),
    Printed("Cumulative + Exponential-Decay", 1.622, 23_584, 93.66, "sgd-l1", {"decay": DECAY}),
)


class Chunking(NamedTuple):
    """CoNLL-2000, encoded."""

    train: Corpus
    test: Corpus
    gold: list[list[str]]  # labels of the test set
    features: FeatureMap
    labels: list[str]

    def problem(self, c1: float) -> Problem:
        return Problem(self.train, self.features, c1, 0.0, n_jobs=1)

    def f1(self, weights: Floats) -> float:
        """Of the chunks of the test set, in per cent."""
        found, starts = viterbi(self.test, self.features, weights), self.test.starts
        guess = [[self.labels[k] for k in found[first:last]] for first, last in pairwise(starts)]
        return 100.0 * segment_scores(self.gold, guess).overall.f1


def load_chunking(folder: Path) -> Chunking:
    train, attributes, labels = encode_training(*corpora.load(folder, "conll2000"))
    X, gold = corpora.load(folder, "conll2000", "test")
    return Chunking(
        train, Encoder(attributes).encode(X), gold, build_feature_map(train, len(attributes), len(labels)), labels
    )


def epochs(problem: Problem, solver: str, passes: int, **options: Any) -> tuple[Floats, float]:
    """(weights after so many epochs, processor seconds in the solver)."""
    steps = registry.make(solver, **options).iterate(problem, np.zeros(problem.n_weights))
    seconds = time.process_time()
    step = next(islice(steps, passes, None))
    return step.weights.copy(), time.process_time() - seconds


def table(chunking: Chunking, seeds: int, passes: int, naive: bool) -> None:
    print("| Table 1 | seed | objective (printed) | off by | active (printed) | off by | F1 (printed) | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    problem, held, scores = chunking.problem(C), True, []
    for seed in range(seeds):
        for row in (*ROWS, *((NAIVE,) if naive and seed == 0 else ())):
            weights, seconds = epochs(problem, row.solver, passes, eta=ETA, seed=seed, **row.options)
            objective, active, f1 = line(chunking, problem, row, str(seed), weights, seconds)
            if row is not NAIVE:
                held &= abs(objective / row.objective - 1) <= 0.01 and abs(active / row.active - 1) <= 0.03
                scores.append(f1)
    best = minimize(problem, registry.make("owlqn", pairs=10), stop=[MaxPasses(OWLQN_PASSES)])
    f1 = line(chunking, problem, OPTIMUM, "", best.weights, best.trace[-1]["seconds"])[2]
    near = all(abs(score - f1) <= 0.3 for score in scores)
    print(f"\nWithin 1 % of the printed objective and 3 % of the printed active features: {verdict(held)}.")
    print(f"F1 within 0.3 points of owlqn's: {verdict(near)}.")


def line(
    chunking: Chunking, problem: Problem, row: Printed, seed: str, weights: Floats, seconds: float
) -> tuple[float, int, float]:
    """Print what a run came to; (objective, active features, F1)."""
    objective, active = problem.value(weights) / problem.n_sequences, int(np.count_nonzero(weights))
    f1 = chunking.f1(weights)
    print(
        f"| {row.title} | {seed} | {objective:.4f} ({row.objective}) | {off(objective, row.objective)} | "
        f"{active:,} ({row.active:,}) | {off(active, row.active)} | {f1:.2f} ({row.f1}) | {seconds:.1f} |",
        flush=True,
    )
    return objective, active, f1


def off(found: float, printed: float) -> str:
    return f"{100 * (found / printed - 1):+.2f} %"


def verdict(held: bool) -> str:
    return "confirmed" if held else "refuted"


def race(folder: Path, chunking: Chunking) -> None:
    """Processor seconds to within 3 % of the optimum; those of CRFsuite are its own count of its iterations."""
    import peer  # python-crfsuite is asked for only here

    problem = chunking.problem(C)
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


def tune(chunking: Chunking, held_out: int = 1000) -> None:
    """The mean log-likelihood of held-out sentences after owlqn, by C."""
    inner = reorder(chunking.train, np.arange(held_out, chunking.train.n_sequences))
    outer = Problem(reorder(chunking.train, np.arange(held_out)), chunking.features)
    for c in (2.0, 1.5, 1.0, 0.85, 0.7, 0.5, 0.35):
        problem = Problem(inner, chunking.features, c, 0.0)
        best = minimize(problem, registry.make("owlqn", pairs=10), stop=[MaxPasses(OWLQN_PASSES)])
        print(f"C = {c:g}: held-out log-likelihood {-outer.value(best.weights) / held_out:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("table", "race", "order", "pace", "tune"))
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--passes", help="epochs (default: 30; of `order` 10, or several, with commas between)")
    parser.add_argument("--naive", action="store_true", help="the row that moves every weight at every update, too")
    parser.add_argument("--solvers", default=",".join(figure_one.CLASSIC), help="of `order`, with commas between")
    parser.add_argument("--sets", default="conll2000,ocr-letters", help="of `order`, with commas between")
    parser.add_argument("--first", type=int, help="of `order`: only so many sequences of each set")
    parser.add_argument("--rows", type=Path, default=Path("order.jsonl"), help="of `order`: the file of its runs")
    given = parser.parse_args()
    folder = corpora.data_folder(given.data)
    os.environ.setdefault("FASTCRF_DATA", str(folder))
    if given.what == "table":
        table(load_chunking(folder), given.seeds, int(given.passes or 30), given.naive)
    elif given.what == "race":
        race(folder, load_chunking(folder))
    elif given.what == "order":
        marks = tuple(int(passes) for passes in (given.passes or "10").split(","))
        sets, solvers = given.sets.split(","), given.solvers.split(",")
        figure_one.order(sets, solvers, marks, given.seeds, given.first, given.rows)
    elif given.what == "pace":
        pace(given.sets.split(","))
    else:
        tune(load_chunking(folder))


if __name__ == "__main__":
    main()
