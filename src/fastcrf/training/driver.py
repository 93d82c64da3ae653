"""Run a solver: the loop that every training shares.

`minimize` owns everything that solvers do not handle: the clock (it runs only inside `next(steps)`), the trace,
stopping criteria, watched scores, callbacks, the display and Ctrl-C.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from fastcrf.certificates.certificate import NOT_APPLICABLE, Certificate
from fastcrf.certificates.certifier import Certifier
from fastcrf.core.solver_state import check_state
from fastcrf.core.types import NOTHING, Diverged, Floats, Step
from fastcrf.objective.capabilities import AnyProblem, RunProblem
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import check
from fastcrf.stopping import Rule
from fastcrf.training.checkpoint import Checkpoint, Saved
from fastcrf.training.interrupts import Interrupt, catch_interrupt
from fastcrf.training.progress import Display, Silent
from fastcrf.training.trace import COLUMNS, ESTIMATE, EVALUATED, SPENT, Point, Row, Trace

Steps = Generator[Step, None, str | None]
Score = Callable[[Floats], float]
Callback = Callable[[Row], bool | None]


@dataclass(frozen=True)
class Result:
    """The outcome of a run. The caller owns the arrays.

    status: `converged` (a criterion of optimality was met), `stopped` (a limit), `requested` (a callback, or a held-out
        score that no longer improves), `finished` (the solver cannot improve further), `interrupted` (Ctrl-C) or
        `diverged` (weights are the last finite ones).
    """

    weights: Floats
    trace: Trace  # row 0 is the start, the last row is `weights`
    status: str
    reason: str  # a full sentence
    certificate: Certificate  # of `weights`; not applicable if the solver minimizes something else
    n_steps: int  # iterations after the start
    state: Mapping[str, Any] = field(repr=False)  # to resume exactly after the last step


def minimize(
    problem: RunProblem,
    solver: Solver,
    weights: Floats | None = None,
    *,
    state: Mapping[str, Any] | None = None,
    stop: Iterable[Rule] = (),
    watch: Mapping[str, Score] = NOTHING,
    best: str | None = None,
    callbacks: Iterable[Callback] = (),
    progress: Display | None = None,
    checkpoint: Checkpoint | None = None,
    measure: bool = False,
) -> Result:
    """Run `solver` on `problem` from `weights` (default: zeros) or from the `state` of an earlier run.

    watch: scores of the weights, by the name of their column in the trace (higher is better if a criterion compares);
    best: name of a watched score; the weights with its highest value are returned instead of the last ones;
    callbacks: each is called with every row; one that returns True ends the run;
    checkpoint: the file where the state is saved at intervals, and from which the run resumes if asked to;
    measure: evaluate the objective at every step, outside the solver's clock, even if no criterion reads it.
    """
    check(problem, solver)
    able = cast(AnyProblem, problem)  # `check` has verified the needs, and a checkpoint holds data only
    start = np.zeros(problem.n_weights) if weights is None else np.array(weights, dtype=np.float64)
    if start.shape != (problem.n_weights,):
        raise ValueError(
            f"The problem has {problem.n_weights} weights; got an array of shape {start.shape} to start from."
        )
    run = Run(problem, start, stop, watch, best, callbacks)
    run.checkpoint, run.measure = checkpoint, measure
    run.minimizes = solver.guarantee != "no objective"
    saved = checkpoint.open(able, solver, start) if checkpoint else None
    if checkpoint and saved:
        state = saved.state
        with checkpoint.as_checkpoint_error():
            run.restore(saved)
    elif state:
        check_state(solver.name, solver.state_fields, state, problem.n_weights)
    display = progress or Silent()
    reason = "The run was interrupted."
    display.start(solver.name, run.rules)
    try:
        with catch_interrupt() as interrupt, listening(problem, interrupt):
            with closing(cast(Steps, solver.iterate(able, start.copy(), state))) as steps:
                status, reason = run.follow(steps, interrupt, display)
            certificate = run.conclude()
    finally:
        display.finish(run.shown(run.trace[-1]) if run.trace else None, reason)
    return Result(run.weights, run.trace, status, reason, certificate, run.trace[-1]["step"], run.state)


@contextmanager
def listening(problem: RunProblem, interrupt: Interrupt) -> Iterator[None]:
    """Let solvers ask `problem.asked_to_stop()` between the slices of a long epoch."""
    problem.asked_to_stop = lambda: interrupt.asked
    try:
        yield
    finally:
        problem.asked_to_stop = lambda: False


class Ending(NamedTuple):
    """The status and the reason with which a run ends."""

    status: str
    reason: str


class Run:
    """The state of the loop."""

    def __init__(
        self,
        problem: RunProblem,
        start: Floats,
        stop: Iterable[Rule],
        watch: Mapping[str, Score],
        best: str | None,
        callbacks: Iterable[Callback],
    ) -> None:
        for name in watch:
            if name in COLUMNS:
                raise ValueError(f"A watched score may not be called {name!r}: every row has a column of that name.")
        if best is not None and best not in watch:
            raise ValueError(f"best={best!r} is not a watched score; watched are: {', '.join(watch) or 'none'}.")
        self.problem, self.watch, self.best, self.callbacks = problem, watch, best, tuple(callbacks)
        self.rules = sorted(stop, key=lambda rule: rule.status != "converged")  # before limits
        self.trace: Trace = []
        self.weights = start  # a copy of the newest finite weights
        self.best_weights, self.best_step, self.best_score = start, 0, -math.inf
        self.state: Mapping[str, Any] = NOTHING
        self.certifier = Certifier(problem)
        self.measure = False
        self.minimizes = True  # whether the objective is what the solver minimizes
        self.last: Point | None = None  # where the run ended, if the solver's arrays are still those of that step
        self.passes = self.seconds = 0.0
        self.began = time.perf_counter()
        self.checkpoint: Checkpoint | None = None
        self.resumed_row: Row | None = None  # the row at which a resumed run continues

    def follow(self, steps: Steps, interrupt: Interrupt, display: Display) -> Ending:
        """Take steps until a criterion, a callback, the solver or the user ends the run, and return the ending."""
        while True:
            step = self._next(steps)
            if isinstance(step, Ending):
                return step
            if self.resumed_row is not None and self.checkpoint is not None:
                objective, bound = self.resumed_row["objective"], self.certifier.lower_bound
                self.checkpoint.check(self.problem, step, self.weights, objective, bound)
            point = self._place(step)
            ending = self._judge(point)
            if ending is not None and ending.status == "diverged":
                return ending
            row = self._record(point)
            display.update(self.shown(row))
            asked = self._asked_to_stop(row, interrupt)
            ending = ending or asked
            self._save(step, at_the_end=ending is not None)
            if ending is not None:
                self.last, self.state = point, step.state
                return ending

    def _next(self, steps: Steps) -> Step | Ending:
        """Return the solver's next step. The solver's clock runs only here."""
        began = time.perf_counter()
        try:
            with self.checkpoint.as_checkpoint_error() if self.checkpoint and self.resumed_row else nullcontext():
                return next(steps)
        except StopIteration as end:
            return Ending("finished", end.value or "The solver cannot improve further.")
        except Diverged as failure:
            return Ending("diverged", str(failure))
        finally:
            self.seconds += time.perf_counter() - began

    def _place(self, step: Step) -> Point:
        self.passes += step.passes
        if not self.certifier.believing:
            step = step._replace(objective=None, gradient=None, lower_bound=None)
        wall = time.perf_counter() - self.began
        point = Point(self.problem, step, len(self.trace), self.passes, self.seconds, wall)
        point.certifier = self.certifier
        self.certifier.hear(step)
        if self.measure:
            _ = point.evaluation
        return point

    def _judge(self, point: Point) -> Ending | None:
        """Score the point and check the criteria; values that they evaluated must be finite as well."""
        ending = None
        if point.is_finite:
            if point.is_evaluated:
                self.certifier.learn(point)
            point.scores = {name: float(score(point.weights)) for name, score in self.watch.items()}
            reasons = ((rule, rule.reason(point, self.trace)) for rule in self.rules)
            ending = next((Ending(rule.status, reason) for rule, reason in reasons if reason), None)
        if not point.is_finite:
            return Ending("diverged", f"The objective or a weight is not finite at iteration {point.number}.")
        return ending

    def _record(self, point: Point) -> Row:
        """Copy the weights that may be returned, and add the row."""
        np.copyto(self.weights, point.weights)
        if self.best is not None and (point.scores[self.best] > self.best_score or not self.trace):
            self.best_weights, self.best_step = point.weights.copy(), point.number
            self.best_score = max(-math.inf, point.scores[self.best])  # -inf for a NaN, which any number beats
        self.trace.append(self.resumed_row or point.row())
        self.resumed_row = None
        return self.trace[-1]

    def _save(self, step: Step, at_the_end: bool) -> None:
        """Write a checkpoint if one is due, outside the solver's clock."""
        if self.checkpoint is None or not (at_the_end or self.checkpoint.is_due()):
            return
        numbers = {"passes": self.passes, "seconds": self.seconds, "wall": time.perf_counter() - self.began}
        best = {"best_step": self.best_step, "best_score": self.best_score}
        arrays = {"weights": self.weights, "best_weights": self.best_weights, **self.certifier.arrays()}
        more = {"certifier": self.certifier.numbers(), "trace": self.trace}
        self.checkpoint.write(Saved(step.state, arrays, {**numbers, **best, **more}))

    def restore(self, saved: Saved) -> None:
        """Resume from a checkpoint: the solver's first Step will be that of the last row, which is set aside for it."""
        numbers = saved.numbers
        *self.trace, self.resumed_row = numbers["trace"]
        self.passes, self.seconds = numbers["passes"], numbers["seconds"]
        self.began -= numbers["wall"]
        self.best_step, self.best_score = numbers["best_step"], numbers["best_score"]
        self.weights, self.best_weights = saved.arrays["weights"].copy(), saved.arrays["best_weights"].copy()
        self.certifier.restore(saved.arrays, numbers.get("certifier"))

    def shown(self, row: Row) -> Row:
        """Return the columns of a row that a display shows, without those that the solver reports of itself."""
        return {name: row[name] for name in (*COLUMNS, ESTIMATE, *self.watch) if name in row}

    def _asked_to_stop(self, row: Row, interrupt: Interrupt) -> Ending | None:
        asking = [callback for callback in self.callbacks if callback(row)]
        if interrupt.asked:
            return Ending("interrupted", f"Interrupted by Ctrl-C after iteration {row['step']}.")
        return Ending("requested", f"A callback returned True at iteration {row['step']}.") if asking else None

    def conclude(self) -> Certificate:
        """Choose the weights to return, complete their row (the last), and certify them, outside the clock."""
        if not self.trace:  # the solver diverged before its first step
            self.trace.append(self._place(Step(self.weights, passes=0.0)).row())
        elif self.best is not None and self.best_step < len(self.trace) - 1:
            self._restore_best()
        last = self.last or self._place(Step(self.weights, passes=0.0))
        if last.is_evaluated:
            self.certifier.mix(last)
        certificate = last.certificate if self.minimizes else NOT_APPLICABLE
        settled = last.row()
        self.trace[-1].update({name: settled[name] for name in EVALUATED})
        return certificate

    def _restore_best(self) -> None:
        """Return to the best weights: add a last row with their values and the cost of the entire run."""
        spent = {name: self.trace[-1][name] for name in SPENT}
        self.trace.append(self.trace[self.best_step] | spent | {"restored_step": self.best_step})
        self.weights, self.last = self.best_weights, None
