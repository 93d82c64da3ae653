"""Small random corpora and feature maps, built directly as arrays."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap


def random_corpus(seed, lengths=(3, 1, 4, 2), n_labels=3, n_attributes=6, per_item=3, values=False, weights=False):
    rng = np.random.default_rng(seed)
    n_positions = int(sum(lengths))
    counts = rng.integers(0, per_item + 1, n_positions)
    return Corpus(
        starts=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        attributes=rng.integers(0, n_attributes, counts.sum()).astype(np.int32),
        values=rng.normal(size=counts.sum()) if values else np.zeros(0),
        labels=rng.integers(0, n_labels, n_positions).astype(np.int32),
        weights=rng.uniform(0, 3, len(lengths)) if weights else np.zeros(0),
    )


def learnable_corpus(seed, n_labels=3, n_attributes=6, **options):
    """A random corpus whose labels follow from the attributes, with some noise."""
    corpus = random_corpus(seed, n_labels=n_labels, n_attributes=n_attributes, **options)
    rng = np.random.default_rng([seed, 2])
    truth = 3.0 * rng.normal(size=(n_attributes, n_labels))
    scores = rng.gumbel(size=(corpus.n_positions, n_labels))
    np.add.at(scores, np.repeat(np.arange(corpus.n_positions), np.diff(corpus.offsets)), truth[corpus.attributes])
    return corpus._replace(labels=scores.argmax(axis=1).astype(np.int32))


def random_features(seed, n_labels=3, n_attributes=6, density=0.6, order=1):
    """Each (attribute, label) pair and each label bigram has a weight with the given probability (and longer grams)."""
    rng = np.random.default_rng([seed, 1])
    state = rng.random((n_attributes, n_labels)) < density
    edges = rng.random((sum(n_labels**length for length in range(1, order + 1)), n_labels)) < density
    sources, targets = np.nonzero(edges)
    return FeatureMap(
        offsets=np.concatenate(([0], np.cumsum(state.sum(axis=1)))).astype(np.int64),
        labels=np.nonzero(state)[1].astype(np.int32),
        sources=sources.astype(np.int32),
        targets=targets.astype(np.int32),
        n_labels=n_labels,
        order=order,
    )
