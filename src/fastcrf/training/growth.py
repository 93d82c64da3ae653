"""Features that a stream brings, and what a solver remembers of those before them.

New attributes come behind the old ones and new labels behind the old labels, but in the flat vector of weights a new
label of an old attribute lies in the middle. So features are merged by what they are, and everything that has a place
for each weight moves along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.chain.histories import renumbered
from fastcrf.memory import Kept
from fastcrf.training.warm_start import attribute_of_states, pairs
from fastcrf.types import FeatureMap, Longs

NO_FEATURES = FeatureMap(np.zeros(1, np.int64), *(np.zeros(0, np.int32),) * 3, n_labels=0)


def merge(old: FeatureMap, new: FeatureMap) -> tuple[FeatureMap, Longs]:
    """(all features of both, places of the old ones among them). `new` has all attributes and labels of `old`."""
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
    """One number for each state and each transition, of features whose labels are the first of n_labels."""
    histories = renumbered(features.sources, np.arange(features.n_labels), n_labels)
    states = pairs(attribute_of_states(features), features.labels, n_labels)
    return states, pairs(histories, features.targets, n_labels)


def every_state(features: FeatureMap) -> FeatureMap:
    """The features with a weight for each pair of an attribute and a label."""
    A, K = features.n_attributes, features.n_labels
    return features._replace(offsets=np.arange(A + 1) * K, labels=np.tile(np.arange(K, dtype=np.int32), A))


def extended(array: np.ndarray, places: Longs, n_weights: int, fill: float = 0.0) -> np.ndarray:
    """An array whose last axis has a place for each weight, with `fill` for the weights that are new."""
    grown = np.full((*array.shape[:-1], n_weights), fill, array.dtype)
    grown[..., places] = array
    return grown


def extended_memory(
    keeps: Mapping[str, Kept], memory: Mapping[str, Any], places: Longs, n_weights: int
) -> dict[str, Any]:
    """A solver's memory for more weights, by the axes that it declares."""
    along = {name for name in memory if keeps[name].axis == "weights"}
    return {
        name: extended(value, places, n_weights, keeps[name].fill) if name in along else value
        for name, value in memory.items()
    }
