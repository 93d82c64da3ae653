"""What can be proved where there is an L1 penalty alone: the certified gap of `auto` beside the true one, by step.

    FASTCRF_DATA=folder python benchmarks/pure_l1.py [--sets conll2000,conll2002-ned] [--c1 1] [--steps 300]

The optimum is taken to be where the run ends; `still falling` says by how much F fell in its last tenth, relative to
F, and gaps below that mean nothing. `a fit` is where the default rules of CRF(c1=, c2=0) would have ended it.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.plan import Plan, make_plan
from fastcrf.objective.problem import Problem
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize

GAPS = (1e-2, 1e-3, 1e-4, 1e-5)


@dataclass(frozen=True)
class Watcher:
    """A rule that never fires: it writes down what is proved, and when the rules of a fit would have fired."""

    plan: Plan
    rows: list[tuple[int, float, float]] = field(default_factory=list)  # step, objective, lower bound
    ends: list[tuple[int, str]] = field(default_factory=list)
    status: ClassVar[str] = "stopped"
    exact: ClassVar[bool] = True

    def reason(self, point: Any, history: Any) -> str | None:
        if not self.ends:
            reasons = (rule.reason(point, history) for rule in self.plan.stop)
            self.ends.extend((point.number, reason) for reason in reasons if reason)
        assert point.certifier is not None
        self.rows.append((point.number, point.objective, point.certifier.lower_bound))
        return None


def encoded(name: str, c1: float) -> Problem:
    X, y = load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)
    corpus, attributes, labels = encode_training(X, y)
    return Problem(corpus, build_feature_map(corpus, len(attributes), len(labels)), c1, 0.0, n_jobs=2)


def show(name: str, c1: float, steps: int) -> None:
    watcher = Watcher(make_plan(c1=c1, c2=0.0))
    result = minimize(encoded(name, c1), watcher.plan.solver, stop=[watcher, MaxIterations(steps)])
    lowest = result.trace[-1]["objective"]
    before = watcher.rows[-1 - len(watcher.rows) // 10][1]
    print(f"{name}, c1={c1:g}: F={lowest:.3f}, still falling by {before / lowest - 1:.0e}")
    print("| true gap | step | certified gap |\n|--:|--:|--:|")
    for gap in GAPS:
        row = next((row for row in watcher.rows if row[1] <= lowest * (1 + gap)), None)
        print(f"| {gap:.0e} | - | - |" if row is None else f"| {gap:.0e} | {row[0]} | {certified(row):.1e} |")
    print(f"after {result.n_steps} steps {certified(watcher.rows[-1]):.1e} is certified")
    if watcher.ends:
        step, reason = watcher.ends[0]
        objective = watcher.rows[step][1]
        print(f"a fit ends at step {step}, truly within {objective / lowest - 1:.1e}: {reason}")


def certified(row: tuple[int, float, float]) -> float:
    _, objective, bound = row
    return (objective - bound) / bound if bound > 0.0 else math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="conll2000,conll2002-ned")
    parser.add_argument("--c1", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=300)
    given: Any = parser.parse_args()
    for name in given.sets.split(","):
        show(name, given.c1, given.steps)


if __name__ == "__main__":
    main()
