"""The problem of partial labels: the likelihood of what is known of the labels, whatever the unknown ones are.

    F(w) = sum_i s_i (log Z(x_i) - log Z(x_i, allowed)) + c1 |w|_1 + c2 |w|^2

log Z(x, allowed) is summed over the label sequences that the known labels allow. The gradient of the loss is the
expected counts under the model minus those under the model given what is known. With all labels known this is the
usual likelihood. Otherwise F is a difference of convex functions: it has local optima, and there is no certificate.
"""

from __future__ import annotations

import math

import numpy as np

from fastcrf.certificates.certificate import Certificate
from fastcrf.constrained_training.problem import ConstrainedLikelihood, ConstrainedProblem
from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.objective.likelihood import Evaluation, ExpectShard, Likelihood
from fastcrf.simd.vectors import dot


class PartialLikelihood(Likelihood):
    """The negative log-likelihood of known labels. The corpus has a label for each position, which must be allowed."""

    def __init__(
        self, corpus: Corpus, features: FeatureMap, allowed: Allowed, n_jobs: int = 1, prior: Floats | None = None
    ) -> None:
        super().__init__(corpus, features, n_jobs, prior)
        self.known = ConstrainedLikelihood(corpus, features, allowed, n_jobs, prior)

    def value(self, weights: Floats) -> float:
        """Return the loss alone: forward recursions only."""
        losses = self.log_partitions(weights) - self.known.log_partitions(weights)
        return float(losses @ self.corpus.weights if len(self.corpus.weights) else losses.sum())

    def gradient(self, weights: Floats, ridge: float = 0.0) -> Evaluation:
        """Return loss, gradient of loss + ridge/2 |w|^2, and |w|^2."""
        return self.against_known(self.expect_shard, weights, None, ridge)

    def subset_gradient(self, weights: Floats, sequences: Longs) -> tuple[float, Floats]:
        """Return loss and gradient of some sequences, in any order and with repetitions."""
        return self.against_known(self.expecting(sequences), weights, sequences, 0.0)[:2]

    def against_known(
        self, expect_shard: ExpectShard, weights: Floats, sequences: Longs | None, ridge: float
    ) -> Evaluation:
        """Return the evaluation with expected counts given what is known in place of gold counts."""
        log_z_known, counts = self.known.expected_counts(weights, sequences)
        loss, gradient, square = self.gradient_by(expect_shard, weights, counts, ridge)
        return loss + dot(self.absolute(weights), counts) - log_z_known, gradient, square


class PartialProblem(ConstrainedProblem):
    """Minimize F where some labels are unknown. Batch solvers can."""

    is_convex = False

    def make_likelihood(self, n_jobs: int) -> Likelihood:
        return PartialLikelihood(self.corpus, self.features, self.allowed, n_jobs, self.prior)

    def certificate(
        self, weights: Floats, objective: float | None = None, gradient: Floats | None = None
    ) -> Certificate:
        """Return the objective: nothing bounds its distance to the optimum."""
        if objective is None:
            objective = self.value(weights)
        return Certificate(objective, -math.inf, convex=False)


def fully_labeled(corpus: Corpus, known: np.ndarray) -> Corpus:
    """Return the runs of positions whose label is known, as sequences of their own."""
    inside = np.ones(corpus.n_positions, bool)
    inside[corpus.starts[:-1]] = False  # positions that continue a sequence
    begins = known & ~(inside & np.concatenate(([False], known[:-1])))
    kept = np.flatnonzero(known)
    sequence = np.repeat(np.arange(corpus.n_sequences), np.diff(corpus.starts))
    sizes = np.diff(corpus.offsets)
    occurrences = np.repeat(known, sizes)
    return Corpus(
        starts=np.append(np.flatnonzero(begins[kept]), len(kept)).astype(np.int64),
        offsets=np.concatenate(([0], np.cumsum(sizes[kept]))).astype(np.int64),
        attributes=corpus.attributes[occurrences],
        values=corpus.values[occurrences] if len(corpus.values) else corpus.values,
        labels=corpus.labels[kept],
        weights=corpus.weights[sequence[kept[begins[kept]]]] if len(corpus.weights) else corpus.weights,
    )
