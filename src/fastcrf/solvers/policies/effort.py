"""What an evaluation and a direction will cost, from the sizes alone: the same on every machine, so runs repeat.

Units are those of a profile on CoNLL-2000, where a gradient takes about 49 ms of one core.
"""

from __future__ import annotations

from fastcrf.objective.capabilities import SequenceProblem

SECONDS_A_UNIT = 2.7e-11
SECONDS_A_PAIR = 1.6e-9  # for each weight: what a pair of rows in single precision adds to a direction
SECONDS_A_TURN = 6e-6  # what a pair adds however few the weights are: two turns of a loop in Python
LANES = 8


def gradient_seconds(problem: SequenceProblem) -> float:
    """A gradient, on one core: recursions K^2 a position, exponentials K, score and scatter K an attribute."""
    corpus, K = problem.corpus, problem.features.n_labels
    padded = -(-K // LANES) * LANES
    return SECONDS_A_UNIT * padded * (corpus.n_positions * (3 * K + 60) + 12 * len(corpus.attributes))


def affordable_pairs(problem: SequenceProblem, share: float, least: int, most: int) -> int:
    """As many pairs as make a direction cost `share` of a gradient, within bounds."""
    number = share * gradient_seconds(problem) / (SECONDS_A_PAIR * problem.n_weights + SECONDS_A_TURN)
    return int(min(max(number, least), most))
