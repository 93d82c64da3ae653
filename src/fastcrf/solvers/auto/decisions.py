"""Decisions of the default policy: when a fit is long, how many pairs, when to leave single precision."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fastcrf.objective.capabilities import SequenceProblem

SECONDS_A_UNIT = 2.7e-11


SECONDS_A_PAIR = 1.6e-9  # seconds per weight that a pair of rows in single precision adds to a direction


SECONDS_A_TURN = 6e-6  # seconds that a pair adds with few weights: two iterations of a Python loop


LANES = 8


def gradient_seconds(problem: SequenceProblem) -> float:
    """Estimate the seconds of a gradient on one core: recursions K^2 per position, exponentials K, score and scatter K
    per attribute.
    """
    corpus, K = problem.corpus, problem.features.n_labels
    padded = -(-K // LANES) * LANES
    return SECONDS_A_UNIT * padded * (corpus.n_positions * (3 * K + 60) + 12 * len(corpus.attributes))


def affordable_pairs(problem: SequenceProblem, share: float, least: int, most: int) -> int:
    """Return the number of pairs for which a direction takes `share` of the time of a gradient, within bounds."""
    number = share * gradient_seconds(problem) / (SECONDS_A_PAIR * problem.n_weights + SECONDS_A_TURN)
    return int(min(max(number, least), most))


SLICE = 6  # steps; the gains of fewer steps do not determine the rate


LEAST = 1e-4  # of F: nearer to the optimum the rounding of F itself, up to 2e-5 of it, disturbs line searches


def remaining_gap(objectives: Sequence[float]) -> float:
    """Estimate how far the last objective is above the optimum; infinite while there are too few objectives."""
    if len(objectives) <= 2 * SLICE:
        return math.inf
    first, middle, last = objectives[-2 * SLICE - 1], objectives[-SLICE - 1], objectives[-1]
    before, newest = first - middle, middle - last
    if newest <= 0.0:
        return 0.0  # single precision shows no further decrease
    ratio = newest / before if before > 0.0 else 1.0
    return newest * ratio / (1.0 - ratio) if ratio < 1.0 else math.inf


def is_near(objectives: Sequence[float], target: float) -> bool:
    """Return whether to change to double precision: some ten steps before a relative gap of `target` can be
    certified.
    """
    return len(objectives) > 0 and remaining_gap(objectives) <= max(target, LEAST) * abs(objectives[-1])


def kept(objectives: Sequence[float]) -> list[float]:
    """Return the objectives that the estimate uses."""
    return list(objectives[-2 * SLICE - 1 :])
