"""Tune step sizes by whole runs, as papers do: train with each candidate for many epochs, and choose the best.

    full        eta among powers of ten (Schmidt et al. 2015, section 6: "we let these methods cheat")
    tsuruoka    eta of {1, 0.5, 0.2, 0.1}; then, for exponential step sizes, decay of {0.9, 0.85, 0.8} with that eta
                (Tsuruoka et al. 2009, section 4.1)

The score is the training objective at the end, of the weights that the solver would report. Trials belong to the first
epoch, as short ones do: their passes and seconds count, but they are not iterations. Ctrl-C ends them with a Step whose
state has the scores so far.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np

from fastcrf.core.types import Diverged, Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.sgd.calibration import POWERS_OF_TEN
from fastcrf.solvers.sgd.run import Descent, Run
from fastcrf.solvers.sgd.schedules import Schedule

GRIDS: Mapping[str, tuple[tuple[str, tuple[float, ...]], ...]] = {
    "full": (("eta", POWERS_OF_TEN),),
    "tsuruoka": (("eta", (1.0, 0.5, 0.2, 0.1)), ("decay", (0.9, 0.85, 0.8))),
}


class Tunable(Protocol):
    """A solver whose options can be tuned by whole runs (options.py)."""

    @property
    def eta(self) -> float | None: ...
    @property
    def calibration(self) -> str: ...
    @property
    def calibration_passes(self) -> int: ...
    @property
    def tunable(self) -> frozenset[str]: ...
    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> Descent: ...
    def rates(self, descent: Descent, eta: float) -> Schedule: ...
    def reported(self, step: Step) -> Step: ...


S = TypeVar("S", bound=Tunable)


def tune(solver: S, run: Run) -> Generator[Step, None, S]:
    """Return the solver with the best options; yield a Step if asked to stop. The run does not change."""
    done = 0
    for option, values in GRIDS[solver.calibration]:
        if option not in solver.tunable:
            continue
        candidates = [replace(solver, **{option: value}) for value in values]  # type: ignore[type-var]
        for candidate in candidates[max(0, len(run.scores) - done) :]:
            while (score := score_of(candidate, run)) is None:
                yield run.step()
            run.scores.append(score)
        best = int(np.argmin(run.scores[done : done + len(candidates)]))
        solver, done = candidates[best], done + len(candidates)
    return solver


def score_of(candidate: Tunable, run: Run) -> float | None:
    """Return the objective after a whole run from the state of `run`; infinity if it diverges, None if asked to
    stop.
    """
    problem, state, passes = run.problem, run.state(), 0.0
    descent = candidate.descent(problem, run.descent.weights.copy(), state)
    trial = Run(run.name, problem, state, descent, seed=run.seed)
    try:
        for _ in range(candidate.calibration_passes):
            step = trial.run_epoch(candidate.rates(descent, candidate.eta or math.nan))
            passes += step.passes
            if problem.asked_to_stop():
                return None
        passes += 1.0
        score = problem.value(candidate.reported(step).weights)
        return score if math.isfinite(score) else math.inf
    except Diverged:
        return math.inf
    finally:
        run.descent.evaluations += round(passes * problem.n_sequences)
