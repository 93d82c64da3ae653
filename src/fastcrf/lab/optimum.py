"""The best known optimum of an objective, and how well it is known.

F* lies between the best lower bound that any certificate gave and the lowest objective that any run saw. The runs that
are compared often pin it down by themselves; if not, a quasi-Newton run goes on from their best weights until the
certified gap is small enough or it gives up. What was found is kept, and only ever gets better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from fastcrf.core.types import Floats
from fastcrf.fitting.solver_choice import quasi_newton
from fastcrf.lab.experiment import Objective
from fastcrf.lab.l1_polishing import polish
from fastcrf.lab.resumable_run import minimize_resumably
from fastcrf.lab.store import Row, Rows, Store
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxPasses

MAX_PASSES = 1000.0  # then it gives up; without an L2 penalty that may well happen
ROUNDS = 5  # of OWL-QN and faces
PAIRS = 20  # curvature pairs: more than the solvers' default, since every digit counts here


class Optimum(NamedTuple):
    """lower_bound <= F* <= value."""

    value: float
    lower_bound: float = -math.inf

    @property
    def accuracy(self) -> float:
        """The certified relative gap: smaller distances to the optimum cannot be told from zero."""
        width = max(self.value - self.lower_bound, 0.0)
        return width / self.lower_bound if self.lower_bound > 0 else math.inf

    def facts(self, objective: float | None) -> dict[str, float | None]:
        """What a row says of its distance to the optimum."""
        if math.isinf(self.value):
            return dict.fromkeys(("optimum", "accuracy", "suboptimality"))
        distance = None if objective is None else max(objective - self.value, 0.0) / abs(self.value)
        known = math.isfinite(self.accuracy)
        return {"optimum": self.value, "accuracy": self.accuracy if known else None, "suboptimality": distance}

    def meets(self, tol: float) -> bool:
        return self.accuracy <= tol

    def joined(self, other: Optimum) -> Optimum:
        """What is known when both are."""
        return Optimum(min(self.value, other.value), max(self.lower_bound, other.lower_bound))


UNKNOWN = Optimum(math.inf)


def find_optimum(
    objective: Objective, rows: Rows, store: Store, tol: float, n_jobs: int, say: Callable[[str], None]
) -> Optimum:
    """The optimum to a certified relative gap of `tol`, if that can be had; kept for the next time."""
    kept = store.best(objective.key)
    known = Optimum(kept["value"], kept["lower_bound"] or -math.inf) if kept else UNKNOWN
    seen = known.joined(best_of(rows))
    if math.isinf(seen.value):  # nothing ran
        return seen
    given_up = bool(kept) and kept["tried"] <= tol and seen.value >= known.value
    if seen.meets(tol) or given_up:
        if seen != known:
            keep(store, objective, seen, tol, best_weights(rows, store, objective))
        return seen
    say(f"{objective.dataset.name}: looking for the optimum (known to {seen.accuracy:.1g} so far, wanted {tol:.1g}).")
    found, weights = search(objective, store, best_weights(rows, store, objective), tol, n_jobs)
    found = seen.joined(found)
    keep(store, objective, found, tol, weights)
    return found


def best_of(rows: Rows) -> Optimum:
    """What the rows of some runs prove together."""
    known = UNKNOWN
    for row in rows:
        if row["objective"] is not None:
            bound = -math.inf if row["gap"] is None else row["objective"] - row["gap"]
            known = known.joined(Optimum(row["objective"], bound))
    return known


def best_weights(rows: Rows, store: Store, objective: Objective) -> Floats | None:
    """The weights with the lowest objective at the end of a run, or of an earlier search; None for no run at all."""
    ends: dict[str, Row] = {row["run"]: row for row in rows if row["objective"] is not None}
    ranked = sorted((row["objective"], run) for run, row in ends.items())
    kept = store.best(objective.key)
    if kept and not (ranked and ranked[0][0] < kept["value"]):
        return store.weights(f"{objective.key}.best")
    return store.weights(ranked[0][1]) if ranked else None


def search(objective: Objective, store: Store, start: Floats | None, tol: float, n_jobs: int) -> tuple[Optimum, Floats]:
    """Quasi-Newton to the wanted accuracy, or as far as it comes; with an L1 penalty, faces in turn with OWL-QN."""
    problem, path = objective.problem(n_jobs), store.state(f"{objective.key}.best")
    sparse = problem.c1 > 0
    solver = make(quasi_newton(problem.c1), pairs=PAIRS)
    found, weights = UNKNOWN, start
    for _ in range(ROUNDS if sparse else 1):
        rules = [CertifiedGap(tol), MaxPasses(MAX_PASSES / ROUNDS if sparse else MAX_PASSES)]
        result = minimize_resumably(problem, solver, path, weights=weights, stop=rules)
        weights, certificate = result.weights, result.certificate
        if sparse and certificate.relative_gap > tol:
            weights, certificate = polish(problem, weights, tol)
        found = found.joined(Optimum(certificate.objective, certificate.lower_bound))
        path.unlink(missing_ok=True)
        if found.meets(tol):
            break
    assert weights is not None
    return found, weights


def keep(store: Store, objective: Objective, found: Optimum, tol: float, weights: Floats | None) -> None:
    facts = {"value": found.value, "lower_bound": found.lower_bound, "accuracy": found.accuracy, "tried": tol}
    if weights is not None:
        store.keep_best(objective.key, facts, weights)
