"""The maps of iterative scaling: from weights to weights with a lower objective, by one evaluation of the counts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fastcrf.core.types import Diverged, Floats
from fastcrf.objective.capabilities import CountProblem
from fastcrf.simd.vectors import dot
from fastcrf.solvers.iterative_scaling.fixed_point import Place
from fastcrf.solvers.iterative_scaling.roots import scale_by_sums, scale_weights, scale_weights_lagging

RULES: dict[str, Callable[..., None]] = {"exact": scale_weights, "paper": scale_weights_lagging}


class GeneralizedScaling:
    """Scale each weight separately, with one feature sum for all sequences."""

    def __init__(self, problem: CountProblem, rule: str) -> None:
        self.problem, self.scale = problem, RULES[rule]
        self.largest_sum = largest_feature_sum(problem)

    def at(self, weights: Floats) -> Place:
        loss, expected = self.problem.expected_counts(weights)
        observed, ridge, image = self.problem.observed_counts(), 2.0 * self.problem.c2, np.empty_like(weights)
        self.scale(weights, expected, observed, self.largest_sum, ridge, image)
        return place(self.problem, weights, loss, expected, image)


class ImprovedScaling:
    """Scale each weight separately, with the feature sum of each group of sequences."""

    def __init__(self, problem: CountProblem, groups: int) -> None:
        self.problem, self.groups = problem, groups
        largest_feature_sum(problem)

    def at(self, weights: Floats) -> Place:
        loss, (sums, expected) = self.problem.expected_counts_by_sum(weights, self.groups)
        observed, ridge, image = self.problem.observed_counts(), 2.0 * self.problem.c2, np.empty_like(weights)
        scale_by_sums(weights, expected, sums, observed, ridge, image)
        return place(self.problem, weights, loss, expected.sum(axis=0), image)


def largest_feature_sum(problem: CountProblem) -> float:
    """Return S; 1 if there is no feature."""
    S = float(problem.feature_sums().max())
    if not math.isfinite(S):
        raise Diverged(
            f"The features of a label sequence sum to {S}, so iterative scaling has no step; scale the values down."
        )
    return S or 1.0


def place(problem: CountProblem, weights: Floats, loss: float, expected: Floats, image: Floats) -> Place:
    """Return the point with its objective and gradient, which follow from the counts."""
    gradient = expected - problem.observed_counts() + 2.0 * problem.c2 * weights
    return Place(weights, loss + problem.c2 * dot(weights, weights), gradient, image)
