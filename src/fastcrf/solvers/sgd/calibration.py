"""The search for a first step size: try some on short runs, keep the one that did best.

What a trial is (which sequences, which rates, which score) is the caller's: `trial(eta)` is the score of a short run,
lower is better, and `start` the score before it. Trials that end in NaN or infinity never win.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

Scored = Callable[[float], float]

POWERS_OF_TEN = tuple(10.0**k for k in range(2, -6, -1))  # schmidt2015 chooses among powers of ten
TSUBOI = (0.5, 0.1, 0.05, 0.01)  # tsuboi2011, section 5
ENOUGH = 60  # trials of Bottou's search, which has no limit; rates then differ by 2^60


def best_of(trial: Scored, etas: Iterable[float]) -> float:
    """The step size with the lowest score; the first one if no score is finite."""
    scores = {eta: trial(eta) for eta in etas}
    return min(scores, key=lambda eta: scores[eta] if math.isfinite(scores[eta]) else math.inf)


def bottou(trial: Scored, start: float) -> float:
    """The search of Bottou's crfsgd: half the step size with the lowest score, "to be on the safe side"."""
    return up_then_down(trial, start, first=0.1, rate=2.0, candidates=10, most=ENOUGH, renewed=False) / 2.0


def crfsuite(
    trial: Scored, start: float, first: float = 0.1, rate: float = 2.0, candidates: int = 10, max_trials: int = 20
) -> float:
    """The search of CRFsuite's l2sgd, whose count of trials begins at 1 and so ends one early."""
    return up_then_down(trial, start, first, rate, candidates, most=max(1, max_trials - 1), renewed=True)


def up_then_down(
    trial: Scored, start: float, first: float, rate: float, candidates: int, most: int, renewed: bool
) -> float:
    """Try first, first * rate, ... while that betters `start`; then first / rate, ... until enough candidates did.

    With `renewed` the count of candidates also ends the way up, and begins anew on the way down.
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
    return best
