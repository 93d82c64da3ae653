"""What solvers may ask of a problem, one protocol a capability.

A solver names its capabilities in `needs`, a problem in `provides`; `fastcrf.solvers.registry.check` compares the two
before a run. Every problem has an objective. Solvers annotate `problem` with the protocol of what they need, so that a
type checker sees what they use, and any object that provides it (a corpus spread over machines, a toy in a test) will
do.
"""

from __future__ import annotations

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
    """F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c1 |w|_1 + c2 |w|^2, and a bound on its distance to the optimum."""

    @property
    def provides(self) -> frozenset[str]: ...

    @property
    def c1(self) -> float: ...

    @property
    def c1_factors(self) -> Floats:
        """How many times c1 counts for each weight; empty where that is once for all."""
        ...

    @property
    def c2(self) -> float: ...

    @property
    def n_weights(self) -> int: ...

    @property
    def n_sequences(self) -> int: ...

    @property
    def n_jobs(self) -> int: ...

    def value(self, weights: Floats) -> float:
        """F(w). One pass."""
        ...

    def certificate(
        self, weights: Floats, objective: float | None = None, gradient: Floats | None = None
    ) -> Certificate:
        """An upper bound on F(w) - F*."""
        ...


@runtime_checkable
class GradientProblem(Objective, Protocol):
    """Capability "gradient"."""

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The smooth part, loss + c2 |w|^2, and its gradient (a fresh array). One pass."""
        ...


@runtime_checkable
class RoughProblem(GradientProblem, Protocol):
    """Capability "rough"."""

    def roughly(self) -> GradientProblem:
        """The same problem with gradients in single precision, right to about five digits; they prove nothing."""
        ...


@runtime_checkable
class SequenceProblem(Objective, Protocol):
    """Capability "sequences": the encoded corpus, for solvers that draw."""

    asked_to_stop: Callable[[], bool]

    @property
    def corpus(self) -> Corpus: ...

    @property
    def features(self) -> FeatureMap: ...

    @property
    def regularizer(self) -> Regularizer: ...

    @property
    def slice_size(self) -> int:
        """Draws that take well under a second."""
        ...

    def model_weights(self, weights: Floats) -> Floats:
        """The weights of the model: others, where a problem has changed variables, and what scores are made of."""
        ...

    def part(self, weights: Floats, n_blocks: int | None = None, seed: int = 0, whole: bool = False) -> MovablePart: ...


class SequenceGradientProblem(GradientProblem, SequenceProblem, Protocol):
    """Capability "gradient", and "sequences" where a problem provides it too."""


class PointOfCurvature(Protocol):
    """The smooth part at the point of the last gradient, which left behind what products there need."""

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The smooth part and its gradient (a fresh array). One pass."""
        ...

    def product(self, direction: Floats) -> Floats:
        """The Hessian where the last gradient was, times `direction` (a fresh array). One pass."""
        ...


@runtime_checkable
class HessianProblem(GradientProblem, Protocol):
    """Capability "hessian": products with the Hessian of the smooth part."""

    asked_to_stop: Callable[[], bool]

    def hessian_product(self, weights: Floats, direction: Floats) -> Floats:
        """A single product. One pass."""
        ...

    def variance_bounds(self, weights: Floats, gradient: Floats) -> Floats:
        """About the diagonal of the Hessian, from the gradient alone. No pass."""
        ...

    def curvature(self, kept: int | None = None) -> PointOfCurvature:
        """For several products at a point. kept: sequences of which something is left behind; None: of all there is
        room for."""
        ...

    def differentiated_curvature(self) -> PointOfCurvature:
        """The same by algorithmic differentiation, for comparison."""
        ...


@runtime_checkable
class SequenceHessianProblem(SequenceProblem, Protocol):
    """Capability "sequence-hessian": the same for the loss of some sequences alone, without the penalty."""

    def sequence_hessian_product(self, weights: Floats, direction: Floats, sequences: Longs) -> Floats:
        """The sequences' share of a pass."""
        ...


@runtime_checkable
class SubsetProblem(Objective, Protocol):
    """Capability "subset-gradient": loss and gradient of some sequences, without the penalty."""

    def subset_gradient(self, weights: Floats, sequences: Longs) -> tuple[float, Floats]:
        """The sequences' share of a pass."""
        ...


@runtime_checkable
class CountProblem(Objective, Protocol):
    """Capability "counts": feature counts, whose difference is the gradient of the loss.

    For solvers that scale: no feature may be negative, and how large the features of a labeling are in sum is known.
    """

    def observed_counts(self) -> Floats: ...

    def expected_counts(self, weights: Floats) -> tuple[float, Floats]:
        """(loss, counts) of the model at `weights`. One pass."""
        ...

    def feature_masses(self) -> Floats:
        """The largest sum of all features that any labeling of each sequence has, [N]."""
        ...

    def expected_counts_by_mass(self, weights: Floats, n_groups: int) -> tuple[float, GroupedCounts]:
        """(loss, counts) with sequences of about the same mass counted together, in `n_groups` at most. One pass."""
        ...


CAPABILITIES: dict[str, type] = {
    "gradient": GradientProblem,
    "rough": RoughProblem,
    "sequences": SequenceProblem,
    "hessian": HessianProblem,
    "sequence-hessian": SequenceHessianProblem,
    "subset-gradient": SubsetProblem,
    "counts": CountProblem,
}


class RunProblem(GradientProblem, Protocol):
    """What a run needs of a problem, whatever its solver needs besides.

    The driver sets `asked_to_stop`, the trace evaluates, the certifier bounds the optimum.
    """

    asked_to_stop: Callable[[], bool]


class SavedProblem(RunProblem, Protocol):
    """What a checkpoint needs of a problem: the data as arrays, for a fingerprint."""

    @property
    def corpus(self) -> Iterable[np.ndarray]:
        """The arrays of the data, or digests of them."""
        ...

    @property
    def features(self) -> FeatureMap: ...


class TrainingProblem(SavedProblem, Protocol):
    """What training a model needs of a problem: a run's weights as the weights of the model, and back."""

    @property
    def model_features(self) -> FeatureMap: ...

    def model_weights(self, weights: Floats) -> Floats: ...

    def solver_weights(self, weights: Floats) -> Floats: ...


class AnyProblem(RoughProblem, HessianProblem, SequenceHessianProblem, SubsetProblem, CountProblem, Protocol):
    """Every capability: what a function that runs any solver is typed for."""
