"""A diagonal preconditioner from feature counts: H0 of quasi-Newton methods, at no cost.

Features differ in frequency by five orders of magnitude, and so does curvature. Counts bound the curvature of a
feature. The full bound is wrong for correlated features, so a root of it is used (solvers/auto/auto.py).
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.feature_space.feature_map import count_gold
from fastcrf.objective.capabilities import SequenceGradientProblem
from fastcrf.objective.evaluation import Start

POWER = -0.25  # D = G^POWER


def counts_of(problem: SequenceGradientProblem, start: Start) -> Floats:
    """Return observed + expected counts of each feature, or only their difference if the corpus is not accessible."""
    difference = start.gradient - 2.0 * problem.c2 * start.weights
    if "sequences" not in problem.provides:
        return np.abs(difference)
    observed = count_gold(problem.corpus, problem.features)
    return np.abs(observed) + np.abs(observed + difference)  # values may be negative, and so may counts


def preconditioner_of(scales: Floats) -> Floats:
    """Return D for the scales G of the features."""
    return scales**POWER
