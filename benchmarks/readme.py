"""The table and the chart of the README: fastcrf beside CRFsuite, all from one run on one machine.

    FASTCRF_DATA=folder python benchmarks/readme.py [--figure docs/images/readme.png] [--json]

CRFsuite is python-crfsuite (sklearn-crfsuite where the row says so) on one thread, all that it has; fastcrf uses two.
Training to a gap counts the seconds inside the training loop of both sides; the optimum is the lowest objective that
either side has seen, where fastcrf runs to a certified 1e-6. Rows of `fit` and `predict` count all that a user waits
for, from Python's lists and dicts on. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import auto
import sklearn_crfsuite
from tutorial import PARAMETERS, tutorial_data

from fastcrf import CRF
from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.data.encoding.reader_loading import load as load_reader
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.solvers.registry import make
from fastcrf.training.warm_up import warm_up

GAP = 1e-3
TRAINING = {  # set, c1, c2, iterations of CRFsuite: enough for a gap of 1e-3
    "CoNLL-2000 chunking, c2 = 1": ("conll2000", 0.0, 1.0, 170),
    "CoNLL-2002 Dutch names, c1 = c2 = 0.1": ("conll2002-ned", 0.1, 0.1, 260),
    "1,513 US addresses, c2 = 0.1": ("usaddress", 0.0, 0.1, 1000),
}
THEIRS, OURS = "#b0413e", "#1f6feb"
LARGE = 14  # points of the letters, so that the chart can be read on a phone


class Line(NamedTuple):
    """A row of the table: what was done, and the seconds of both."""

    task: str
    theirs: float
    ours: float


def train(name: str, c1: float, c2: float, most: int) -> tuple[auto.Curve, auto.Curve, float]:
    """The curves of both sides, (objective, seconds, CPU seconds), and the optimum."""
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    corpus, attributes, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(attributes), len(labels))
    problem = choose_problem(make("auto"), corpus, features, c1, c2, n_jobs=2)
    warm_up(problem, auto.aiming_at(1e-6))
    theirs, _ = auto.crfsuite(X, y, c1, c2, most)
    ours, _ = auto.auto(problem, 1e-6)
    return theirs, ours, min(objective for objective, *_ in (*theirs, *ours))


def tutorial() -> list[Line]:
    """The tutorial of sklearn-crfsuite: Spanish names, dicts, c1 = c2 = 0.1, 100 iterations."""
    X, y = tutorial_data("train")
    X_test, _ = tutorial_data("testb")
    theirs = sklearn_crfsuite.CRF(**PARAMETERS)
    ours = CRF(c1=0.1, c2=0.1, all_possible_transitions=True, n_jobs=2)
    ours.fit(X[:200], y[:200]).predict(X_test)  # compiles and loads what the rows do not count
    fits = [seconds(partial(crf.fit, X, y)) for crf in (theirs, ours)]
    predictions = [fewest(partial(crf.predict, X_test)) for crf in (theirs, ours)]
    title = "sklearn-crfsuite's tutorial (Spanish names)"
    return [Line(f"{title}: `fit`", *fits), Line(f"{title}: `predict`, {len(X_test):,} sentences", *predictions)]


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fewest(work: Callable[[], Any], repeats: int = 5) -> float:
    return min(seconds(work) for _ in range(repeats))


def draw(curves: dict[str, tuple[auto.Curve, auto.Curve, float]], path: Path) -> None:
    """Relative gap against seconds, one panel for each of the first two sets."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 4.4), sharey=True, layout="constrained")
    for ax, (title, (theirs, ours, optimum)) in zip(axes, curves.items(), strict=False):
        for curve, label, color in ((theirs, "CRFsuite 0.12, L-BFGS", THEIRS), (ours, "fastcrf, auto", OURS)):
            points = [(spent, objective / optimum - 1) for objective, spent, _ in curve if spent > 0]
            ax.loglog(*zip(*points, strict=True), label=label, color=color, linewidth=2)
        ax.set(xlim=(0.05, 90), ylim=(1e-5, 3))
        ax.set_title(title.replace(", c", "\nc", 1), fontsize=LARGE)  # the penalty on a line of its own
        ax.set_xlabel("seconds of training", fontsize=LARGE)
        ax.tick_params(labelsize=LARGE - 2)
        ax.grid(True, which="major", alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("relative gap to the optimum", fontsize=LARGE)
    lines, labels = axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=LARGE)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def table(lines: list[Line]) -> str:
    rows = [f"| {task} | {theirs:.2g} s | {ours:.2g} s | {theirs / ours:.1f} |" for task, theirs, ours in lines]
    return "\n".join(["| task | CRFsuite | fastcrf | ratio |", "|---|--:|--:|--:|", *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", type=Path, default=Path("docs/images/readme.png"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    load_reader()
    curves = {title: train(*case) for title, case in TRAINING.items()}
    lines = []
    for title, (theirs, ours, optimum) in curves.items():
        spent = [auto.reached(curve, optimum * (1 + GAP)) for curve in (theirs, ours)]
        if all(spent):
            lines.append(Line(f"{title}: to within 0.1 % of the optimum", *(each[0] for each in spent if each)))
    lines += tutorial()
    draw(curves, given.figure)
    print(json.dumps([line._asdict() for line in lines], indent=2) if given.json else table(lines))
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}")


if __name__ == "__main__":
    main()
