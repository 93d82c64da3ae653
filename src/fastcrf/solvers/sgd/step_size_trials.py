"""What a first step size is worth: short runs on a sample, by the recipes of several papers and programs.

    recipe      sample                        rates of a trial   score of a trial
    bottou      drawn with replacement        constant           mean loss on the sample after the pass + lambda/2 |w|^2
    crfsuite    the first of a random order   the schedule's     mean loss during the pass + lambda/2 |w|^2 after it
    powers      the first of a random order   the schedule's     as bottou
    tsuboi      the first of the corpus       the schedule's     loss on the second half after a pass over the first

Each trial begins at the weights where training begins. Which step sizes are tried is in calibration.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastcrf.draws.sampling import epoch_uniforms
from fastcrf.solvers.sgd import calibration
from fastcrf.solvers.sgd.run import Run
from fastcrf.solvers.sgd.schedules import Constant, Schedule

Rates = Callable[[float], Schedule]  # the schedule that begins with a given step size
FOR_CALIBRATION = 0  # number of the random order that no epoch has


def by_bottou(run: Run, rates: Rates, samples: int) -> float:
    n = run.descent.n_draws
    samples = draws_for(run, samples)
    with_replacement = epoch_uniforms(run.seed, FOR_CALIBRATION, samples) * n
    sample = with_replacement.astype(np.int64) if samples < n else np.arange(n)
    start = mean_objective(run, sample)
    return calibration.bottou(lambda eta: objective_after(run, Constant(eta), sample), start)


def by_crfsuite(run: Run, rates: Rates, samples: int, **search: Any) -> float:
    """`search` holds the options of `calibration.crfsuite`."""
    sample = random_sample(run, samples)

    def trial(eta: float) -> float:
        return pass_over(run, rates(eta), sample) / run.descent.n_sequences(sample) + run.descent.penalty()

    return calibration.crfsuite(trial, mean_objective(run, sample), **search)


def by_powers(run: Run, rates: Rates, samples: int) -> float:
    sample = random_sample(run, samples)
    return calibration.best_of(lambda eta: objective_after(run, rates(eta), sample), calibration.POWERS_OF_TEN)


def by_tsuboi(run: Run, rates: Rates, samples: int) -> float:
    first, second = np.array_split(np.arange(min(draws_for(run, samples), run.descent.n_draws)), 2)

    def trial(eta: float) -> float:
        pass_over(run, rates(eta), first)
        return run.descent.loss(second)

    return calibration.best_of(trial, calibration.TSUBOI)


RECIPES = {"bottou": by_bottou, "crfsuite": by_crfsuite, "powers": by_powers, "tsuboi": by_tsuboi}


def calibrate(run: Run, recipe: str, rates: Rates, samples: int, **search: Any) -> float:
    """The step size that a recipe chooses with up to `samples` sequences. The run stays where it is."""
    eta = RECIPES[recipe](run, rates, samples, **search)
    run.descent.restore()
    return eta


def random_sample(run: Run, samples: int) -> np.ndarray:
    return run.order(FOR_CALIBRATION)[: draws_for(run, samples)]


def draws_for(run: Run, samples: int) -> int:
    """How many draws take so many sequences, about."""
    return max(1, samples * run.descent.n_draws // run.problem.n_sequences)


def pass_over(run: Run, schedule: Schedule, sample: np.ndarray) -> float:
    """From the start, one pass over the sample; the losses during it."""
    run.descent.restore()
    return run.descent.descend(sample, schedule.over(0, run.descent.n_updates(len(sample))))


def objective_after(run: Run, schedule: Schedule, sample: np.ndarray) -> float:
    pass_over(run, schedule, sample)
    return mean_objective(run, sample)


def mean_objective(run: Run, sample: np.ndarray) -> float:
    """Of the sample, at the weights as they are."""
    return run.descent.loss(sample) / run.descent.n_sequences(sample) + run.descent.penalty()
