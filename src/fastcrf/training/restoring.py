"""Whether a saved state can be continued: looked at before a solver sees it, and once more at its first Step.

A file with a right checksum may still hold anything. So shapes, types and ranges are checked first; then the solver's
first Step must be the one that was saved, and its objective and gradient must be those of its weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.memory_contract import Declared, MemoryMismatch, Sizes, check_memory
from fastcrf.parts.line_search import evaluate
from fastcrf.training.trace import COLUMNS
from fastcrf.types import Floats, Solver, Step

CLOSE = 1e-7  # of the size of a number: two ways of evaluating it may differ by less

QUASI_NEWTON = (
    Declared("weights", ("weights",)),
    Declared("gradient", ("weights",)),
    Declared("value"),
    Declared("basis", ("rows", "weights")),
    Declared("gram", ("rows", "rows")),
    Declared("order", ("pairs",), np.int64, low=0, high="slots", distinct=True),
)
WEIGHTS = (Declared("weights", ("weights",)), Declared("best_weights", ("weights",)))
TOTALS = ("passes", "seconds", "wall")


def check_restored(
    memory: Mapping[str, Any], arrays: Mapping[str, Any], numbers: Mapping[str, Any], problem: Any, solver: Solver
) -> None:
    """Raise a `MemoryMismatch` where the solver's memory or what the driver knew cannot be of this problem."""
    sizes: Sizes = {"weights": problem.n_weights}
    check_memory(WEIGHTS, arrays, sizes)
    check_numbers(numbers)
    if solver.name in ("lbfgs", "owlqn"):
        check_memory(QUASI_NEWTON, memory, {**sizes, **pair_sizes(memory, solver)})
    elif "weights" in memory:
        check_memory(WEIGHTS[:1], {"weights": memory["weights"]}, sizes)


def pair_sizes(memory: Mapping[str, Any], solver: Any) -> Sizes:
    """How many curvature pairs there may be, and the slots of those that there are."""
    slots = np.size(memory.get("gram"), 0) // 2 if np.ndim(memory.get("gram")) else 0  # type: ignore[arg-type]
    return {"rows": range(0, 2 * int(solver.memory) + 1, 2), "pairs": range(slots + 1), "slots": slots}


def check_numbers(numbers: Mapping[str, Any]) -> None:
    """What the driver counted, and the rows so far."""
    trace = numbers.get("trace")
    if not isinstance(trace, list) or not trace:
        raise MemoryMismatch("it has no rows")
    totals = [Declared(name, low=0.0) for name in TOTALS]
    best = Declared("best_step", (), np.int64, low=0, high="rows")
    check_memory(
        [*totals, best],
        {name: numbers[name] for name in numbers.keys() - {"trace", "best_score"}},
        {"rows": len(trace)},
    )
    if not is_number(numbers.get("best_score", "missing")) or numbers["best_score"] is None:
        raise MemoryMismatch(f"its best score is {numbers.get('best_score')!r}")
    for i, row in enumerate(trace):
        if (
            not isinstance(row, dict)
            or row.get("step") != i
            or not all(is_number(row.get(name, "")) for name in COLUMNS)
        ):
            raise MemoryMismatch(f"row {i} is not one that a run writes")


def is_number(value: Any) -> bool:
    """A number, infinite ones included, or None for what nobody asked for."""
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def check_first_step(problem: Any, step: Step, weights: Floats, objective: float | None) -> None:
    """Raise unless this Step is the saved one: its weights, and objective and gradient as one evaluation has them."""
    if not np.array_equal(step.weights, weights):
        raise MemoryMismatch("its weights are not those that its solver goes on from")
    value, gradient = evaluate(problem, weights)
    for claimed in (objective, step.objective):
        if claimed is not None and not math.isclose(claimed, value, rel_tol=CLOSE, abs_tol=CLOSE):
            raise MemoryMismatch(f"it says that the objective is {claimed:.10g}, and it is {value:.10g}")
    if step.gradient is not None:
        error = np.abs(step.gradient - gradient).max(initial=0.0)
        if not error <= CLOSE * max(1.0, np.abs(gradient).max(initial=0.0), abs(value)):
            raise MemoryMismatch(f"its gradient differs from that of its weights by {error:.3g}")
