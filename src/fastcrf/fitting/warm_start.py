"""Weights to start from, taken from an earlier model by the names of attributes and labels.

A start never changes what is learnt: features and labels are those of the new data, the problem is convex, and only the
way to its optimum becomes shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.feature_space.feature_union import attribute_of_states, pairs
from fastcrf.feature_space.label_contexts import renumbered
from fastcrf.model.model import Model


def starting_weights(model: Model, attributes: Attributes, labels: Sequence[Any], features: FeatureMap) -> Floats:
    """The weights of `model` for each feature of `features` that it has, 0 for the others."""
    attribute = new_ids(model.attributes.names(), attributes.names())
    label = new_ids(model.labels, labels)
    old, n_labels = model.features, features.n_labels
    weights = np.zeros(features.n_weights)
    weights[: features.n_state] = look_up(
        wanted=pairs(attribute_of_states(features), features.labels, n_labels),
        known=pairs(attribute[attribute_of_states(old)], label[old.labels], n_labels),
        values=model.weights[: old.n_state],
    )
    weights[features.n_state :] = look_up(
        wanted=pairs(features.sources, features.targets, n_labels),
        known=pairs(renumbered(old.sources, label, n_labels), label[old.targets], n_labels),
        values=model.weights[old.n_state :],
    )
    return weights


def new_ids(names: Sequence[Any], new_names: Sequence[Any]) -> Longs:
    """The index of each name among the new ones, -1 for those that are not there."""
    ids = {name: i for i, name in enumerate(new_names)}
    return np.fromiter((ids.get(name, -1) for name in names), np.int64, len(names))


def look_up(wanted: Longs, known: Longs, values: Floats) -> Floats:
    """values[i] where wanted == known[i] >= 0, else 0. `wanted` ascends."""
    found = np.zeros(len(wanted))
    place = np.searchsorted(wanted, known)
    place[place == len(wanted)] = 0
    match = (known >= 0) & (wanted[place] == known) if len(wanted) else np.zeros(len(known), np.bool_)
    found[place[match]] = values[match]
    return found
