"""The problem with merged duplicate attributes (`merging.py`), for any solver."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Self

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.feature_space.layout import Layout, Positions
from fastcrf.objective.blocks import make_blocks
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.merging import Merging, gathered
from fastcrf.objective.movable import MovablePart, slice_size
from fastcrf.objective.penalized import Penalized
from fastcrf.objective.sampled.sampled_curvature import SampledCurvature, sampled_curvature
from fastcrf.objective.single_precision import in_single_precision
from fastcrf.penalties.regularizer import make_regularizer, sparsity
from fastcrf.simd.vectors import dot


class MergedProblem(Penalized):
    """Minimize F(v) = sum_i s_i * -log p(y_i | x_i, roots * v) + c1 |roots * v|_1 + c2 |v|^2, c2 > 0.

    whole: the features of the model that v stands for.

    `corpus` is for stochastic solvers: sqrt(k) is part of its values. Evaluations multiply the weights instead, so that
    their kernels need not read values.
    """

    provides = frozenset({"gradient", "single-precision", "sampled-curvature", "sequences"})

    def __init__(self, merging: Merging, whole: FeatureMap, c1: float, c2: float, n_jobs: int = 1) -> None:
        self.merging, self.features, self.whole = merging, merging.features, whole
        self.c1_factors = merging.roots
        self.regularizer = make_regularizer(c1, c2)
        self.likelihood = Likelihood(merging.corpus, merging.features, n_jobs)
        self.asked_to_stop: Callable[[], bool] = lambda: False

    @property
    def n_sequences(self) -> int:
        return self.merging.corpus.n_sequences

    @property
    def n_jobs(self) -> int:
        return self.likelihood.n_jobs

    @property
    def slice_size(self) -> int:
        return slice_size(self.merging.corpus)

    @cached_property
    def corpus(self) -> Corpus:
        return self.merging.valued()

    def value(self, weights: Floats) -> float:
        """Return F(v). One pass, forward recursions only."""
        penalty = sparsity(weights, self.c1, self.c1_factors) + self.c2 * dot(weights, weights)
        return self.likelihood.value(self.merging.roots * weights) + penalty

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the smooth part, loss + c2 |v|^2, and its gradient (a new array). One pass."""
        loss, gradient, _ = self.likelihood.gradient(self.merging.roots * weights)
        gradient *= self.merging.roots
        gradient += 2.0 * self.c2 * weights
        return loss + self.c2 * dot(weights, weights), gradient

    def sampled_curvature(self, weights: Floats, seed: list[int]) -> SampledCurvature | None:
        """Return the curvature of the loss from draws of the model. One pass, and 1 or 2 for a block."""
        roots = self.merging.roots
        return sampled_curvature(self.likelihood, roots * weights, seed, roots)

    def in_single_precision(self) -> Self:
        """Return the same problem with gradients in single precision, if that is possible."""
        return in_single_precision(self)

    def part(self, weights: Floats, n_blocks: int | None = None, seed: int = 0, whole: bool = False) -> MovablePart:
        """Return the sequences one by one, for a stochastic solver: all features occur."""
        if n_blocks is not None:
            raise ValueError("A problem of merged attributes has no blocks of several sequences; use `Problem`.")
        return self._part

    @cached_property
    def _part(self) -> MovablePart:
        layout = self.likelihood.layout
        positions = times_roots(self.likelihood.positions, layout, self.merging.roots)
        blocks = make_blocks(self.merging.corpus, self.features, positions, layout)
        return MovablePart(self.features, np.empty(0, np.int64), blocks)

    def sparse_bound(self, weights: Floats, largest_slope: float) -> float:
        raise ValueError("A problem of merged attributes has an L2 penalty; use `Problem`.")

    @property
    def model_features(self) -> FeatureMap:
        """Return the features of the original data."""
        return self.whole

    def model_weights(self, weights: Floats) -> Floats:
        return self.merging.spread(weights)

    def solver_weights(self, weights: Floats) -> Floats:
        return self.merging.join(weights)


def times_roots(positions: Positions, layout: Layout, roots: Floats) -> Positions:
    """Return the positions with the roots of their weights as part of the values."""
    corner, place = layout.n_row_slots, layout.place
    in_row, of_row, of_cell = place < corner, np.ones(layout.n_rows), np.ones(layout.n_cells)
    of_row[place[in_row] // layout.padded] = roots[: len(place)][in_row]
    of_cell[place[~in_row] - corner] = roots[: len(place)][~in_row]
    return positions._replace(
        row_values=gathered(of_row, positions.rows, positions.row_values),
        cell_values=gathered(of_cell, positions.cells, positions.cell_values),
    )
