"""The features' own scales as a preconditioner: a diagonal first inverse Hessian for quasi-Newton methods, for nothing.

Features differ in frequency by five orders of magnitude, and so does curvature. Counts bound the curvature that a
feature can have; the whole of it is wrong where features go together, so a root is taken (solvers/auto/auto.py).
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.features.feature_map import count_gold
from fastcrf.objective.capabilities import SequenceGradientProblem
from fastcrf.objective.evaluation import Start

POWER = -0.25  # D = G^POWER


def counts_of(problem: SequenceGradientProblem, start: Start) -> Floats:
    """Observed + expected counts of each feature; only their difference where the corpus is out of reach."""
    difference = start.gradient - 2.0 * problem.c2 * start.weights
    if "sequences" not in problem.provides:
        return np.abs(difference)
    observed = count_gold(problem.corpus, problem.features)
    return np.abs(observed) + np.abs(observed + difference)  # values may be negative, and so may counts


def preconditioner_of(scales: Floats) -> Floats:
    """D for the scales G of the features."""
    return scales**POWER
