"""Pruning drops what cannot matter, and nothing that can."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.decoding.compiled_decoder import posteriors, viterbi
from fastcrf.model.pruning import prune
from reference.random_corpora import random_corpus, random_features


def sparse_weights(seed, features):
    rng = np.random.default_rng(seed)
    return rng.normal(size=features.n_weights) * (rng.random(features.n_weights) < 0.4)


def restricted(corpus, ids, kept):
    """The corpus with attribute ids of the pruned model, without the attributes that it dropped."""
    names = {a: name for name, a in ids.items()}
    counts = np.zeros(corpus.n_positions, np.int64)
    attributes = []
    for p in range(corpus.n_positions):
        for a in corpus.attributes[corpus.offsets[p] : corpus.offsets[p + 1]]:
            if names[a] in kept:
                attributes.append(kept[names[a]])
                counts[p] += 1
    return corpus._replace(
        offsets=np.concatenate(([0], np.cumsum(counts))), attributes=np.array(attributes, dtype=np.int32)
    )


def numbered(features):
    """Attributes a0, a1, ... for these features."""
    return ItemAttributes.of(f"a{a}" for a in range(features.n_attributes))


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_labels_and_probabilities_stay_the_same(seed):
    corpus, features = random_corpus(seed), random_features(seed)
    weights = sparse_weights(seed, features)
    attributes = numbered(features)
    kept, kept_features, kept_weights = prune(attributes, features, weights)
    pruned = restricted(corpus, attributes.known.ids, kept.known.ids)
    np.testing.assert_array_equal(viterbi(corpus, features, weights), viterbi(pruned, kept_features, kept_weights))
    np.testing.assert_allclose(
        posteriors(corpus, features, weights), posteriors(pruned, kept_features, kept_weights), rtol=1e-12
    )
    assert np.all(kept_weights != 0)
    assert np.all(np.diff(kept_features.offsets) > 0)
    assert list(kept.known.ids.values()) == list(range(kept_features.n_attributes))
    assert kept_features.n_weights == len(kept_weights) == np.count_nonzero(weights)


def test_a_model_without_zeros_is_left_as_it_is():
    features = random_features(3, density=1.0)
    attributes = numbered(features)
    weights = np.ones(features.n_weights)
    assert prune(attributes, features, weights) == (attributes, features, weights)


def test_a_model_of_zeros_keeps_its_labels_alone():
    features = random_features(3)
    attributes = numbered(features)
    kept, kept_features, kept_weights = prune(attributes, features, np.zeros(features.n_weights))
    assert (kept.known.ids, kept_features.n_attributes, kept_features.n_labels, len(kept_weights)) == ({}, 0, 3, 0)
    assert kept_features.offsets.dtype == np.int64
