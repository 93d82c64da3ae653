"""The problem that solvers minimize: objective, gradient, certificate and all other capabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Self

import numpy as np

from fastcrf.certificates.certificate import sparse_bound
from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.data.corpus.reordering import partition
from fastcrf.feature_space.feature_map import occurring_features
from fastcrf.feature_space.layout import make_layout, make_positions
from fastcrf.objective.blocks import make_blocks
from fastcrf.objective.capabilities import CAPABILITIES
from fastcrf.objective.context_products import ContextProducts
from fastcrf.objective.curvature import Curvature, HessianProducts, RecomputedCurvature
from fastcrf.objective.feature_sums import GroupedCounts, SumGroups, feature_sums
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.movable import MovablePart, slice_size
from fastcrf.objective.penalized import Penalized
from fastcrf.objective.sampled.sampled_curvature import SampledCurvature, sampled_curvature
from fastcrf.objective.single_precision import in_single_precision
from fastcrf.objective.variances import feature_moments, variance_bounds
from fastcrf.penalties.regularizer import check_prior, make_regularizer
from fastcrf.simd.vectors import dot


class Problem(Penalized):
    """Minimize F(w) = sum_i s_i * -log p(y_i | x_i, w) + c1 |w|_1 + c2 |w|^2.

    `value`, `gradient` and a Hessian-vector product count as one effective pass over the data each, those of some
    sequences as their share of all.

    prior: the mean of the penalty, c2 |w - prior|^2. Solvers, certificates and all other code then work on the
        differences v = w - prior; only `model_weights` and the scores add the prior.
    """

    provides: frozenset[str] = frozenset(CAPABILITIES)

    def __init__(
        self,
        corpus: Corpus,
        features: FeatureMap,
        c1: float = 0.0,
        c2: float = 0.0,
        n_jobs: int = 1,
        prior: Floats | None = None,
    ) -> None:
        if corpus.n_sequences == 0:
            raise ValueError("The corpus is empty: training needs at least one sequence with at least one item.")
        if len(corpus.labels) != corpus.n_positions:
            raise ValueError("The corpus has no gold labels; training needs a label for each item.")
        check_ids(corpus, features)
        self.regularizer = make_regularizer(c1, c2)
        if prior is not None:
            check_prior(c1, c2)
            check_weights(prior, features)
        self.prior = prior
        self.corpus = corpus
        self.features = features
        self.likelihood = self.make_likelihood(n_jobs)
        self._sum_groups: SumGroups | None = None
        self._parts: dict[tuple[bool, tuple[int, int] | None], MovablePart] = {}
        self.asked_to_stop: Callable[[], bool] = lambda: False  # set by the caller of the solver; long epochs check it

    def make_likelihood(self, n_jobs: int) -> Likelihood:
        return Likelihood(self.corpus, self.features, n_jobs, self.prior)

    @property
    def n_sequences(self) -> int:
        return self.corpus.n_sequences

    @property
    def n_jobs(self) -> int:
        return self.likelihood.n_jobs

    @property
    def slice_size(self) -> int:
        return slice_size(self.corpus)

    def part(self, weights: Floats, n_blocks: int | None = None, seed: int = 0, whole: bool = False) -> MovablePart:
        """Return the part that a stochastic solver can change when it starts from `weights`: the features in the
        corpus.

        It has all features if `whole`, or if one that does not occur has a weight: the penalty shrinks it. n_blocks:
        the number of blocks to sample, at random by `seed`; one block per sequence if None. The part is cached until
        another one is requested.
        """
        occurring = self._occurring
        if occurring is None or np.count_nonzero(weights) > np.count_nonzero(weights[occurring[1]]):
            whole = True
        division = None if n_blocks is None or n_blocks == self.n_sequences else (n_blocks, seed)
        if (whole, division) not in self._parts:
            self._parts = {(whole, division): self._make_part(whole, division)}
        return self._parts[whole, division]

    def _make_part(self, whole: bool, division: tuple[int, int] | None) -> MovablePart:
        corpus, bounds = partition(self.corpus, *division) if division else (self.corpus, None)
        if whole or self._occurring is None:
            features, places, layout = self.features, np.empty(0, np.int64), self.likelihood.layout
        else:
            features, places = self._occurring
            layout = make_layout(features)
        as_it_is = whole and not division
        positions = self.likelihood.positions if as_it_is else make_positions(corpus, features, layout)
        part = MovablePart(features, places, make_blocks(corpus, features, positions, layout, bounds))
        return part if self.prior is None else part.with_prior(self.prior)

    @cached_property
    def _occurring(self) -> tuple[FeatureMap, Longs] | None:
        return occurring_features(self.corpus, self.features)

    def value(self, weights: Floats) -> float:
        """Return F(w), all penalties included. One pass, forward recursions only."""
        return self.likelihood.value(weights) + self.regularizer.value(weights)

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the smooth part, loss + c2 |w|^2, and its gradient (a new array). One pass."""
        loss, gradient, square = self.likelihood.gradient(weights, ridge=2.0 * self.c2)
        return loss + self.c2 * square, gradient

    def in_single_precision(self) -> Self:
        """Return the same problem with gradients in single precision, if that is possible."""
        return in_single_precision(self)

    def observed_counts(self) -> Floats:
        """Return how often each feature occurs with the gold labels."""
        return self.likelihood.counts

    def expected_counts(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss, and the expected count of each feature (a new array). One pass."""
        log_z, counts = self.likelihood.expected_counts(weights)
        return log_z - dot(self.model_weights(weights), self.observed_counts()), counts

    def feature_sums(self) -> Floats:
        """Return the largest feature sum over the label sequences of each sequence, [N]. No feature may be negative."""
        return self._feature_sums

    @cached_property
    def _feature_sums(self) -> Floats:
        return feature_sums(self.corpus, self.features)

    def expected_counts_by_sum(self, weights: Floats, n_groups: int) -> tuple[float, GroupedCounts]:
        """Return the loss and expected counts by groups of sequences with similar feature sums. One pass."""
        if self._sum_groups is None or self._sum_groups.n_groups != n_groups:
            self._sum_groups = SumGroups(self.likelihood, self.feature_sums(), n_groups)
        log_z, counts = self._sum_groups.expected_counts(weights)
        return log_z - dot(self.model_weights(weights), self.observed_counts()), counts

    def model_weights(self, weights: Floats) -> Floats:
        return self.likelihood.absolute(weights)

    def solver_weights(self, weights: Floats) -> Floats:
        return weights if self.prior is None else weights - self.prior

    def subset_gradient(self, weights: Floats, sequences: Longs) -> tuple[float, Floats]:
        """Return loss and gradient of some sequences, without the penalty. Their share of a pass."""
        return self.likelihood.subset_gradient(weights, sequences)

    def curvature(self, kept: int | None = None) -> Curvature | RecomputedCurvature:
        """Return the smooth part, with gradients that cache inference for Hessian-vector products (in order 1)."""
        if isinstance(self._products, ContextProducts):
            return RecomputedCurvature(self.likelihood, self._products.product, self.c2)
        return Curvature(self._products, self.c2, kept)

    def differentiated_curvature(self) -> RecomputedCurvature:
        """Return the same by algorithmic differentiation: there is no cache, and products repeat inference."""
        if isinstance(self._products, ContextProducts):
            return RecomputedCurvature(self.likelihood, self._products.product, self.c2)
        return RecomputedCurvature(self.likelihood, self._products.differentiated_product, self.c2)

    def hessian_product(self, weights: Floats, direction: Floats) -> Floats:
        """Return the Hessian of the smooth part at `weights`, times `direction` (a new array). One pass."""
        return self._products.product(weights, direction, ridge=2.0 * self.c2)

    def sequence_hessian_product(self, weights: Floats, direction: Floats, sequences: Longs) -> Floats:
        """Return the product for the loss of some sequences, without the penalty. Their share of a pass."""
        return self._products.product_of_some(weights, direction, sequences)

    def sampled_curvature(self, weights: Floats, seed: list[int]) -> SampledCurvature | None:
        """Return the curvature of the loss from draws of the model, in order 1. One pass, and 1 or 2 for a block."""
        return sampled_curvature(self.likelihood, weights, seed)

    def variance_bounds(self, weights: Floats, gradient: Floats) -> Floats:
        """Estimate the variance of each feature's count from the gradient of the smooth part alone: no pass."""
        expected = gradient - 2.0 * self.c2 * weights + self.likelihood.counts
        return variance_bounds(expected, *self._moments) + 2.0 * self.c2

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        return feature_moments(self.corpus, self.features)

    @cached_property
    def _products(self) -> HessianProducts | ContextProducts:
        return HessianProducts(self.likelihood) if self.features.order == 1 else ContextProducts(self.likelihood)

    def sparse_bound(self, weights: Floats, largest_slope: float) -> float:
        """Return a lower bound on F* for c2 = 0 < c1. One pass."""
        return sparse_bound(self.likelihood.sequence_figures(weights), self.corpus.weights, largest_slope, self.c1)


def check_weights(weights: Floats, features: FeatureMap) -> None:
    """Raise `ValueError` unless these are finite numbers, one for each feature."""
    if weights.shape != (features.n_weights,):
        raise ValueError(f"The prior has the shape {weights.shape}, but there are {features.n_weights} weights.")
    if not np.isfinite(weights).all():
        raise ValueError("The prior holds a weight that is not finite; use another model.")


def check_ids(corpus: Corpus, features: FeatureMap) -> None:
    """Raise `ValueError` unless all ids have a place in the arrays of kernels, which do not check them."""
    for name, ids, number in (
        ("attribute", corpus.attributes, features.n_attributes),
        ("label", corpus.labels, features.n_labels),
    ):
        least, most = int(ids.min(initial=0)), int(ids.max(initial=-1))
        if least < 0 or most >= number:
            raise ValueError(
                f"The corpus has the {name} id {least if least < 0 else most}, but training needs ids from 0 to "
                f"{number - 1}; encode the corpus for training, not with the vocabulary of another model."
            )
