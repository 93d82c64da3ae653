"""sklearn-crfsuite's tutorial: Spanish names from dicts, c1 = c2 = 0.1, all possible transitions, 100 iterations.

    FASTCRF_DATA=folder python benchmarks/tutorial.py [--search 4]

`fit` and `predict` count all that a user waits for, from Python's dicts on, wall and CPU time. Three programs run: the
tutorial's with sklearn-crfsuite, the same with `fastcrf.compat`, and `fastcrf.CRF` to a certified gap of 0.1 %. What
compiling and loading machine code takes is not counted. F1 is that of segments in testb. With --search N, the
tutorial's RandomizedSearchCV runs N of its 50 candidates in 3 folds, as it does there on all cores, and
`fastcrf.CRFCV` along 10 penalties in 3 folds. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import sklearn_crfsuite
from sklearn.model_selection import RandomizedSearchCV

from fastcrf import CRF, CRFCV
from fastcrf.compat import sklearn_crfsuite as ours_by_their_names
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.reader_loading import load as load_reader
from fastcrf.metrics import flat_f1_score, segment_scores

PARAMETERS: dict[str, Any] = {
    "algorithm": "lbfgs",
    "c1": 0.1,
    "c2": 0.1,
    "max_iterations": 100,
    "all_possible_transitions": True,
}
FOLDS = 3
HEAD = """\
| program | `fit`, wall | CPU | ratio | `predict`, wall | CPU | ratio | F1 |
|---|--:|--:|--:|--:|--:|--:|--:|"""


class Spent(NamedTuple):
    """Seconds of a call."""

    wall: float
    cpu: float


def tutorial_data(part: str) -> tuple[list[list[dict[str, Any]]], list[list[str]]]:
    data = load("conll2002-esp", subset=part)
    return [[attributes_of(rows, t) for t in range(len(rows))] for rows in data.data], data.target


def attributes_of(rows: list[list[str]], t: int) -> dict[str, Any]:
    """The attributes of the tutorial."""
    found: dict[str, Any] = {"bias": 1.0, "word[-3:]": rows[t][0][-3:], "word[-2:]": rows[t][0][-2:]}
    found["word.isdigit()"] = rows[t][0].isdigit()
    for prefix, p in (("", t), ("-1:", t - 1), ("+1:", t + 1)):
        if 0 <= p < len(rows):
            word, tag = rows[p][:2]
            found |= {f"{prefix}word.lower()": word.lower(), f"{prefix}word.istitle()": word.istitle()}
            found |= {f"{prefix}word.isupper()": word.isupper(), f"{prefix}postag": tag, f"{prefix}postag[:2]": tag[:2]}
    if t == 0:
        found["BOS"] = True
    if t == len(rows) - 1:
        found["EOS"] = True
    return found


def programs() -> dict[str, Any]:
    """The estimators, the tutorial's own first."""
    return {
        "sklearn-crfsuite": sklearn_crfsuite.CRF(**PARAMETERS),
        "fastcrf.compat.sklearn_crfsuite": ours_by_their_names.CRF(**PARAMETERS),
        "fastcrf.CRF, certified 0.1 %": CRF(c1=0.1, c2=0.1, all_possible_transitions=True, n_jobs=2),
    }


def spent(work: Callable[[], Any]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def fit_and_predict() -> None:
    """Print a row for each program."""
    (X, y), (X_test, y_test), estimators = tutorial_data("train"), tutorial_data("testb"), programs()
    load_reader()
    for crf in list(estimators.values())[1:]:
        crf.fit(X, y).predict(X_test)  # compiles and loads what the rows do not count
    print(HEAD)
    first: list[Spent] = []
    for name, crf in estimators.items():
        fit = spent(partial(crf.fit, X, y))
        predict = min((spent(partial(crf.predict, X_test)) for _ in range(5)), key=lambda one: one.wall)
        first = first or [fit, predict]
        f1 = segment_scores(y_test, [list(labels) for labels in crf.predict(X_test)]).overall.f1
        cells = [
            f"{a.wall:.2f} s | {a.cpu:.2f} s | {b.wall / a.wall:.1f}"
            for a, b in zip((fit, predict), first, strict=True)
        ]
        print(f"| {name} | {' | '.join(cells)} | {f1:.4f} |", flush=True)


def search(candidates: int) -> None:
    """Print a row for each search: the first two with `candidates` of the tutorial's 50 points."""
    from scipy.stats import expon
    from sklearn.metrics import make_scorer

    X, y = tutorial_data("train")
    scorer = make_scorer(flat_f1_score, average="weighted")
    space = {"c1": expon(scale=0.5), "c2": expon(scale=0.05)}
    CRFCV(CRF(c1=0.1), cv=FOLDS, n_jobs=2).fit(X[:300], y[:300])
    print(f"| search, {FOLDS} folds | wall | a fit |\n|---|--:|--:|")
    for name, crf in list(programs().items())[:2]:
        options: dict[str, Any] = {"cv": FOLDS, "n_iter": candidates, "n_jobs": -1, "random_state": 0, "refit": False}
        tried = RandomizedSearchCV(crf, space, scoring=scorer, **options)
        wall = spent(partial(tried.fit, X, y)).wall
        title = f"RandomizedSearchCV of {name}, {candidates} candidates"
        print(f"| {title} | {wall:.1f} s | {wall / candidates / FOLDS:.2f} s |", flush=True)
    path = CRFCV(CRF(c1=0.1, all_possible_transitions=True), cv=FOLDS, refit=False, n_jobs=2)
    wall = spent(partial(path.fit, X, y)).wall
    print(f"| fastcrf.CRFCV, 10 penalties | {wall:.1f} s | {wall / 10 / FOLDS:.2f} s |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search", type=int, default=0, metavar="N", help="candidates of the tutorial's search")
    given = parser.parse_args()
    fit_and_predict()
    if given.search:
        search(given.search)
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}")


if __name__ == "__main__":
    main()
