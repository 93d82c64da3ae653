"""Validate a saved state, before a solver uses it and again at the solver's first Step.

A file with a correct checksum may still hold anything. Shapes, types and ranges are checked first, against the solver's
`state_fields`. Then the solver's first Step must equal the saved one, and its objective and gradient must be those of
its weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.certificates import certifier
from fastcrf.core.solver_state import WEIGHTS, StateField, StateMismatch, check_state
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import RunProblem
from fastcrf.objective.evaluation import evaluate
from fastcrf.solvers.contract import Solver
from fastcrf.training.trace import COLUMNS

CLOSE = 1e-7  # relative tolerance: two ways of evaluating a number differ by less

RUN = "the run"  # the other part of a saved state, next to the solver's
TIME = StateField(low=0.0)
ARRAYS = {"weights": WEIGHTS, "best_weights": WEIGHTS, **certifier.ARRAYS}
NUMBERS = {"passes": TIME, "seconds": TIME, "wall": TIME, "best_score": StateField(infinite=True)}


def check_restored(
    state: Mapping[str, Any], arrays: Mapping[str, Any], numbers: Mapping[str, Any], problem: RunProblem, solver: Solver
) -> None:
    """Raise `StateMismatch` if the state of the solver or of the driver is not valid for this problem."""
    check_state(solver.name, solver.state_fields, state, problem.n_weights)
    check_state(RUN, ARRAYS, arrays, problem.n_weights)
    check_numbers(numbers)


def check_numbers(numbers: Mapping[str, Any]) -> None:
    """Check the driver's counters and the rows so far."""
    trace, proved = numbers.get("trace"), numbers.get("certifier")
    if not isinstance(trace, list) or not trace:
        raise StateMismatch(RUN, "it has no rows")
    counted = {name: numbers[name] for name in numbers.keys() - {"trace", "certifier"}}
    best_step = StateField(dtype="int64", low=0, high=len(trace) - 1)
    check_state(RUN, {**NUMBERS, "best_step": best_step}, counted, 0)
    if proved is not None:
        if not isinstance(proved, Mapping):
            raise StateMismatch(RUN, f"its certificate is {proved!r}")
        check_state(RUN, certifier.NUMBERS, proved, 0)
    for i, row in enumerate(trace):
        if not isinstance(row, dict) or row.get("step") != i or not all(is_number(row.get(n, "")) for n in COLUMNS):
            raise StateMismatch(RUN, f"row {i} is not valid")


def is_number(value: Any) -> bool:
    """Return whether `value` is a number (infinite ones included), or None for what was not evaluated."""
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def check_first_step(
    problem: RunProblem, step: Step, weights: Floats, objective: float | None, lower_bound: float
) -> None:
    """Raise unless this Step is the saved one, with the objective and gradient of an evaluation.

    lower_bound: the bound that the run claims; no objective can be below it.
    """
    if not np.array_equal(step.weights, weights):
        raise StateMismatch(RUN, "its weights are not those of its solver")
    value, gradient = evaluate(problem, weights)
    for claimed in (objective, step.objective):
        if claimed is not None and not math.isclose(claimed, value, rel_tol=CLOSE, abs_tol=CLOSE):
            raise StateMismatch(RUN, f"its objective is {claimed:.10g}, but evaluating its weights gives {value:.10g}")
    for bound in (lower_bound, -math.inf if step.lower_bound is None else step.lower_bound):
        if bound > value + CLOSE * max(1.0, abs(value)):
            raise StateMismatch(RUN, f"its lower bound is {bound:.10g}, above the objective {value:.10g}")
    if step.gradient is not None:
        error = np.abs(step.gradient - gradient).max(initial=0.0)
        if not error <= CLOSE * max(1.0, np.abs(gradient).max(initial=0.0), abs(value)):
            raise StateMismatch(RUN, f"its gradient differs from that of its weights by {error:.3g}")
