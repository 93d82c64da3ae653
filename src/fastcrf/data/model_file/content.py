"""The content of a saved model: labels, attributes, features, weights and options, as arrays and a header, and back.

Reading checks every number that a kernel will use as an index, so that a damaged or hostile file can make a model that
tags nonsense but never one that reads outside its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.constraints.constraints import Constraints
from fastcrf.constraints.saved import restored_constraints, saved_constraints
from fastcrf.core.types import FeatureMap, Floats
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.model_file.attribute_content import pack_attributes, unpack_attributes
from fastcrf.data.model_file.content_checks import ascend_to, in_order, require, take
from fastcrf.data.model_file.few_bytes import Steps, narrowed, widened
from fastcrf.exceptions import ModelFileError

LABEL_TYPES = (str, int, float, bool)  # the types that JSON distinguishes and restores
MOST_ALIKE = 100  # labels with the hash of another: whole numbers can be chosen so, and looking them up takes ages
MOST_COLUMNS = 1 << 20
HIGHEST = 9  # order of a chain


class ModelContent(NamedTuple):
    labels: list[Any]
    attributes: Attributes
    features: FeatureMap
    weights: Floats
    options: dict[str, Any]
    input: dict[str, Any]
    constraints: Constraints | None = None


def pack(content: ModelContent, steps: Steps | None = None) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return arrays and header of a model. With `steps`, whose multiples its weights are, they take few bytes."""
    features = content.features
    attribute_arrays, attribute_header = pack_attributes(content.attributes)
    arrays: dict[str, NDArray[Any]] = {
        **attribute_arrays,
        "feature_offsets": features.offsets,
        "feature_labels": features.labels,
        "transition_sources": features.sources,
        "transition_targets": features.targets,
        "weights": content.weights,
    }
    labels = [saved_label(label) for label in content.labels]
    header: dict[str, Any] = {
        "labels": labels,
        "attributes": attribute_header,
        "options": content.options,
        "input": content.input,
    }
    if features.order > 1:  # files of order 1 are as they have always been
        header["order"] = features.order
    if content.constraints is not None:
        header["constraints"] = saved_constraints(content.constraints, saved_label)
    if steps is not None:
        return narrowed(arrays, steps), {**header, "steps": list(steps)}
    return arrays, header


def saved_label(label: Any) -> str | int | float | bool:
    """Return a label as JSON keeps it."""
    plain = label.item() if isinstance(label, np.generic) else label
    if type(plain) not in LABEL_TYPES:
        raise ModelFileError(
            f"label {label!r} is a {type(label).__name__}, and only str, int, float and bool labels can be saved; "
            "train with such labels, or pickle the model"
        )
    return plain


def unpack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> ModelContent:
    """Return the model in arrays and header, if every part fits every other."""
    if "steps" in header:
        arrays = widened(arrays, header["steps"])
    labels = read_labels(header)
    attributes = unpack_attributes(arrays, header.get("attributes"))
    features = read_features(arrays, len(attributes), len(labels), header.get("order", 1))
    weights = take(arrays, "weights", np.float64)
    require(len(weights) == features.n_weights, f"{len(weights)} weights for {features.n_weights} features")
    require(bool(np.isfinite(weights).all()), "a weight that is not finite")
    for name in ("options", "input"):
        require(isinstance(header.get(name), dict), f"no {name}")
    check_input(header["input"])
    constraints = restored_constraints(header.get("constraints"), labels)
    return ModelContent(labels, attributes, features, weights, header["options"], header["input"], constraints)


def check_input(kind_of_input: Mapping[str, Any]) -> None:
    """Check the model's description of its input: a kind and, for columns, their number."""
    kind, n_columns = kind_of_input.get("kind"), kind_of_input.get("n_columns", 1)
    require(isinstance(kind, str), "an input of no kind")
    require(n_columns is None or (type(n_columns) is int and 0 < n_columns < MOST_COLUMNS), "no number of columns")


def read_labels(header: Mapping[str, Any]) -> list[Any]:
    labels = header.get("labels")
    if not isinstance(labels, list) or not labels:
        raise ModelFileError("the model is damaged: it has no labels")
    require(all(type(label) in LABEL_TYPES for label in labels), "a label that is neither a string nor a number")
    require(len(labels) - len(set(map(hash, labels))) <= MOST_ALIKE, "labels that all have the same hash")
    require(len(set(labels)) == len(labels), "the same label twice")
    return labels


def read_features(arrays: Mapping[str, NDArray[Any]], n_attributes: int, n_labels: int, order: Any) -> FeatureMap:
    require(type(order) is int and 1 <= order <= HIGHEST, f"an order that is not from 1 to {HIGHEST}")
    features = FeatureMap(
        offsets=take(arrays, "feature_offsets", np.int64),
        labels=take(arrays, "feature_labels", np.int32),
        sources=take(arrays, "transition_sources", np.int32),
        targets=take(arrays, "transition_targets", np.int32),
        n_labels=n_labels,
        order=order,
    )
    offsets, labels, sources, targets, *_ = features
    require(len(offsets) == n_attributes + 1, f"{len(offsets) - 1} attributes with features and {n_attributes} names")
    require(ascend_to(offsets, len(labels)), "features that overlap")
    require(len(sources) == len(targets), "transitions without an end")
    # label contexts, as feature_space/label_contexts.py numbers them
    n_before = sum(n_labels**length for length in range(1, order + 1))
    for ids, n in ((labels, n_labels), (sources, n_before), (targets, n_labels)):
        require(bool(((ids >= 0) & (ids < n)).all()), "a label id out of range")
    attributes = np.repeat(np.arange(n_attributes), np.diff(offsets))
    require(in_order(attributes, labels, n_labels), "state features out of order")
    require(in_order(sources, targets, n_labels), "transitions out of order")
    return features
