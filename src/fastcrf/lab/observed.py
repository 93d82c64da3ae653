"""A solver as the lab observes it: its CPU time is counted, and only the Steps at certain marks are shown.

Marks are effective passes. They belong to the run and not to the options of a solver: a solver takes as many Steps an
epoch as the closest marks need, and what lies between two marks is one Step to everybody else, who therefore evaluate
and score nothing there. A Step of a stochastic solver settles all weights, so once all marks ahead are whole passes the
solver continues, from its state, with one Step an epoch.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import AnyProblem
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import changed
from fastcrf.training.trace import Row

CPU = "cpu_seconds"  # of the solver, all threads together: in a Step since the one before, in a row since the start
PASSES = "observed_passes"  # in the state: how far the run is between two marks
STEPS = "steps_per_epoch"  # the option of solvers that can show the course of an epoch
MOST_STEPS = 100
SLACK = 1e-9  # passes are sums of fractions


@dataclass(frozen=True)
class Observed:
    """Run `solver`, and let the Steps through that reach a mark. Without marks, all."""

    solver: Solver
    marks: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return self.solver.name

    @property
    def needs(self) -> frozenset[str]:
        return self.solver.needs

    @property
    def handles(self) -> frozenset[str]:
        return self.solver.handles

    @property
    def guarantee(self) -> str:
        return self.solver.guarantee

    @property
    def state_fields(self) -> Mapping[str, Any]:
        return {**self.solver.state_fields, PASSES: StateField(low=0.0)}

    def iterate(self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None = None) -> Iterator[Step]:
        own = {name: value for name, value in state.items() if name != PASSES} if state else None
        passes, unshown, cpu, first = float(state[PASSES]) if state else 0.0, 0.0, 0.0, True
        solver = with_steps(self.solver, self.marks, passes)
        steps = solver.iterate(problem, weights, own)
        while True:
            before = time.process_time()
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            cpu += time.process_time() - before
            passes, unshown = passes + step.passes, unshown + step.passes
            if first or reaches(self.marks, passes - unshown, passes) or problem.asked_to_stop():
                memory = {**step.state, PASSES: passes}
                yield step._replace(passes=unshown, info={**step.info, CPU: cpu}, state=memory)
                unshown, cpu, first = 0.0, 0.0, False
                calmer = with_steps(self.solver, self.marks, passes)
                if calmer != solver:
                    solver, steps = calmer, calmer.iterate(problem, step.weights.copy(), step.state)
                    next(steps)  # the same Step again


def reaches(marks: Sequence[float], before: float, now: float) -> bool:
    """Whether a mark lies above `before`, and not above `now`. Beyond the last mark every Step counts."""
    return not marks or now > marks[-1] or any(before + SLACK < mark <= now + SLACK for mark in marks)


def with_steps(solver: Solver, marks: Sequence[float], passes: float = 0.0) -> Solver:
    """The solver with as many Steps an epoch as the closest marks need, one if all marks after `passes` are whole."""
    fields = {field.name for field in dataclasses.fields(solver)}  # type: ignore[arg-type]
    gaps = [after - before for before, after in pairwise((0.0, *marks))]
    if STEPS not in fields or not gaps:
        return solver
    whole = all(mark == round(mark) for mark in marks if mark > passes + SLACK)
    wanted = 1 if whole else min(MOST_STEPS, math.ceil(1.0 / min(gaps) - SLACK))
    return changed(solver, **{STEPS: max(1, wanted)})


def with_cumulative_cpu(rows: Sequence[Row]) -> list[Row]:
    """Rows whose CPU seconds are those since the start."""
    spent = accumulate(row.get(CPU) or 0.0 for row in rows)
    return [{**row, CPU: total} for row, total in zip(rows, spent, strict=True)]
