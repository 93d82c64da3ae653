"""The problem that solvers see: objective, gradient, certificate, and what else they may ask for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

import numpy as np

from fastcrf.objective.certificate import Certificate, sparse_bound, strongly_convex_gap
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.part import Part, occurring_part, whole_part
from fastcrf.objective.regulariser import make_regulariser
from fastcrf.types import Corpus, FeatureMap, Floats

SLICE_OF_POSITIONS = 30_000


class Problem:
    """Minimise  F(w) = sum_i s_i * -log p(y_i | x_i, w) + c1 |w|_1 + c2 |w|^2.

    `value` and `gradient` count as one effective pass over the data each.
    """

    provides: ClassVar[frozenset[str]] = frozenset({"gradient", "sequences"})

    def __init__(self, corpus: Corpus, features: FeatureMap, c1: float = 0.0, c2: float = 0.0, n_jobs: int = 1) -> None:
        if corpus.n_sequences == 0:
            raise ValueError("The corpus is empty: training needs at least one sequence with at least one item.")
        if len(corpus.labels) != corpus.n_positions:
            raise ValueError("The corpus has no gold labels; training needs a label for each item.")
        self.regulariser = make_regulariser(c1, c2)
        self.likelihood = Likelihood(corpus, features, n_jobs)
        self.corpus = corpus
        self.features = features
        self.asked_to_stop: Callable[[], bool] = lambda: False  # set by whoever runs the solver; long epochs look here

    @property
    def c1(self) -> float:
        return self.regulariser.c1

    @property
    def c2(self) -> float:
        return self.regulariser.c2

    @property
    def n_weights(self) -> int:
        return self.features.n_weights

    @property
    def n_sequences(self) -> int:
        return self.corpus.n_sequences

    @property
    def n_jobs(self) -> int:
        return self.likelihood.n_jobs

    @property
    def slice_size(self) -> int:
        """Draws that take well under a second: epochs hand control back after so many, for Ctrl-C."""
        return max(1, SLICE_OF_POSITIONS * self.n_sequences // self.corpus.n_positions)

    def part(self, weights: Floats) -> Part:
        """What a solver that draws can move when it starts from `weights`: the features that occur in the corpus.

        All features, if one that does not occur has a weight: the penalty shrinks it. Made when first asked for.
        """
        occurring = self._occurring
        if occurring is None or np.count_nonzero(weights) > np.count_nonzero(occurring.take(weights)):
            return self._whole
        return occurring

    @cached_property
    def _occurring(self) -> Part | None:
        return occurring_part(self.corpus, self.features)

    @cached_property
    def _whole(self) -> Part:
        return whole_part(self.corpus, self.features, self.likelihood.layout, self.likelihood.positions)

    def value(self, weights: Floats) -> float:
        """F(w), all penalties included. One pass, forward recursions only."""
        return self.likelihood.value(weights) + self.regulariser.value(weights)

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The smooth part, loss + c2 |w|^2, and its gradient (a fresh array). One pass."""
        loss, gradient, square = self.likelihood.gradient(weights, ridge=2.0 * self.c2)
        return loss + self.c2 * square, gradient

    def certificate(
        self, weights: Floats, objective: float | None = None, gradient: Floats | None = None
    ) -> Certificate:
        """An upper bound on F(w) - F*; `objective` is F(w), `gradient` that of the smooth part, if they are known."""
        if gradient is None or objective is None:
            smooth, gradient = self.gradient(weights)
            objective = smooth + self.c1 * float(np.abs(weights).sum())
        if self.c2 > 0:
            return Certificate(objective, objective - strongly_convex_gap(weights, gradient, self.c1, self.c2))
        if self.c1 > 0:
            figures = self.likelihood.sequence_figures(weights)
            return Certificate(objective, sparse_bound(figures, self.corpus.weights, np.abs(gradient).max(), self.c1))
        return Certificate(objective, -math.inf)
