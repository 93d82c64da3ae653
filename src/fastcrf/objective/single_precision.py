"""The gradient of a likelihood in single precision, for steps far from the optimum.

It has five or six correct digits and takes 50-80 % of the time, less with more labels. It certifies nothing:
certificates need an evaluation in double precision.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol, TypeVar

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.layout import expand_weights
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.inference.expectations import Expected, Sequences
from fastcrf.inference.forward_backward import Edges, make_edges, make_lattice
from fastcrf.inference.single_precision import WIDEST_SINGLE_SPREAD, expect_in_single_precision
from fastcrf.objective.likelihood import Evaluation, Likelihood, split
from fastcrf.simd.vectors import dot
from fastcrf.simd.widths import SINGLE_LANE, aligned_zeros, single_width

LARGEST_VALUE = 1e3  # of an attribute: scores that are multiples of a larger one have too few digits left


class EvaluatedProblem(Protocol):
    """A problem that evaluates its likelihood in this process."""

    likelihood: Likelihood
    features: FeatureMap


Given = TypeVar("Given", bound=EvaluatedProblem)


def in_single_precision(problem: Given) -> Given:
    """Return the problem with gradients in single precision if the chain has order 1 and no value is large."""
    values = problem.likelihood.corpus.values
    if problem.features.order > 1 or np.abs(values).max(initial=0.0) > LARGEST_VALUE:
        return problem
    other: Any = copy.copy(problem)
    other.likelihood = SinglePrecisionLikelihood(problem.likelihood)
    return other


class SinglePrecisionLikelihood:
    """`Likelihood.gradient` in single precision. Shares most arrays with the exact one."""

    def __init__(self, exact: Likelihood) -> None:
        self.exact = exact
        layout, K = exact.layout, exact.features.n_labels
        self.lanes = (SINGLE_LANE,) * single_width(layout.padded)
        n_positions = len(exact.lattices[0].scores)
        self.lattices = [make_lattice(n_positions, K, layout.padded, np.float32) for _ in range(exact.n_jobs)]
        self.rows = [aligned_zeros(layout.n_rows, layout.padded, np.float32) for _ in range(exact.n_jobs)]
        self.flat = aligned_zeros(1, layout.table_size, np.float32)[0]
        self.transition_counts = exact.counts.copy()  # residuals already contain the others
        self.transition_counts[: exact.features.n_state] = 0.0

    @property
    def n_jobs(self) -> int:
        return self.exact.n_jobs

    def gradient(self, weights: Floats, ridge: float = 0.0) -> Evaluation:
        """Return as `Likelihood.gradient`; in double precision if transitions have too large a spread for singles."""
        exact, absolute = self.exact, self.exact.absolute(weights)
        edges = make_edges(transition_matrix(exact.features, absolute), exact.layout.padded, np.float32)
        if not edges.spread <= WIDEST_SINGLE_SPREAD:
            return exact.gradient(weights, ridge)
        exact.on_weights(lambda first, last: expand_weights(absolute, exact.layout.place, first, last, self.flat))
        log_z, edge_counts = exact.sum_up(self._expect_shard, edges)
        gradient, _, square = exact.collect(edge_counts, self.transition_counts, weights, ridge)
        return log_z - dot(absolute, exact.counts), gradient, square

    def _expect_shard(self, k: int, edges: Edges, expected: Expected) -> float:
        exact = self.exact
        sequences = Sequences(exact.positions, exact.corpus.weights, split(exact.layout, self.flat), edges)
        workspace = self.lattices[k], self.rows[k], expected
        return expect_in_single_precision(
            sequences, exact.corpus.labels, *exact.shard(k), *workspace, exact.features.n_labels, self.lanes
        )
