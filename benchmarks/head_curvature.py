"""What the head of `auto` saves: passes and seconds of the processor to relative gaps, with and without it.

    FASTCRF_DATA=folder python benchmarks/head_curvature.py [--cases set:c1:c2,...] [--seeds 1] [--heads 0,none]

A head is the dense block of the first Hessian (`fastcrf/solvers/auto/head.py`). --heads: limits on its weights; none is
the default of `auto`, 0 is without it. Every evaluation counts as a pass, those of line searches, of the AdaGrad pass
and of the draws too. "d" is the size of the head, and 0 if `auto` found that it does not pay. The optimum of a case is
bounded from below by a run of `auto` to a certified 2e-6 or 700 passes, and the gaps are relative to its objective. One
thread, so that seconds of the processor compare; medians of the seeds. A set may have a number of sentences, as in
conll2002-ned/3000; sets of names have the attributes of the tutorial of sklearn-crfsuite.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from corpora import data_folder

from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.data.files.conll import read_columns
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto.auto import Auto

GAPS = (1e-1, 1e-2, 3e-3, 1e-3, 1e-4)
MOST = 700  # passes
CASES = (
    "conll2002-esp:0:0.1,conll2002-ned:0:0.1,conll2002-ned/3000:0:0.1,conll2002-ned/3000:0:0.01,conll2002-esp:0.1:0.1,"
    "conll2002-ned:0.1:0.1,conll2002-ned/3000:1:0.001,gutenberg-seg/6000:0.1:0.1,conll2000/3000:0:0.1,usaddress:0:0.1"
)
FILES = {"usaddress": "labeled", "ocr-letters": "letters"}
SETS = {"gutenberg-seg": "characters", "ud-ewt-xpos": "pos"}  # that are not in KNOWN_SETS
ALL_TRANSITIONS = {"tutorial", "characters"}
Curve = list[tuple[float, float, float]]  # passes, seconds, objective


def tutorial(rows: list[list[str]]) -> list[dict[str, Any]]:
    """The attributes of the tutorial of sklearn-crfsuite, from words and tags."""
    return [attributes(rows, t) for t in range(len(rows))]


def attributes(rows: list[list[str]], t: int) -> dict[str, Any]:
    word, tag = rows[t][:2]
    found: dict[str, Any] = {"bias": 1.0, "[-3:]": word[-3:], "[-2:]": word[-2:], "isdigit": word.isdigit()}
    for after, edge in ((0, ""), (-1, "BOS"), (1, "EOS")):
        if not 0 <= t + after < len(rows):
            found[edge] = True
            continue
        word, tag = rows[t + after][:2]
        of_word = {"lower": word.lower(), "istitle": word.istitle(), "isupper": word.isupper()}
        found |= {f"{after:+d}:{name}": value for name, value in {**of_word, "tag": tag, "tag2": tag[:2]}.items()}
    return found


def problem_of(folder: Path, case: str) -> Problem | MergedProblem:
    """The problem of a case, as `CRF` chooses it for `auto`."""
    name, c1, c2 = case.split(":")
    name, _, first = name.partition("/")
    sentences = list(read_columns(str(folder / name / f"{FILES.get(name, 'train')}.txt.gz")))
    rows = [sentence.rows for sentence in sentences[: int(first) if first else None]]
    kind = "tutorial" if name.startswith("conll2002") else SETS.get(name) or KNOWN_SETS[name].feature_set
    columns = KNOWN_SETS[name].inputs if name in KNOWN_SETS else slice(-1)
    make_items: Any = tutorial if kind == "tutorial" else FEATURE_SETS[kind]
    X = [make_items([row[columns] for row in sentence]) for sentence in rows]
    corpus, known, labels = encode_training(X, [[row[-1] for row in sentence] for sentence in rows])
    features = build_feature_map(corpus, len(known), len(labels), all_transitions=kind in ALL_TRANSITIONS)
    return choose_problem(Auto(), corpus, features, float(c1), float(c2))


def run(problem: Problem | MergedProblem, stop: float, **options: Any) -> tuple[Curve, int]:
    """The curve of a run down to the objective `stop` and the largest head; certified within 2e-6 if `stop` is 0."""
    curve: Curve = []
    passes, size, began = 0.0, 0, time.process_time()
    for step in Auto(adaptive_pass="always", **options).iterate(problem, np.zeros(problem.n_weights)):
        passes += step.passes
        assert step.objective is not None
        curve.append((passes, time.process_time() - began, step.objective))
        size = max(size, len(step.state.get("head", ())))
        proven = not stop and problem.certificate(step.weights, step.objective, step.gradient).relative_gap < 2e-6
        if passes > MOST or step.objective <= stop or proven:
            break
    return curve, size


def reached(curve: Curve, optimum: float, which: int) -> list[float]:
    """Passes (0) or seconds (1) to each gap; infinite if it was not reached."""
    return [next((row[which] for row in curve if row[2] <= optimum * (1.0 + gap)), np.inf) for gap in GAPS]


def shown(rows: list[list[float]], form: str) -> str:
    middles = [median(column) for column in zip(*rows, strict=True)]
    return " / ".join("never" if np.isinf(middle) else format(middle, form) for middle in middles)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora; default: $FASTCRF_DATA")
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--heads", default="0,none")
    given = parser.parse_args()
    folder = data_folder(given.data)
    print(f"passes, and seconds of the processor, to {' / '.join(f'{gap:g}' for gap in GAPS)}")
    for case in given.cases.split(","):
        problem = problem_of(folder, case)
        optimum = run(problem, 0.0, pairs=100)[0][-1][2]
        for limit in given.heads.split(","):
            head = None if limit == "none" else int(limit)
            runs = [run(problem, optimum * (1.0 + GAPS[-1]), head=head, seed=seed) for seed in range(given.seeds)]
            passes, seconds = ([reached(curve, optimum, which) for curve, _ in runs] for which in (0, 1))
            sizes = sorted({size for _, size in runs})
            print(f"{case} head={limit} d={sizes} | {shown(passes, '.0f')} | {shown(seconds, '.2f')}", flush=True)


if __name__ == "__main__":
    main()
