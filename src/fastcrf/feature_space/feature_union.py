"""Merge two feature maps, for warm starts, priors and streams."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import FeatureMap, Longs
from fastcrf.feature_space.label_contexts import renumbered

NO_FEATURES = FeatureMap(np.zeros(1, np.int64), *(np.zeros(0, np.int32),) * 3, n_labels=0)


def merge(old: FeatureMap, new: FeatureMap) -> tuple[FeatureMap, Longs]:
    """Return (all features of both, places of the old ones among them). `new` has all attributes and labels of
    `old`.
    """
    K, A = new.n_labels, new.n_attributes
    old_states, old_edges = numbers_among(old, K)
    new_states, new_edges = numbers_among(new, K)
    states, edges = np.union1d(old_states, new_states), np.union1d(old_edges, new_edges)
    merged = FeatureMap(
        offsets=np.searchsorted(states, np.arange(A + 1) * K),
        labels=(states % K).astype(np.int32),
        sources=(edges // K).astype(np.int32),
        targets=(edges % K).astype(np.int32),
        n_labels=K,
        order=new.order,
    )
    places = np.searchsorted(states, old_states), len(states) + np.searchsorted(edges, old_edges)
    return merged, np.concatenate(places)


def numbers_among(features: FeatureMap, n_labels: int) -> tuple[Longs, Longs]:
    """Return one number for each state and each transition of features whose labels are the first of n_labels."""
    contexts = renumbered(features.sources, np.arange(features.n_labels), n_labels)
    states = pairs(attribute_of_states(features), features.labels, n_labels)
    return states, pairs(contexts, features.targets, n_labels)


def every_state(features: FeatureMap) -> FeatureMap:
    """Return the features with a weight for each pair of an attribute and a label."""
    A, K = features.n_attributes, features.n_labels
    return features._replace(offsets=np.arange(A + 1) * K, labels=np.tile(np.arange(K, dtype=np.int32), A))


def attribute_of_states(features: FeatureMap) -> Longs:
    return np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))


def pairs(first: np.ndarray, second: np.ndarray, n_labels: int) -> Longs:
    """Return one number per pair of ids, -1 if one of them is missing."""
    return np.where((first < 0) | (second < 0), -1, first.astype(np.int64) * n_labels + second)
