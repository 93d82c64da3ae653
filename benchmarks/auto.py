"""How much sooner than CRFsuite `auto` reaches a gap: both in one run, on the same items.

    FASTCRF_DATA=folder python benchmarks/auto.py [--cases conll2000:0:1,...] [--repeats 3] [--most 1000] [--json]

A case is set:c1:c2. CRFsuite is L-BFGS (OWL-QN where c1 > 0) with delta=1e-7 and at most --most iterations; a gap that
it does not reach gives no ratio. The optimum of a case is the lowest objective that either side has seen, where `auto`
runs to a certified 1e-6, as `CRF(tol=1e-6)` would; `known_to` says how well it is known. Objectives of steps in single
precision are taken as they are, right to 2e-5 or better. For both sides: seconds inside the training loop by the
clock and of the processor (all threads), the latter because other work on the machine does not count in it; `auto` is
the median of the repeats. `fit` is the wall time of `CRF(c1=, c2=).fit(X, y)`, to a certified 1e-3, encoding and all;
CRFsuite's is append and train to the end of its own rule.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from statistics import median
from typing import Any

import peer

from fastcrf import CRF
from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.plan import make_plan
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.capabilities import TrainingProblem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

GAPS = (1e-2, 1e-3, 1e-4, 1e-5)
CASES = (
    "conll2000:0:1,conll2000:0:0.1,conll2000:0:0.01,conll2000:0.1:0.1,"
    "conll2002-ned:0:0.1,conll2002-ned:0:0.01,conll2002-ned:0.1:0.1,usaddress:0:1,usaddress:0.1:0.1,ocr-letters:0:0.1"
)

Curve = list[tuple[float, float, float]]  # objective, seconds, seconds of the processor


def crfsuite(X: Any, y: Any, c1: float, c2: float, most: int) -> tuple[Curve, float]:
    """Its iterations, and the wall seconds of append and train."""
    began = time.perf_counter()
    curve: Curve = []

    class Watched(peer.Recorder):
        def on_iteration(self, log: Any, info: dict[str, Any]) -> None:
            curve.append((info["loss"], time.perf_counter() - clock, time.process_time() - processor))

    trainer = Watched("lbfgs", {"c1": c1, "c2": c2, "delta": 1e-7, "max_iterations": most}, verbose=True)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    clock, processor = time.perf_counter(), time.process_time()
    trainer.train("")
    return curve, time.perf_counter() - began


def auto(problem: TrainingProblem, tol: float) -> tuple[Curve, float]:
    """The steps of `auto` until it is certified within `tol`, and the lower bound that it ends with."""
    curve: Curve = []
    processor = time.process_time()

    def keep(row: dict[str, Any]) -> None:
        objective = row["objective_estimate"] if row["objective"] is None else row["objective"]
        curve.append((objective, row["seconds"], time.process_time() - processor))

    result = minimize(problem, aiming_at(tol), stop=[CertifiedGap(tol), MaxIterations(2000)], callbacks=[keep])
    return curve, result.certificate.lower_bound


def aiming_at(tol: float) -> Any:
    """`auto` as an estimator with this goal makes it."""
    return make_plan(tol=tol).solver


def reached(curve: Curve, target: float) -> tuple[float, float] | None:
    return next(((clock, processor) for objective, clock, processor in curve if objective <= target), None)


def figures_of(case: str, repeats: int, most: int) -> dict[str, Any]:
    name, c1, c2 = case.split(":")
    penalty = float(c1), float(c2)
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    corpus, attributes, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(attributes), len(labels))
    problem = choose_problem(make("auto"), corpus, features, *penalty, n_jobs=2)
    warm_up(problem, aiming_at(1e-6))
    theirs, their_fit = crfsuite(X, y, *penalty, most)
    runs = [auto(problem, 1e-6) for _ in range(repeats)]
    optimum = min(objective for curve in (theirs, *(curve for curve, _ in runs)) for objective, *_ in curve)
    bound = max(lower for _, lower in runs)
    fits = [seconds_of_fit(X, y, penalty) for _ in range(repeats)]
    rows = {f"{gap:g}": ratio_of(theirs, [curve for curve, _ in runs], optimum * (1 + gap)) for gap in GAPS}
    return {
        "case": case, "weights": features.n_weights, "merged": problem.n_weights, "labels": len(labels),
        "optimum": optimum, "known_to": (optimum - bound) / bound, "fit": median(fits), "crfsuite_fit": their_fit,
        "gaps": rows,
    }  # fmt: skip


def seconds_of_fit(X: Any, y: Any, penalty: tuple[float, float]) -> float:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a fit that ends without its certificate is no result
        CRF(c1=penalty[0], c2=penalty[1], n_jobs=2).fit(X, y)
    return time.perf_counter() - began


def ratio_of(theirs: Curve, ours: list[Curve], target: float) -> dict[str, Any]:
    found = [spent for spent in (reached(curve, target) for curve in ours) if spent]
    if not found:
        return {}
    seconds, processor = (median(spent[k] for spent in found) for k in (0, 1))
    figures: dict[str, Any] = {"seconds": seconds, "processor": processor}
    spent = reached(theirs, target)
    if spent:
        figures |= {"crfsuite": spent[0], "crfsuite_processor": spent[1], "ratio": spent[0] / seconds}
        figures["ratio_processor"] = spent[1] / processor
    return figures


def print_table(rows: list[dict[str, Any]]) -> None:
    print("| case | gap | CRFsuite s (processor) | auto s (processor) | ratio (processor) | fit s, CRFsuite / auto |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in rows:
        for gap, figures in row["gaps"].items():
            if not figures:
                continue
            theirs = (
                f"{figures['crfsuite']:.1f} ({figures['crfsuite_processor']:.1f})" if "ratio" in figures else "never"
            )
            ratio = f"{figures['ratio']:.1f} ({figures['ratio_processor']:.1f})" if "ratio" in figures else "-"
            ours = f"{figures['seconds']:.2f} ({figures['processor']:.2f})"
            fit = f"{row['crfsuite_fit']:.1f} / {row['fit']:.1f}"
            print(f"| {row['case']} | {gap} | {theirs} | {ours} | {ratio} | {fit} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [figures_of(case, given.repeats, given.most) for case in given.cases.split(",")]
    if given.json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
