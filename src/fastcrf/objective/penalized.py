"""The common part of problems: penalty, weights, certificate."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from fastcrf.certificates.certificate import Certificate, strongly_convex_gap
from fastcrf.core.types import FeatureMap, Floats
from fastcrf.penalties.regularizer import NO_FACTORS, Regularizer, make_regularizer, sparsity


class Penalized(ABC):
    """F(w) = loss(w) + c1 |w|_1 + c2 |w|^2, with a weight for each feature.

    c1_factors: how many times c1 counts for each weight, where that is not once for all;
    is_convex: whether F is convex, so that it has lower bounds.
    """

    regularizer: Regularizer
    features: FeatureMap
    c1_factors: Floats = NO_FACTORS
    is_convex: bool = True

    @property
    def c1(self) -> float:
        return self.regularizer.c1

    @property
    def c2(self) -> float:
        return self.regularizer.c2

    @property
    def n_weights(self) -> int:
        return self.features.n_weights

    @property
    def model_features(self) -> FeatureMap:
        """Return the features of the trained model."""
        return self.features

    def with_penalty(self, c1: float, c2: float) -> Self:
        """Return the same data with another penalty; everything derived from the data is shared."""
        other = copy.copy(self)
        other.regularizer = make_regularizer(c1, c2)
        return other

    def model_weights(self, weights: Floats) -> Floats:
        """Return the model's weights for a solver's weights; they differ if a problem has changed variables."""
        return weights

    def solver_weights(self, weights: Floats) -> Floats:
        """Return a solver's weights for the model's weights."""
        return weights

    @abstractmethod
    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the smooth part, loss + c2 |w|^2, and its gradient (a new array). One pass."""

    @abstractmethod
    def sparse_bound(self, weights: Floats, largest_slope: float) -> float:
        """Return a lower bound on F* for c2 = 0 < c1 (`certificate.sparse_bound`). One pass."""

    def certificate(
        self, weights: Floats, objective: float | None = None, gradient: Floats | None = None
    ) -> Certificate:
        """Return an upper bound on F(w) - F*; `objective` is F(w), `gradient` that of the smooth part, if they are
        known.
        """
        if gradient is None or objective is None:
            smooth, gradient = self.gradient(weights)
            objective = smooth + sparsity(weights, self.c1, self.c1_factors)
        if self.c2 > 0:
            gap = strongly_convex_gap(weights, gradient, self.c1, self.c1_factors, self.c2)
            return Certificate(objective, objective - gap)
        if self.c1 > 0:
            return Certificate(objective, self.sparse_bound(weights, float(np.abs(gradient).max())))
        return Certificate(objective, -math.inf, penalized=False)
