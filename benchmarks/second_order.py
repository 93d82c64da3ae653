"""Second-order solvers: the cost of a product with the Hessian, newton-l1 beside CRFsuite.

    python benchmarks/second_order.py [--data DIR] [--only products,l1] [--sets conll2000,conll2002-esp]
                                      [--penalties 1:0,0.1:0.1] [--share 1.0] [--seconds 300] [--passes 1000]
                                      [--jobs 2] [--iterations 600] [--solvers newton-cg lbfgs:pairs=50]
                                      [--curves FOLDER]

products: seconds of a product over those of a gradient, the least of several that took turns; from what gradients leave
          of all sequences, of 4,000, of none, and by forward-mode differentiation.
l1:       seconds and passes to relative gaps, for each c1:c2, CRFsuite (one thread) included; and how many zeros differ
          from those of the run that came lowest. The optimum is the lowest objective of all the runs.

--solvers are those to run, others than the usual ones; "crfsuite" is one of them. --curves is where runs are kept.
Later commands find them again while the solver's sources stay the same, so that a campaign may be spread over several
commands, the last of which has all the rows. --share takes so much of the sentences, from the first on. Run it on an
otherwise idle machine: passes do not depend on the load, seconds do. newton-cg beside lbfgs is
`fastcrf papers run tsuboi2011`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import corpora
import numpy as np

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.lab.machine import code_version
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxPasses, MaxSeconds, Rule
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

GAPS = (1e-2, 1e-3, 1e-4, 1e-8)
REPEATS = 7
SPARSE = ("newton-l1", "prox-lbfgs", "auto", "owlqn", "crfsuite")


class Case(NamedTuple):
    """A problem to run solvers on, and how."""

    name: str
    problem: Problem
    items: Any
    arguments: argparse.Namespace


class Curve(NamedTuple):
    """A run: a row of SECONDS, PASSES, VALUE for each step, and where it ended (empty: elsewhere)."""

    rows: np.ndarray
    weights: np.ndarray


SECONDS, PASSES, VALUE = range(3)


def curve_of(case: Case, label: str) -> Curve:
    """The run of `label` (a name, and options behind a colon), from its file if there is one."""
    penalty, code = f"{case.problem.c1:g}-{case.problem.c2:g}", code_of(label)
    file = Path(case.arguments.curves or "/nowhere") / f"{case.name}_{penalty}_{case.arguments.jobs}_{label}_{code}.npz"
    if file.is_file():
        with np.load(file) as kept:
            return Curve(kept["rows"], kept["weights"])
    curve = crfsuite(case) if label == "crfsuite" else run(case, label)
    if case.arguments.curves:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, **curve._asdict())
    return curve


def code_of(label: str) -> str:
    """The version of the code that makes the run: rows of other sources are not found again."""
    return version("python-crfsuite") if label == "crfsuite" else code_version(solver_of(label))


def solver_of(label: str) -> Solver:
    name, _, words = label.partition(":")
    options = dict(word.split("=") for word in words.split(",") if word)
    return make(name, **{option: literal(value) for option, value in options.items()})


def run(case: Case, label: str) -> Curve:
    solver = solver_of(label)
    warm_up(case.problem, solver)
    result = minimize(case.problem, solver, stop=limits(case.arguments))
    rows = [(row["seconds"], row["passes"], row["objective"]) for row in result.trace]
    return Curve(np.array(rows), result.weights)


def literal(word: str) -> Any:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"True": True, "False": False}.get(word, word)


def crfsuite(case: Case) -> Curve:
    """CRFsuite's own seconds, its evaluations and objectives, by iteration."""
    import peer  # needs python-crfsuite

    X, y = case.items
    penalty: dict[str, Any] = {"c1": case.problem.c1, "c2": case.problem.c2}
    found = peer.train(X, y, **penalty, max_iterations=case.arguments.iterations, epsilon=1e-7, delta=1e-7)
    rows = np.array([(float(row["time"]), float(row["linesearch_trials"]), float(row["loss"])) for row in found])
    rows[:, [SECONDS, PASSES]] = np.cumsum(rows[:, [SECONDS, PASSES]], axis=0)
    return Curve(rows, np.empty(0))


def limits(arguments: argparse.Namespace) -> list[Rule]:
    return [MaxSeconds(arguments.seconds), MaxPasses(arguments.passes)]


def reached(curve: Curve, goal: float) -> str:
    there = np.flatnonzero(curve.rows[:, VALUE] <= goal)
    if not len(there):
        return "not reached"
    seconds, passes = curve.rows[there[0], [SECONDS, PASSES]]
    return f"{seconds:.1f} s, {passes:.0f} passes, {there[0]} steps"


def best_of_turns(works: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least seconds of each, in turns, so that a busy minute is nobody's own."""
    best = dict.fromkeys(works, np.inf)
    for turn in range(REPEATS + 1):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            if turn:  # the first one compiles
                best[name] = min(best[name], time.perf_counter() - began)
    return best


def products(case: Case) -> Iterator[str]:
    problem = case.problem
    w, direction = np.random.default_rng(0).normal(0.0, 0.1, (2, problem.n_weights))
    points = {name: problem.curvature(kept) for name, kept in (("all", None), ("4000", 4000), ("none", 0))}
    works: dict[str, Callable[[], Any]] = {"gradient": lambda: problem.gradient(w)}
    for name, point in points.items():
        point.gradient(w)
        works[f"product, {name} kept"] = partial(point.product, direction)
    differentiated = problem.differentiated_curvature()
    differentiated.gradient(w)
    works["product, differentiated"] = lambda: differentiated.product(direction)
    works["gradient that keeps all"] = lambda: points["all"].gradient(w)
    seconds = best_of_turns(works)
    for name, spent in seconds.items():
        yield f"{name:28}{1e3 * spent:9.1f} ms{spent / seconds['gradient']:7.2f} gradients"


def sparse(case: Case) -> Iterator[str]:
    curves = {label: curve_of(case, label) for label in case.arguments.solvers or SPARSE}
    ends = {label: curve.rows[:, VALUE].min() for label, curve in curves.items()}
    lowest, first = min((end, label) for label, end in ends.items())
    best = min((label for label in ends if len(curves[label].weights)), key=ends.__getitem__, default=first)
    yield f"c1={case.problem.c1:g}, c2={case.problem.c2:g}: lowest objective {lowest:.6f}, of {first}"
    for label, curve in curves.items():
        words = "; ".join(f"{gap:g}: {reached(curve, lowest * (1.0 + gap))}" for gap in GAPS)
        end = f"ended {ends[label] / lowest - 1.0:.1e} above after {curve.rows[-1, PASSES]:.0f} passes"
        differing = (
            ""
            if not len(curve.weights)
            else (f", {int(((curve.weights == 0.0) != (curves[best].weights == 0.0)).sum())} zeros differ")
        )
        yield f"  {label:12} {words}; {end}{differing}"


PARTS: dict[str, Callable[[Case], Iterator[str]]] = {"products": products, "l1": sparse}


def penalties_of(part: str, arguments: argparse.Namespace) -> list[tuple[float, float]]:
    return arguments.penalties if part == "l1" else [(0.0, 0.5)]


def encode(name: str, share: float) -> tuple[Any, Corpus, FeatureMap]:
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    n = round(share * len(X))
    corpus, ids, labels = encode_training(X[:n], y[:n])
    return (X[:n], y[:n]), corpus, build_feature_map(corpus, len(ids), len(labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--sets", default="conll2000,conll2002-esp")
    parser.add_argument("--penalties", default="1:0,0.1:0.1", help="c1:c2, with commas between")
    parser.add_argument("--share", type=float, default=1.0, help="of the sentences")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of a run")
    parser.add_argument("--passes", type=float, default=1000.0, help="limit of a run")
    parser.add_argument("--iterations", type=int, default=600, help="limit of CRFsuite's")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--solvers", nargs="*", help="others, such as lbfgs:pairs=50,preconditioner=counts")
    parser.add_argument("--curves", help="folder where runs are kept and found again")
    arguments = parser.parse_args()
    arguments.penalties = [tuple(map(float, pair.split(":"))) for pair in arguments.penalties.split(",")]
    os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    for name in arguments.sets.split(","):
        items, corpus, features = encode(name, arguments.share)
        shape = f"{corpus.n_sequences} sequences, {features.n_labels} labels, {features.n_weights} weights"
        for part in arguments.only.split(","):
            print(f"\n{name}, {part} ({shape}, {arguments.jobs} threads)", flush=True)
            for c1, c2 in penalties_of(part, arguments):
                problem = Problem(corpus, features, c1, c2, arguments.jobs)
                for line in PARTS[part](Case(f"{name}-{arguments.share:g}", problem, items, arguments)):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
