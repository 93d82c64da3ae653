"""Whether a saved state can be continued: looked at before a solver sees it, and once more at its first Step.

A file with a right checksum may still hold anything. So shapes, types and ranges are checked first, against what the
solver declares in `state_fields`; then the solver's first Step must be the one that was saved, and its objective and
gradient must be those of its weights.
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

CLOSE = 1e-7  # of the size of a number: two ways of evaluating it may differ by less

RUN = "the run"  # that a state is of, beside that of its solver
TIME = StateField(low=0.0)
ARRAYS = {"weights": WEIGHTS, "best_weights": WEIGHTS, **certifier.ARRAYS}
NUMBERS = {"passes": TIME, "seconds": TIME, "wall": TIME, "best_score": StateField(infinite=True)}


def check_restored(
    state: Mapping[str, Any], arrays: Mapping[str, Any], numbers: Mapping[str, Any], problem: RunProblem, solver: Solver
) -> None:
    """Raise a `StateMismatch` where the solver's memory or what the driver knew cannot be of this problem."""
    check_state(solver.name, solver.state_fields, state, problem.n_weights)
    check_state(RUN, ARRAYS, arrays, problem.n_weights)
    check_numbers(numbers)


def check_numbers(numbers: Mapping[str, Any]) -> None:
    """What the driver counted, and the rows so far."""
    trace, proved = numbers.get("trace"), numbers.get("certifier")
    if not isinstance(trace, list) or not trace:
        raise StateMismatch(RUN, "it has no rows")
    counted = {name: numbers[name] for name in numbers.keys() - {"trace", "certifier"}}
    best_step = StateField(dtype="int64", low=0, high=len(trace) - 1)
    check_state(RUN, {**NUMBERS, "best_step": best_step}, counted, 0)
    if proved is not None:
        if not isinstance(proved, Mapping):
            raise StateMismatch(RUN, f"what was proved is {proved!r}")
        check_state(RUN, certifier.NUMBERS, proved, 0)
    for i, row in enumerate(trace):
        if not isinstance(row, dict) or row.get("step") != i or not all(is_number(row.get(n, "")) for n in COLUMNS):
            raise StateMismatch(RUN, f"row {i} is not one that a run writes")


def is_number(value: Any) -> bool:
    """A number, infinite ones included, or None for what nobody asked for."""
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def check_first_step(
    problem: RunProblem, step: Step, weights: Floats, objective: float | None, lower_bound: float
) -> None:
    """Raise unless this Step is the saved one: its weights, and objective and gradient as one evaluation has them.

    lower_bound: what the run says to have proved; no objective can be below it.
    """
    if not np.array_equal(step.weights, weights):
        raise StateMismatch(RUN, "its weights are not those that its solver goes on from")
    value, gradient = evaluate(problem, weights)
    for claimed in (objective, step.objective):
        if claimed is not None and not math.isclose(claimed, value, rel_tol=CLOSE, abs_tol=CLOSE):
            raise StateMismatch(RUN, f"it says that the objective is {claimed:.10g}, and it is {value:.10g}")
    for bound in (lower_bound, -math.inf if step.lower_bound is None else step.lower_bound):
        if bound > value + CLOSE * max(1.0, abs(value)):
            raise StateMismatch(RUN, f"it says that no objective is below {bound:.10g}, and here it is {value:.10g}")
    if step.gradient is not None:
        error = np.abs(step.gradient - gradient).max(initial=0.0)
        if not error <= CLOSE * max(1.0, np.abs(gradient).max(initial=0.0), abs(value)):
            raise StateMismatch(RUN, f"its gradient differs from that of its weights by {error:.3g}")
