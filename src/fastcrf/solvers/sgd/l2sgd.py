"""CRFsuite's l2sgd: stochastic gradient descent that calibrates its step size and returns its best epoch.

Okazaki (2007), "CRFsuite: a fast implementation of conditional random fields", train_l2sgd.c, after Shalev-Shwartz,
Singer & Srebro (2007), "Pegasos: primal estimated sub-gradient solver for SVM", ICML, and Bottou's crfsgd.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    eta <- the best of some short runs on a sample           (calibration.py, recipe "crfsuite")
    t <- 0, t0 <- 1 / (lambda eta)
    repeat
        F <- 0
        for each sequence i in random order
            a <- 1 / (lambda (t0 + t));   t <- t + 1
            w <- (1 - a lambda) w                            (the gradient is that after shrinking)
            F <- F + nll_i(w);   w <- w - a grad nll_i(w)
        F <- F + n lambda/2 |w|^2                            the online objective
        store w if F is the lowest so far

A Step is one epoch; its weights are those of the best epoch so far, which CRFsuite would return if it stopped there.
CRFsuite's stopping criterion (period and delta) compares online objectives; here it is
`fastcrf.stopping.RelativeDecrease`.

Differs from CRFsuite: CRFsuite shuffles with the C library's rand(); a nonzero start is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import WEIGHTS, StateField
from fastcrf.core.types import NOTHING, Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_positive, check_seed, check_whole, seed_of
from fastcrf.solvers.sgd import run
from fastcrf.solvers.sgd.calibration import calibrate
from fastcrf.solvers.sgd.run import Run, start_of
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from fastcrf.solvers.sgd.schedules import Bottou

BEST = {"best_weights": WEIGHTS, "best_objective": StateField(infinite=True)}


@solver
class L2SGD:
    """Train as CRFsuite's l2sgd does: SGD with its calibration and its schedule.

    Parameters
    ----------
    calibration_eta
        Step size of the first trial.
    calibration_rate
        Factor between the step sizes of two trials.
    calibration_samples
        Sequences of a trial.
    calibration_candidates
        Trials that must lower the objective, for larger step sizes and for smaller ones.
    calibration_max_trials
        Limit on trials.
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "l2sgd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | BEST

    calibration_eta: float = 0.1
    calibration_rate: float = 2.0
    calibration_samples: int = 1000
    calibration_candidates: int = 10
    calibration_max_trials: int = 20
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_positive(self.name, "calibration_eta", self.calibration_eta)
        check_positive(self.name, "calibration_rate", self.calibration_rate)
        check_whole(self.name, "calibration_samples", self.calibration_samples, 1)
        check_whole(self.name, "calibration_candidates", self.calibration_candidates, 1)
        check_whole(self.name, "calibration_max_trials", self.calibration_max_trials, 1)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        descent = ScaledDescent(problem, start_of(weights, state), batch_size=1, shrink_first=True)
        run = Run(self.name, problem, state, descent, seed=seed_of(self), steps=self.steps_per_epoch)
        best = BestEpoch(descent.weights, state or NOTHING)
        yield best.of(run.step())
        run.eta = run.eta or self._calibrate(run)
        while True:
            yield best.of(run.run_epoch(Bottou(run.eta, run.descent.lam)))

    def _calibrate(self, run: Run) -> float:
        return calibrate(
            run,
            "crfsuite",
            lambda eta: Bottou(eta, run.descent.lam),
            self.calibration_samples,
            first=self.calibration_eta,
            rate=self.calibration_rate,
            candidates=self.calibration_candidates,
            max_trials=self.calibration_max_trials,
        )


class BestEpoch:
    """The weights of the epoch with the lowest online objective; before the end of the first epoch, the start."""

    def __init__(self, weights: Floats, state: Mapping[str, Any]) -> None:
        self.weights = np.array(state.get("best_weights", weights))
        self.objective = float(state.get("best_objective", math.inf))

    def of(self, step: Step) -> Step:
        """Return the step with the best weights so far in place of its own."""
        objective = step.info.get("online_objective", math.inf)
        if objective < self.objective:
            self.objective = objective
            self.weights[:] = step.weights
        best = {"best_weights": self.weights, "best_objective": self.objective}
        return step._replace(weights=self.weights, state={**step.state, **best})
