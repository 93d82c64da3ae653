"""Calibrate the first step size: try some on short runs, and choose the best one.

The caller defines a trial (sequences, schedule, score): `trial(eta)` is the score of a short run, lower is better, and
`start` the score before it. Trials that end in NaN or infinity are never chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fastcrf.solvers.sgd import calibration
from fastcrf.solvers.sgd.run import Run
from fastcrf.solvers.sgd.schedules import Constant, Schedule
from fastcrf.stochastic.sampling import epoch_uniforms

Scored = Callable[[float], float]

POWERS_OF_TEN = tuple(10.0**k for k in range(2, -6, -1))  # Schmidt et al. (2015) choose among powers of ten
TSUBOI = (0.5, 0.1, 0.05, 0.01)  # Tsuboi et al. (2011), section 5
ENOUGH = 60  # limit on the trials of Bottou's search, which has none; rates then differ by 2^60


def best_of(trial: Scored, etas: Iterable[float]) -> float:
    """Return the step size with the lowest score; the first one if no score is finite."""
    scores = {eta: trial(eta) for eta in etas}
    return min(scores, key=lambda eta: scores[eta] if math.isfinite(scores[eta]) else math.inf)


def bottou(trial: Scored, start: float) -> float:
    """Search as Bottou's crfsgd does: half the step size with the lowest score, "to be on the safe side"."""
    best, score = up_then_down(trial, start, first=0.1, rate=2.0, candidates=10, most=ENOUGH, renewed=False)
    return (best if score < start else 1.0) / 2.0  # crfsgd begins with 1 as the best, before any trial


def crfsuite(
    trial: Scored, start: float, first: float = 0.1, rate: float = 2.0, candidates: int = 10, max_trials: int = 20
) -> float:
    """Search as CRFsuite's l2sgd does, whose count of trials begins at 1 and therefore ends one early."""
    return up_then_down(trial, start, first, rate, candidates, most=max(1, max_trials - 1), renewed=True)[0]


def up_then_down(
    trial: Scored, start: float, first: float, rate: float, candidates: int, most: int, renewed: bool
) -> tuple[float, float]:
    """Return the step size with the lowest score, and that score.

    It tries first, first * rate, ... while they improve on `start`; then first / rate, ... until enough candidates did.
    With `renewed` the count of candidates also ends the increasing trials, and restarts for the decreasing ones.
    """
    best, lowest = first, math.inf
    eta, rising, left = first, True, candidates
    for _ in range(most):
        score = trial(eta)
        better = score < start
        left -= better
        if score < lowest:
            best, lowest = eta, score
        if rising and better and (left > 0 or not renewed):
            eta *= rate
            continue
        if rising:
            eta, rising, left = first, False, candidates if renewed else left
        eta /= rate
        if left <= 0:
            break
    return best, lowest


Rates = Callable[[float], Schedule]  # the schedule that begins with a given step size


FOR_CALIBRATION = 0  # number of the random order, which no epoch uses


def by_bottou(run: Run, rates: Rates, samples: int) -> float:
    n = run.descent.n_samples
    samples = samples_for(run, samples)
    with_replacement = epoch_uniforms(run.seed, FOR_CALIBRATION, samples) * n
    sample = with_replacement.astype(np.int64) if samples < n else np.arange(n)
    start = mean_objective(run, sample)
    return calibration.bottou(lambda eta: objective_after(run, Constant(eta), sample), start)


def by_crfsuite(run: Run, rates: Rates, samples: int, **search: Any) -> float:
    """Calibrate by CRFsuite's search; `search` holds the options of `calibration.crfsuite`."""
    sample = random_sample(run, samples)

    def trial(eta: float) -> float:
        return pass_over(run, rates(eta), sample) / run.descent.n_sequences(sample) + run.descent.penalty()

    return calibration.crfsuite(trial, mean_objective(run, sample), **search)


def by_powers(run: Run, rates: Rates, samples: int) -> float:
    sample = random_sample(run, samples)
    return calibration.best_of(lambda eta: objective_after(run, rates(eta), sample), calibration.POWERS_OF_TEN)


def by_tsuboi(run: Run, rates: Rates, samples: int) -> float:
    first, second = np.array_split(np.arange(min(samples_for(run, samples), run.descent.n_samples)), 2)

    def trial(eta: float) -> float:
        pass_over(run, rates(eta), first)
        return run.descent.loss(second)

    return calibration.best_of(trial, calibration.TSUBOI)


RECIPES = {"bottou": by_bottou, "crfsuite": by_crfsuite, "powers": by_powers, "tsuboi": by_tsuboi}


def calibrate(run: Run, recipe: str, rates: Rates, samples: int, **search: Any) -> float:
    """Return the step size that a recipe chooses with up to `samples` sequences. The run does not change."""
    eta = RECIPES[recipe](run, rates, samples, **search)
    run.descent.restore()
    return eta


def random_sample(run: Run, samples: int) -> np.ndarray:
    return run.order(FOR_CALIBRATION)[: samples_for(run, samples)]


def samples_for(run: Run, samples: int) -> int:
    """Return about how many samples contain this many sequences."""
    return max(1, samples * run.descent.n_samples // run.problem.n_sequences)


def pass_over(run: Run, schedule: Schedule, sample: np.ndarray) -> float:
    """Return the losses during one pass over the sample from the start."""
    run.descent.restore()
    return run.descent.descend(sample, schedule.over(0, run.descent.n_updates(len(sample))))


def objective_after(run: Run, schedule: Schedule, sample: np.ndarray) -> float:
    pass_over(run, schedule, sample)
    return mean_objective(run, sample)


def mean_objective(run: Run, sample: np.ndarray) -> float:
    """Return the mean objective of the sample at the current weights."""
    return run.descent.loss(sample) / run.descent.n_sequences(sample) + run.descent.penalty()
