"""The bounds on Lipschitz constants against Hessians by enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.objective.lipschitz_bounds import lipschitz_bounds
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import random_corpus, random_features


def largest_curvature(loss, i, w):
    return np.linalg.eigvalsh(loss.hessian(i, w)).max(initial=0.0)  # there may be no weights at all


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.2, 0.6, 1.0]), st.floats(0.0, 3.0))
def test_no_hessian_bends_more_than_the_bound(seed, values, weights, density, size):
    corpus = random_corpus(seed, lengths=(3, 1, 2), values=values, weights=weights, n_attributes=3)
    features = random_features(seed, n_attributes=3, density=density)
    bounds = lipschitz_bounds(corpus, features)
    w = size * np.random.default_rng(seed).normal(size=features.n_weights)
    loss = EnumeratedLoss(corpus, features)
    for i in range(corpus.n_sequences):
        assert largest_curvature(loss, i, w) <= bounds[i] * (1 + 1e-12) + 1e-12


def one_position(n_labels, n_weights):
    """A position with one attribute of value 3, of which the first labels have a weight."""
    longs, ints = np.array([0, 1]), np.zeros(1, np.int32)
    corpus = Corpus(longs, longs, ints, np.array([3.0]), ints, np.zeros(0))
    none = np.zeros(0, np.int32)
    return corpus, FeatureMap(np.array([0, n_weights]), np.arange(n_weights, dtype=np.int32), none, none, n_labels)


@pytest.mark.parametrize(("n_weights", "bound"), [(0, 0.0), (1, 9 / 4), (2, 9 / 2)])
def test_with_two_labels_of_equal_score_the_bound_is_reached(n_weights, bound):
    corpus, features = one_position(2, n_weights)
    assert lipschitz_bounds(corpus, features) == pytest.approx([bound])
    if n_weights:
        assert largest_curvature(EnumeratedLoss(corpus, features), 0, np.zeros(n_weights)) == pytest.approx(bound)


def test_repetitions_of_an_attribute_add_up_before_they_are_squared():
    corpus = Corpus(
        starts=np.array([0, 2, 3]),
        offsets=np.array([0, 1, 3, 4]),
        attributes=np.array([0, 0, 1, 0], np.int32),
        values=np.array([1.0, -2.0, 0.5, 1.0]),
        labels=np.zeros(3, np.int32),
        weights=np.array([1.0, 10.0]),
    )
    features = random_features(0, n_attributes=2, density=1.0)
    first = 0.5 * (3.0**2 + 0.5**2 + 1)
    np.testing.assert_allclose(lipschitz_bounds(corpus, features), [first, 10 * 0.5])
