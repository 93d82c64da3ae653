"""The capabilities of problems, one protocol each.

A solver names the capabilities that it needs in `needs`, a problem those that it has in `provides`;
`fastcrf.solvers.registry.check` compares the two before a run. Every problem has an objective. Solvers annotate
`problem` with the protocol of their needs, so that a type checker verifies their use of it. Any object with that
protocol works: a corpus distributed over machines, or a toy problem in a test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

import numpy as np

from fastcrf.certificates.certificate import Certificate
from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.objective.feature_sums import GroupedCounts
from fastcrf.objective.movable import MovablePart
from fastcrf.penalties.regularizer import Regularizer


@runtime_checkable
class Objective(Protocol):
    """F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c1 |w|_1 + c2 |w|^2, and a bound on its optimality gap."""

    @property
    def provides(self) -> frozenset[str]: ...

    @property
    def c1(self) -> float: ...

    @property
    def c1_factors(self) -> Floats:
        """Return the factor of c1 for each weight; empty if all factors are 1."""
        ...

    @property
    def c2(self) -> float: ...
    @property
    def is_convex(self) -> bool:
        """Return whether F is convex, so that it has lower bounds."""
        ...

    @property
    def n_weights(self) -> int: ...

    @property
    def n_sequences(self) -> int: ...

    @property
    def n_jobs(self) -> int: ...

    def value(self, weights: Floats) -> float:
        """Return F(w). One pass."""
        ...

    def certificate(
        self, weights: Floats, objective: float | None = None, gradient: Floats | None = None
    ) -> Certificate:
        """Return an upper bound on F(w) - F*."""
        ...


@runtime_checkable
class GradientProblem(Objective, Protocol):
    """Capability "gradient"."""

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the smooth part, loss + c2 |w|^2, and its gradient (a new array). One pass."""
        ...


@runtime_checkable
class SinglePrecisionProblem(GradientProblem, Protocol):
    """Capability "single-precision": gradients in single precision."""

    def in_single_precision(self) -> GradientProblem:
        """Return the same problem with gradients in single precision, exact to about five digits; they certify
        nothing.
        """
        ...


@runtime_checkable
class SequenceProblem(Objective, Protocol):
    """Capability "sequences": the encoded corpus, for stochastic solvers."""

    asked_to_stop: Callable[[], bool]

    @property
    def corpus(self) -> Corpus: ...

    @property
    def features(self) -> FeatureMap: ...

    @property
    def regularizer(self) -> Regularizer: ...

    @property
    def slice_size(self) -> int:
        """Return a number of samples that takes well under a second."""
        ...

    def model_weights(self, weights: Floats) -> Floats:
        """Return the model's weights, from which scores are computed; they differ if a problem has changed
        variables.
        """
        ...

    def part(self, weights: Floats, n_blocks: int | None = None, seed: int = 0, whole: bool = False) -> MovablePart: ...


class SequenceGradientProblem(GradientProblem, SequenceProblem, Protocol):
    """Capability "gradient", and "sequences" if a problem also provides it."""


class PointOfCurvature(Protocol):
    """The smooth part at the point of the last gradient, which cached the inference for Hessian-vector products."""

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the smooth part and its gradient (a new array). One pass."""
        ...

    def product(self, direction: Floats) -> Floats:
        """Return the Hessian at the point of the last gradient, times `direction` (a new array). One pass."""
        ...


@runtime_checkable
class HessianProblem(GradientProblem, Protocol):
    """Capability "hessian": Hessian-vector products of the smooth part."""

    asked_to_stop: Callable[[], bool]

    def hessian_product(self, weights: Floats, direction: Floats) -> Floats:
        """Return a single Hessian-vector product. One pass."""
        ...

    def variance_bounds(self, weights: Floats, gradient: Floats) -> Floats:
        """Estimate the diagonal of the Hessian from the gradient alone. No pass."""
        ...

    def curvature(self, kept: int | None = None) -> PointOfCurvature:
        """Return an object for several products at a point.

        kept: number of sequences whose inference is cached; None: as many as the memory budget allows.
        """
        ...

    def differentiated_curvature(self) -> PointOfCurvature:
        """Return the same by algorithmic differentiation, for comparison."""
        ...


@runtime_checkable
class SequenceHessianProblem(SequenceProblem, Protocol):
    """Capability "sequence-hessian": Hessian-vector products of the loss of some sequences, without the penalty."""

    def sequence_hessian_product(self, weights: Floats, direction: Floats, sequences: Longs) -> Floats:
        """Return the product; costs the sequences' share of a pass."""
        ...


class SampledPoint(Protocol):
    """The curvature of the loss at a point, without the penalty, from label sequences drawn from the model."""

    @property
    def variances(self) -> Floats:
        """Return the variance of each feature's count, without covariances between positions."""
        ...

    @property
    def passes(self) -> int:
        """Return the passes spent until now."""
        ...

    def block(self, chosen: Longs, n_samples: int, most_products: float = math.inf) -> Floats | None:
        """Return an estimate of the Hessian of some weights, given in ascending order, [d, d]. One pass or 2.

        None if it would take more than `most_products` multiplications.
        """
        ...


@runtime_checkable
class SampledCurvatureProblem(GradientProblem, Protocol):
    """Capability "sampled-curvature": dense blocks of the Hessian, from samples."""

    def sampled_curvature(self, weights: Floats, seed: list[int]) -> SampledPoint | None:
        """Return the curvature at `weights`, or None if these data do not allow it. One pass."""
        ...


@runtime_checkable
class SubsetProblem(Objective, Protocol):
    """Capability "subset-gradient": loss and gradient of some sequences, without the penalty."""

    def subset_gradient(self, weights: Floats, sequences: Longs) -> tuple[float, Floats]:
        """Return loss and gradient; costs the sequences' share of a pass."""
        ...


@runtime_checkable
class CountProblem(Objective, Protocol):
    """Capability "counts": feature counts, whose difference is the gradient of the loss.

    For scaling solvers: no feature may be negative, and the largest feature sum of each sequence is known.
    """

    def observed_counts(self) -> Floats: ...

    def expected_counts(self, weights: Floats) -> tuple[float, Floats]:
        """Return (loss, counts) of the model at `weights`. One pass."""
        ...

    def feature_sums(self) -> Floats:
        """Return the largest feature sum over the label sequences of each sequence, [N]."""
        ...

    def expected_counts_by_sum(self, weights: Floats, n_groups: int) -> tuple[float, GroupedCounts]:
        """Return (loss, counts) with sequences of similar feature sums counted together, in at most `n_groups` groups.
        One pass.
        """
        ...


CAPABILITIES: dict[str, type] = {
    "gradient": GradientProblem,
    "single-precision": SinglePrecisionProblem,
    "sequences": SequenceProblem,
    "hessian": HessianProblem,
    "sequence-hessian": SequenceHessianProblem,
    "sampled-curvature": SampledCurvatureProblem,
    "subset-gradient": SubsetProblem,
    "counts": CountProblem,
}


class RunProblem(GradientProblem, Protocol):
    """The part of a problem that every run needs.

    The driver sets `asked_to_stop`, the trace evaluates, the certifier bounds the optimum.
    """

    asked_to_stop: Callable[[], bool]


class SavedProblem(RunProblem, Protocol):
    """The part of a problem that a checkpoint needs: the data as arrays, for a fingerprint."""

    @property
    def corpus(self) -> Iterable[np.ndarray]:
        """Return the arrays of the data, or digests of them."""
        ...

    @property
    def features(self) -> FeatureMap: ...


class TrainingProblem(SavedProblem, Protocol):
    """The part of a problem that training needs: conversion between a run's weights and the model's weights."""

    @property
    def model_features(self) -> FeatureMap: ...

    def model_weights(self, weights: Floats) -> Floats: ...

    def solver_weights(self, weights: Floats) -> Floats: ...


class AnyProblem(
    SinglePrecisionProblem,
    HessianProblem,
    SequenceHessianProblem,
    SampledCurvatureProblem,
    SubsetProblem,
    CountProblem,
    Protocol,
):
    """All capabilities: the type for functions that run any solver."""
