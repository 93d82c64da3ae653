"""Checks of the content of a model file; a failure is a `ModelFileError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Longs
from fastcrf.data.encoding.vocabulary import unpack_names
from fastcrf.exceptions import ModelFileError


def take(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type) -> NDArray[Any]:
    """Return an array of the model, by name and type."""
    require(name in arrays and arrays[name].dtype == dtype, f"no array {name!r} of type {dtype.__name__}")
    return arrays[name]


def take_names(arrays: Mapping[str, NDArray[Any]], what: str) -> list[str]:
    """Return names that `pack_names` packed."""
    block = take(arrays, f"{what}_names", np.uint8)
    offsets = take(arrays, f"{what}_name_offsets", np.int64)
    require(ascend_to(offsets, len(block)), f"{what} names that overlap")
    try:
        return unpack_names(block, offsets)
    except UnicodeDecodeError:
        raise ModelFileError(f"the model holds an {what} name that is not UTF-8") from None


def ascend_to(offsets: Longs, end: int) -> bool:
    """Return whether offsets ascend from 0 to `end`."""
    return len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end and bool((offsets[1:] >= offsets[:-1]).all())


def in_order(first: NDArray[Any], second: NDArray[Any], n_labels: int) -> bool:
    """Return whether pairs ascend strictly, by `first` and then by `second`, which is below n_labels."""
    return bool((np.diff(first.astype(np.int64) * n_labels + second) > 0).all())


def require(holds: bool, fault: str) -> None:
    """Raise an error that names what the model should not contain, unless `holds`."""
    if not holds:
        raise ModelFileError(f"the model is damaged: it has {fault}")
