"""How much faster than CRFsuite: gradient, training to a gap, memory, tagging, start-up. Ratios measured in one run.

    python benchmarks/speed.py [--data DIR] [--json] [--only gradient,train,sag,l2sgd,growth,memory,tag,start]

Both sides use the same items; CRFsuite's times are those that it logs. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import corpora
import numpy as np
import peer

import fastcrf
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize

Figures = dict[str, Any]
GAPS = (1e-2, 1e-3, 1e-5)


def best_time(work: Callable[[], Any], repeats: int) -> float:
    """The least seconds of several runs."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def make_problem(X: Any, y: Any, n_jobs: int, c2: float = 1.0, all_pairs: bool = False) -> Problem:
    corpus, ids, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(ids), len(labels), all_states=all_pairs, all_transitions=all_pairs)
    return Problem(corpus, features, c2=c2, n_jobs=n_jobs)


def gradient(folder: Path) -> Figures:
    """One evaluation of objective and gradient, on one and on two threads."""
    figures: Figures = {}
    for name in (*corpora.TASKS, "conll2000 all pairs"):
        X, y = corpora.load(folder, name.split()[0])
        all_pairs = name.endswith("all pairs")
        possible: dict[str, Any] = {"feature.possible_states": all_pairs, "feature.possible_transitions": all_pairs}
        rows = peer.train(X, y, c2=1.0, max_iterations=8 if len(y) > 20_000 else 12, **possible)
        theirs = peer.seconds_per_evaluation(rows)
        figures[name] = {"crfsuite_ms": 1e3 * theirs}
        for n_jobs in (1, 2):
            problem = make_problem(X, y, n_jobs, all_pairs=all_pairs)
            weights = np.random.default_rng(0).normal(0.0, 0.1, problem.n_weights)
            problem.gradient(weights)
            ours = best_time(partial(problem.gradient, weights), 12)
            figures[name] |= {f"ms_{n_jobs}": 1e3 * ours, f"ratio_{n_jobs}": theirs / ours}
        figures[name] |= {"labels": problem.features.n_labels, "weights": problem.n_weights}
    return figures


def crfsuite_to_gaps(X: Any, y: Any, optimum: float) -> dict[float, float | None]:
    rows = peer.train(X, y, c2=1.0, delta=1e-7)
    return {gap: peer.seconds_to(rows, optimum * (1 + gap)) for gap in GAPS}


def seconds_to_gaps(problem: Problem, solver: str, optimum: float, most: int, **options: Any) -> dict[float, Figures]:
    """Solver seconds, passes and steps until each gap; the objective is evaluated outside the solver's clock."""
    reached: dict[float, Figures] = {}

    def look(row: dict[str, Any], value: float) -> bool:
        for gap in GAPS:
            if gap not in reached and value <= optimum * (1 + gap):
                reached[gap] = {name: row[name] for name in ("seconds", "passes", "step")}
        return len(reached) == len(GAPS)

    watch = {"loss": problem.value}
    warm_up = make(solver, **options)
    minimize(problem, warm_up, stop=[MaxIterations(1)])
    minimize(problem, make(solver, **options), stop=[MaxIterations(most)], watch=watch,
             callbacks=[lambda row: look(row, row["loss"])])  # fmt: skip
    return reached


def optimum_of(problem: Problem) -> float:
    result = minimize(problem, make("lbfgs", pairs=10), stop=[CertifiedGap(1e-6), MaxIterations(2000)])
    return result.certificate.objective


def compare_to_gaps(folder: Path, solver: str, n_jobs: int, most: int) -> Figures:
    X, y = corpora.load(folder, "conll2000")
    problem = make_problem(X, y, n_jobs)
    optimum = optimum_of(problem)
    ours = seconds_to_gaps(problem, solver, optimum, most)
    theirs = crfsuite_to_gaps(X, y, optimum)
    figures: Figures = {"optimum": optimum}
    for gap in GAPS:
        seconds = theirs[gap]
        ratio = seconds / ours[gap]["seconds"] if seconds and gap in ours else None
        figures[f"{gap:g}"] = {"crfsuite_seconds": seconds, **ours.get(gap, {}), "ratio": ratio}
    return figures


def train(folder: Path) -> Figures:
    """lbfgs on two threads to relative gaps of 1e-2, 1e-3 and 1e-5."""
    return compare_to_gaps(folder, "lbfgs", 2, 1000)


def sag(folder: Path) -> Figures:
    """sag-nus-star from zero to the same gaps, and its seconds per n draws against an epoch of sgd after pass 10."""
    figures = compare_to_gaps(folder, "sag-nus-star", 2, 60)
    X, y = corpora.load(folder, "conll2000")
    problem = make_problem(X, y, 1)
    late = {name: seconds_per_epoch(problem, name, range(16, 24)) for name in ("sag-nus-star", "sgd")}
    return figures | {"epoch_seconds": late, "epoch_ratio": late["sag-nus-star"] / late["sgd"]}


def seconds_per_epoch(problem: Problem, solver: str, epochs: range) -> float:
    """The median epoch among the given ones."""
    trace = minimize(problem, make(solver), stop=[MaxIterations(epochs.stop)]).trace
    return float(np.median(np.diff([trace[k]["seconds"] for k in (epochs.start - 1, *epochs)])))


def growth(folder: Path) -> Figures:
    """Ten times the attributes, which no sequence uses: seconds per epoch must stay."""
    X, y = corpora.load(folder, "conll2000")
    corpus, ids, labels = encode_training(X, y)
    figures: Figures = {}
    for solver in ("sgd", "sag-nus-star"):
        for factor in (1, 11):
            features = build_feature_map(corpus, len(ids), len(labels))
            extra = np.full((factor - 1) * len(ids), features.n_state) + np.arange(1, (factor - 1) * len(ids) + 1)
            grown = features._replace(
                offsets=np.concatenate((features.offsets, extra)),
                labels=np.concatenate((features.labels, np.zeros(len(extra), np.int32))),
            )
            problem = Problem(corpus, grown, c2=1.0)
            figures[f"{solver} x{factor}"] = seconds_per_epoch(problem, solver, range(3, 8))
        figures[f"{solver} change"] = figures[f"{solver} x11"] / figures[f"{solver} x1"] - 1
    return figures


def l2sgd(folder: Path) -> Figures:
    """CRFsuite's l2sgd against ours: seconds per epoch and test accuracy."""
    X, y = corpora.load(folder, "conll2000")
    X_test, y_test = corpora.load(folder, "conll2000", "test")
    with tempfile.TemporaryDirectory() as scratch:
        path = str(Path(scratch) / "model")
        rows = peer.train(X, y, path, "l2sgd", c2=1.0, max_iterations=30)
        theirs = float(np.median([float(row["time"]) for row in rows]))
        tagger = peer.pycrfsuite.Tagger()
        tagger.open(path)
        accuracy = np.mean([a == b for x, gold in zip(X_test, y_test, strict=True)
                            for a, b in zip(tagger.tag(x), gold, strict=True)])  # fmt: skip
    crf = fastcrf.CRF("l2sgd", tol=None, max_iterations=30).fit(X, y)
    ours = float(np.median(np.diff([row["seconds"] for row in crf.history_[1:]])))
    return {
        "crfsuite_epoch": theirs, "epoch": ours, "ratio": theirs / ours,
        "crfsuite_accuracy": float(accuracy), "accuracy": crf.score(X_test, y_test),
    }  # fmt: skip


def state(folder: Path) -> Figures:
    """Increase of the peak resident set by fit, and by CRFsuite's append and train; each in a process of its own."""
    figures = {side: json.loads(own_process("peak", folder, side)) for side in ("fastcrf", "crfsuite")}
    return {**{f"{side}_mb": mb for side, mb in figures.items()}, "ratio": figures["crfsuite"] / figures["fastcrf"]}


def peak(folder: Path, side: str) -> float:
    """MB that training adds to the peak of this process, with kernels loaded before."""
    X, y = corpora.load(folder, "conll2000")
    if side == "fastcrf":
        some = covering(y)
        warm_up = fastcrf.CRF("lbfgs", tol=None, max_iterations=2)
        warm_up.fit([X[i] for i in some], [y[i] for i in some])
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    if side == "fastcrf":
        fastcrf.CRF("lbfgs", tol=None, max_iterations=20).fit(X, y)
    else:
        peer.train(X, y, c2=1.0, max_iterations=20)
    return (resident("VmHWM") - before) / 1024


def covering(y: Any) -> list[int]:
    """A few sequences that have all labels between them: kernels are compiled for a number of labels."""
    seen: set[str] = set()
    chosen = []
    for i, labels in enumerate(y):
        if not seen.issuperset(labels):
            seen.update(labels)
            chosen.append(i)
    return chosen


def resident(which: str) -> float:
    """Resident set of this process (VmRSS) or its peak (VmHWM), kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(which):
            return float(line.split()[1])
    raise SystemExit("The memory benchmark reads /proc, which this system does not have.")


def own_process(section: str, folder: Path, side: str) -> str:
    command = [sys.executable, __file__, "--data", str(folder), "--own", section, side]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]


def tag(folder: Path) -> Figures:
    """Tagging from dicts: the test set, and one sentence of seven tokens."""
    X, y = corpora.load(folder, "conll2000")
    X_test, _ = corpora.load(folder, "conll2000", "test")
    with tempfile.TemporaryDirectory() as scratch:
        path = str(Path(scratch) / "model")
        peer.train(X, y, path, c2=1.0, max_iterations=30)
        tagger = peer.pycrfsuite.Tagger()
        tagger.open(path)
        crf = fastcrf.CRF("lbfgs", tol=None, max_iterations=30).fit(X, y)
        plain = [[{name: 1.0 for name in item} for item in sentence] for sentence in X_test]
        seven = next(sentence for sentence in plain if len(sentence) == 7)
        return {
            "crfsuite_test_seconds": (theirs := best_time(lambda: [tagger.tag(x) for x in plain], 5)),
            "test_seconds": (ours := best_time(lambda: crf.predict(plain), 5)),
            "ratio": theirs / ours,
            "crfsuite_one_us": 1e6 * (theirs := best_time(lambda: tagger.tag(seven), 2000)),
            "one_us": 1e6 * (ours := best_time(lambda: crf.predict_single(seven), 2000)),
            "one_times": ours / theirs,
        }


def start(folder: Path) -> Figures:
    """`fastcrf tag` of one sentence, from process start, kernels cached."""
    with tempfile.TemporaryDirectory() as scratch:
        data, model = Path(scratch) / "data.txt", Path(scratch) / "model.crf"
        data.write_text("The DT B\ncat NN I\nsat VB O\n\nA DT B\ndog NN I\n\n")
        run = [sys.executable, "-m", "fastcrf"]
        subprocess.run([*run, "train", str(data), "-m", str(model), "--quiet"], check=True, capture_output=True)
        command = [*run, "tag", str(data), "-m", str(model)]
        subprocess.run(command, check=True, capture_output=True)
        return {"seconds": best_time(lambda: subprocess.run(command, check=True, capture_output=True), 5)}


SECTIONS = {section.__name__: section for section in (gradient, train, sag, l2sgd, growth, state, tag, start)}


def show(figures: Any, indent: str = "  ") -> None:
    for name, figure in figures.items():
        if isinstance(figure, dict):
            print(f"{indent}{name}")
            show(figure, indent + "  ")
        else:
            print(f"{indent}{name:24} {figure:.5g}" if isinstance(figure, float) else f"{indent}{name:24} {figure}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, with commas between")
    parser.add_argument("--own", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = corpora.data_folder(arguments.data)
    if arguments.own:
        print(json.dumps(peak(folder, arguments.own[1])))
        return
    results: dict[str, Any] = {"cores": os.cpu_count(), "version": fastcrf.__version__}
    for name in arguments.only.split(","):
        results[name] = SECTIONS[name](folder)
        if not arguments.json:
            print(f"{name}: {(SECTIONS[name].__doc__ or '').strip()}", flush=True)
            show(results[name])
    if arguments.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
