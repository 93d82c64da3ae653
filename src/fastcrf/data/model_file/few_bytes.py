"""The arrays of a shrunk model: whole numbers of one or two bytes, and a step for the weights.

The weights of state features are multiples of one step, those of transitions of another. Offsets are kept as lengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.data.model_file.content_checks import require

Arrays = dict[str, NDArray[Any]]
Steps = tuple[float, float]  # of state features and of transitions

TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32)  # the smallest first
LENGTHS = {"feature_offsets": "feature_counts", "attribute_name_offsets": "attribute_name_lengths"}
IDS = ("feature_labels", "transition_sources", "transition_targets")


def narrowed(arrays: Mapping[str, NDArray[Any]], steps: Steps) -> Arrays:
    """Return the arrays of a model whose weights are multiples of `steps`, in few bytes."""
    n_state, weights = len(arrays["feature_labels"]), arrays["weights"]
    numbers = np.round(np.concatenate((weights[:n_state] / steps[0], weights[n_state:] / steps[1])))
    lengths = {LENGTHS[name]: np.diff(array) for name, array in arrays.items() if name in LENGTHS}
    kept = {name: array for name, array in arrays.items() if name not in LENGTHS}
    small = {**lengths, **{name: arrays[name] for name in IDS}, "weights": numbers.astype(np.int64)}
    return {**kept, **{name: smallest(array) for name, array in small.items()}}


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in the smallest type that holds them."""
    least, most = (int(array.min()), int(array.max())) if len(array) else (0, 0)
    fitting = (t for t in TYPES if np.iinfo(t).min <= least and most <= np.iinfo(t).max)
    return array.astype(next(fitting, array.dtype))


def widened(arrays: Mapping[str, NDArray[Any]], steps: Any) -> Arrays:
    """Return the arrays that `narrowed` was given. Nothing about its own is taken for granted."""
    are_steps = isinstance(steps, list) and len(steps) == 2 and all(type(step) is float for step in steps)
    require(are_steps and all(0.0 < step < np.inf for step in steps), "weights without the size of their steps")
    wide = dict(arrays)
    for offsets, lengths in LENGTHS.items():
        if lengths in wide:
            each = numbers(wide, lengths).astype(np.int64)
            del wide[lengths]
            require(bool((each >= 0).all()), f"{lengths} below 0")
            wide[offsets] = np.concatenate((np.zeros(1, np.int64), np.cumsum(each)))
    for name in IDS:
        wide[name] = numbers(wide, name).astype(np.int32)
    parts = np.split(numbers(wide, "weights").astype(np.float64), [len(wide["feature_labels"])])
    wide["weights"] = np.concatenate([part * step for part, step in zip(parts, steps, strict=True)])
    return wide


def numbers(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return an array of whole numbers."""
    require(name in arrays and arrays[name].dtype.type in (*TYPES, np.int64), f"no whole numbers {name!r}")
    return arrays[name]
