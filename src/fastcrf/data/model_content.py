"""What a saved model holds: labels, attribute names, features, weights and options, as arrays and a header, and back.

Reading checks every number that a kernel will use as an index, so that a damaged or hostile file can make a model that
tags nonsense but never one that reads outside its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.data.model_file import ModelFileError
from fastcrf.data.vocabulary import names_by_id, pack_names, unpack_names
from fastcrf.types import FeatureMap, Floats, Longs

LABEL_TYPES = (str, int, float, bool)  # what JSON tells apart and gives back as it was


class ModelContent(NamedTuple):
    labels: list[Any]
    ids: dict[str, int]  # attribute name -> id
    features: FeatureMap
    weights: Floats
    options: dict[str, Any]
    input: dict[str, Any]


def pack(content: ModelContent) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and header of a model."""
    features = content.features
    names, name_offsets = pack_names(names_by_id(content.ids))
    arrays: dict[str, NDArray[Any]] = {
        "attribute_names": names,
        "attribute_name_offsets": name_offsets,
        "feature_offsets": features.offsets,
        "feature_labels": features.labels,
        "transition_sources": features.sources,
        "transition_targets": features.targets,
        "weights": content.weights,
    }
    labels = [saved_label(label) for label in content.labels]
    return arrays, {"labels": labels, "options": content.options, "input": content.input}


def saved_label(label: Any) -> str | int | float | bool:
    """A label as JSON keeps it."""
    plain = label.item() if isinstance(label, np.generic) else label
    if type(plain) not in LABEL_TYPES:
        raise ModelFileError(
            f"label {label!r} is a {type(label).__name__}, and only str, int, float and bool labels can be saved; "
            "train with such labels, or pickle the model"
        )
    return plain


def unpack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> ModelContent:
    """The model in arrays and header, if every part fits every other."""
    labels = read_labels(header)
    ids = read_names(arrays)
    features = read_features(arrays, len(ids), len(labels))
    weights = take(arrays, "weights", np.float64)
    require(len(weights) == features.n_weights, f"{len(weights)} weights for {features.n_weights} features")
    require(bool(np.isfinite(weights).all()), "a weight that is not finite")
    for name in ("options", "input"):
        require(isinstance(header.get(name), dict), f"no {name}")
    return ModelContent(labels, ids, features, weights, header["options"], header["input"])


def read_labels(header: Mapping[str, Any]) -> list[Any]:
    labels = header.get("labels")
    if not isinstance(labels, list) or not labels:
        raise ModelFileError("the model is damaged: it has no labels")
    require(all(type(label) in LABEL_TYPES for label in labels), "a label that is no string and no number")
    require(len(set(labels)) == len(labels), "the same label twice")
    return labels


def read_names(arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    block = take(arrays, "attribute_names", np.uint8)
    offsets = take(arrays, "attribute_name_offsets", np.int64)
    require(ascend_to(offsets, len(block)), "attribute names that overlap")
    try:
        names = unpack_names(block, offsets)
    except UnicodeDecodeError:
        raise ModelFileError("the model holds an attribute name that is no UTF-8") from None
    ids = {name: a for a, name in enumerate(names)}
    require(len(ids) == len(names), "the same attribute twice")
    return ids


def read_features(arrays: Mapping[str, NDArray[Any]], n_attributes: int, n_labels: int) -> FeatureMap:
    features = FeatureMap(
        offsets=take(arrays, "feature_offsets", np.int64),
        labels=take(arrays, "feature_labels", np.int32),
        sources=take(arrays, "transition_sources", np.int32),
        targets=take(arrays, "transition_targets", np.int32),
        n_labels=n_labels,
    )
    offsets, labels, sources, targets, _ = features
    require(len(offsets) == n_attributes + 1, f"{len(offsets) - 1} attributes with features and {n_attributes} names")
    require(ascend_to(offsets, len(labels)), "features that overlap")
    require(len(sources) == len(targets), "transitions without an end")
    for ids in (labels, sources, targets):
        require(bool(((ids >= 0) & (ids < n_labels)).all()), "a label id out of range")
    attributes = np.repeat(np.arange(n_attributes), np.diff(offsets))
    require(in_order(attributes, labels, n_labels), "state features out of order")
    require(in_order(sources, targets, n_labels), "transitions out of order")
    return features


def take(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type) -> NDArray[Any]:
    """An array of the model, by name and type."""
    require(name in arrays and arrays[name].dtype == dtype, f"no array {name!r} of type {dtype.__name__}")
    return arrays[name]


def ascend_to(offsets: Longs, end: int) -> bool:
    """Whether offsets ascend from 0 to `end`."""
    return len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end and bool((offsets[1:] >= offsets[:-1]).all())


def in_order(first: NDArray[Any], second: NDArray[Any], n_labels: int) -> bool:
    """Whether pairs ascend strictly, by `first` and then by `second`, which is below n_labels."""
    return bool((np.diff(first.astype(np.int64) * n_labels + second) > 0).all())


def require(holds: bool, fault: str) -> None:
    """Say what the model holds that it should not."""
    if not holds:
        raise ModelFileError(f"the model is damaged: it has {fault}")
