"""Estimate the variance of each feature's count under the model: a free diagonal for solvers.

If positions were independent, the Hessian's diagonal would be sum_t x_t^2 p_t (1 - p_t). Only the sum of x_t p_t is
known, the expected count in the gradient. With p the mean probability, p (1 - p) times the sum of x_t^2 is the maximum
of the summed variances of a feature if its values are all alike, and an estimate of it if they have one sign. If values
have both signs, p is taken as 1/2.
"""

from __future__ import annotations

import math

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.feature_space.label_contexts import lengths_of
from fastcrf.jit.kernel import noalloc_kernel


def feature_moments(corpus: Corpus, features: FeatureMap) -> tuple[Floats, Floats]:
    """Return (sum of the values, sum of their squares) at the places where each feature could occur, by sequence
    weight.

    The first is NaN if values have both signs.
    """
    n, lengths = features.n_attributes, np.diff(corpus.starts)
    of_position = np.repeat(corpus.weights, lengths) if len(corpus.weights) else np.ones(corpus.n_positions)
    weight = np.repeat(of_position, np.diff(corpus.offsets))
    values = corpus.values if len(corpus.values) else np.ones(len(corpus.attributes))
    sums, sizes, squares = (
        np.bincount(corpus.attributes, weight * of_value, minlength=n)
        for of_value in (values, np.abs(values), values * values)
    )
    sums[np.abs(sums) < (1.0 - 1e-12) * sizes] = np.nan
    counts = np.diff(features.offsets)
    within = np.arange(corpus.n_positions) - np.repeat(corpus.starts[:-1], lengths)
    backs = lengths_of(features.sources, features.n_labels)
    edges = np.array([float(of_position[within >= back].sum()) for back in range(features.order + 1)])[backs]
    return np.concatenate((np.repeat(sums, counts), edges)), np.concatenate((np.repeat(squares, counts), edges))


@noalloc_kernel
def bound_variances(expected: Floats, sums: Floats, squares: Floats, bounds: Floats) -> None:
    """Implement `variance_bounds`. Writes: bounds."""
    for f in range(len(bounds)):
        p = expected[f] / sums[f]
        p = 0.5 if math.isnan(p) else min(max(p, 0.0), 1.0)
        bounds[f] = p * (1.0 - p) * squares[f]


def variance_bounds(expected: Floats, sums: Floats, squares: Floats) -> Floats:
    """Return squares p (1 - p), with p = expected / sums if that is defined."""
    bounds = np.empty(len(squares))
    with np.errstate(divide="ignore", invalid="ignore"):  # for the mode without a compiler
        bound_variances(expected, sums, squares, bounds)
    return bounds
