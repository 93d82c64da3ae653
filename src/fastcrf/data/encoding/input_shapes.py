"""Checks of the shapes of X and y, which are iterables of sequences. Errors say what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import zip_longest
from typing import Any

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.data.encoding.items import describe, is_scalar
from fastcrf.exceptions import DataError

SHAPE = "one sequence of items (dicts, or lists of strings) per sentence"
NOTHING_MORE = object()  # stands for what is beyond the end of the shorter of X and y


def sequences_of(X: Any) -> Any:
    """Return X itself, if it can be an iterable of sequences of items."""
    if is_matrix(X):
        raise DataError(
            f"X is {describe(X)}, but a CRF needs to know where sequences begin: give {SHAPE}, or a list with an array "
            "for each sequence, such as np.split(X, ends)."
        )
    if isinstance(X, (Mapping, str, bytes)) or not isinstance(X, Iterable):
        raise DataError(f"X is {describe(X)}; give {SHAPE}.")
    return X


def items_of(sequence: Any, place: str) -> Iterable[Any]:
    """Return a sequence itself, if its elements can be items. (A string can be: its items are characters.)"""
    if isinstance(sequence, Mapping):
        raise DataError(f"{place} is {describe(sequence)}, so it looks like a single item; put the items in a list.")
    if is_matrix(sequence):
        raise DataError(
            f"{place} is {describe(sequence)}, and earlier sequences are not; give arrays alone, or dicts and lists."
        )
    if not isinstance(sequence, Iterable):
        raise DataError(f"{place} is {describe(sequence)}, not a sequence of items; give {SHAPE}.")
    return sequence


def labels_of(gold: Any, place: str) -> Iterable[Any]:
    """Return a sequence of labels itself. (A string is none: its characters would become labels.)"""
    if isinstance(gold, (Mapping, str, bytes)) or not isinstance(gold, Iterable) or is_scalar(gold):
        raise DataError(f"{place} is {describe(gold)}, not a sequence of labels; give one list of labels per sequence.")
    return gold


def is_matrix(thing: Any) -> bool:
    """Return whether this is an array of numbers, a sparse matrix or a table, whose rows are not items."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.kind not in "OUS" or thing.ndim == 0
    return hasattr(thing, "tocsr") or (hasattr(thing, "columns") and hasattr(thing, "iloc"))


def pairs_of(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Return each sequence of X with its labels. Lengths are compared first if they are known, else during reading."""
    if not isinstance(y, Iterable) or isinstance(y, (Mapping, str, bytes)) or is_scalar(y):
        raise DataError(f"y is {describe(y)}; give one list of labels per sequence of X.")
    X = sequences_of(X)
    if isinstance(X, Sized) and isinstance(y, Sized) and len(X) != len(y):
        raise DataError(f"X has {len(X)} sequences and y has {len(y)}; give one list of labels per sequence.")
    for i, (sequence, gold) in enumerate(zip_longest(X, y, fillvalue=NOTHING_MORE)):
        if sequence is NOTHING_MORE or gold is NOTHING_MORE:
            short, long = ("X", "y") if sequence is NOTHING_MORE else ("y", "X")
            raise DataError(
                f"{short} ends after {i} sequences and {long} has more; give one list of labels per sequence."
            )
        yield sequence, gold


def checked_weights(sample_weight: Any) -> Floats:
    """Return sequence weights as an array: one finite number >= 0 per sequence."""
    try:
        is_array = hasattr(sample_weight, "__len__") or hasattr(sample_weight, "__array__")
        weights = np.array(sample_weight if is_array else list(sample_weight), np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"sample_weight is {describe(sample_weight)}; give one number >= 0 per sequence.") from None
    if weights.ndim != 1:
        raise DataError(f"sample_weight has shape {weights.shape}; give one number per sequence, not per item.")
    for i in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[:1]:
        raise DataError(f"sample_weight[{i}] is {weights[i]}; weights must be finite and >= 0.")
    return weights
