"""From an estimator's parameters to what a run needs: a solver, a penalty and stopping rules.

Training ends when the first rule is met: `tol` is certified, a rule of `stopping`, or a limit. Where nothing useful can
be certified, that is for c2 = 0 and for solvers that minimize no objective, `RelativeDecrease(tol / 100)` applies too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastcrf.core.checks import at_least, one_of, seed_of, whole
from fastcrf.fitting.solver_choice import solver_for
from fastcrf.solvers.contract import Policy, Solver
from fastcrf.solvers.registry import check_penalty
from fastcrf.stopping import (
    CertifiedGap,
    EarlyStopping,
    GradientNorm,
    MaxIterations,
    MaxSeconds,
    RelativeDecrease,
    Rule,
)

DEFAULT_TOL = 1e-3
FALLBACK = 100  # where nothing can be certified, a relative decrease of tol / FALLBACK in 10 iterations ends training
SCORES = ("accuracy", "segment_f1")  # on held-out data


class Plan(NamedTuple):
    """How to train."""

    solver: Solver
    c1: float = 0.0
    c2: float = 1.0
    stop: tuple[Rule, ...] = ()
    tol: float | None = None  # the certified relative gap that is the goal, if there is one

    @property
    def has_goal(self) -> bool:
        """Whether a rule measures convergence. A run without one ends at a limit as planned."""
        return any(rule.status == "converged" for rule in self.stop)

    @property
    def early_stopping(self) -> EarlyStopping | None:
        """The rule that reads held-out scores, if there is one."""
        return next((rule for rule in self.stop if isinstance(rule, EarlyStopping)), None)


def make_plan(
    algorithm: str | Solver = "auto",
    *,
    c1: float = 0.0,
    c2: float = 1.0,
    tol: float | None = DEFAULT_TOL,
    max_iterations: int | None = 1000,
    max_seconds: float | None = None,
    stopping: Sequence[Rule] = (),
    random_state: Any = 0,
    engine: str | None = None,
) -> Plan:
    """Plan a run for parameters of `CRF`. Raise ValueError, before any data are read, if they do not fit together."""
    c1, c2 = at_least("c1", c1, 0.0), at_least("c2", c2, 0.0)
    solver = solver_for(algorithm, c1, c2, seed_of(random_state))
    check_penalty(solver, c1, c2)
    if engine is not None and isinstance(solver, Policy):
        solver = solver.for_shards(c1)
    rules = checked_rules(stopping, solver)
    goals = goals_for(solver, c2, None if tol is None else at_least("tol", tol, 0.0), rules)
    limits: list[Rule] = [] if max_iterations is None else [MaxIterations(whole("max_iterations", max_iterations, 1))]
    if max_seconds is not None:
        limits.append(MaxSeconds(max_seconds))
    stop = (*goals, *rules, *limits)
    if not stop:
        raise ValueError("Training would never end: set tol, max_iterations, max_seconds or stopping.")
    if isinstance(solver, Policy):
        solver = solver.with_target(None if any(rule.exact for rule in stop) else tol)
    return Plan(solver, c1, c2, stop, tol)


def goals_for(solver: Solver, c2: float, tol: float | None, rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules that `tol` stands for: a certified gap, and the fallback where it is needed."""
    if tol is None:
        return []
    minimizes = solver.guarantee != "no objective"
    goals: list[Rule] = [CertifiedGap(tol)] if minimizes else []
    replaced = any(isinstance(rule, GradientNorm | RelativeDecrease) for rule in rules)
    if not replaced and not (minimizes and c2 > 0.0):
        goals.append(RelativeDecrease(tol / FALLBACK))
    return goals


def without_certificate(plan: Plan) -> Plan:
    """Return the plan for an objective that is not convex: the fallback takes the place of the certified gap."""
    if not any(isinstance(rule, CertifiedGap) for rule in plan.stop):
        return plan
    others = [rule for rule in plan.stop if not isinstance(rule, CertifiedGap)]
    if plan.tol is not None and not any(isinstance(rule, GradientNorm | RelativeDecrease) for rule in others):
        others.insert(0, RelativeDecrease(plan.tol / FALLBACK))
    return plan._replace(stop=tuple(others))


def checked_rules(stopping: Any, solver: Solver) -> tuple[Rule, ...]:
    """Return the user's rules as a tuple, if each is a rule that makes sense for the solver."""
    if isinstance(stopping, Rule) and not isinstance(stopping, type):
        raise ValueError(f"stopping must be a sequence of rules; write stopping=[{stopping!r}].")
    rules = tuple(stopping) if isinstance(stopping, Sequence) and not isinstance(stopping, str) else (stopping,)
    for rule in rules:
        if isinstance(rule, type) or not isinstance(rule, Rule):
            raise ValueError(f"stopping must be a sequence of rules of fastcrf.stopping; got stopping={stopping!r}.")
        if isinstance(rule, GradientNorm | CertifiedGap) and solver.guarantee == "no objective":
            raise ValueError(f"{solver.name} does not minimize the objective; remove {rule!r} from stopping.")
        if isinstance(rule, EarlyStopping):
            one_of("EarlyStopping's score", rule.score, SCORES)
    return rules


def check_held_out(plan: Plan, has_dev: bool) -> None:
    """Raise ValueError if a rule reads held-out scores and there are no held-out data."""
    if plan.early_stopping and not has_dev:
        raise ValueError(
            f"stopping=[{plan.early_stopping!r}] requires held-out data; pass X_dev and y_dev to fit, or remove it."
        )
