"""Sums over the values of a feature, from which its variance is bounded."""

from __future__ import annotations

import numpy as np

from fastcrf.objective.variances import feature_moments
from reference.random_corpora import random_corpus, random_features


def test_a_sum_is_not_a_number_where_values_have_both_signs_and_nowhere_else():
    corpus = random_corpus(0, lengths=[3], n_attributes=3)._replace(
        offsets=np.array([0, 2, 4, 6]),
        attributes=np.array([0, 1, 0, 2, 1, 2], np.int32),
        values=np.array([2.0, 2.0, -1.0, -0.1, 3.0, -0.2]),
    )
    features = random_features(0, n_labels=2, n_attributes=3, density=1.0)
    sums, squares = feature_moments(corpus, features)
    np.testing.assert_allclose(sums, [np.nan, np.nan, 5.0, 5.0, -0.3, -0.3, 2.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(squares, [5.0, 5.0, 13.0, 13.0, 0.05, 0.05, 2.0, 2.0, 2.0, 2.0])
