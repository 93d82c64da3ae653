"""What a solver remembers, declared: each array with its axes, type, fill value and range, each number with its range.

A checkpoint comes from a file, and what comes from a file is checked before a kernel sees it. `check_memory` compares a
restored memory with the declarations of its solver; what does not agree is one sentence that names array and value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

Sizes = Mapping[str, int | range]  # lengths of axes by name; a range where several are possible


class MemoryMismatch(ValueError):
    """A memory that its solver could not have written; the message says in what, without a full stop."""


class Declared(NamedTuple):
    """One entry of a memory.

    axes: a name of `sizes` (or a length) for each axis; none for a plain number. An axis that `sizes` gives a range, or
    does not know, has the same length wherever it occurs in a memory. fill: what entries of what is new begin as. Whole
    numbers and finite numbers lie between low and high, both included; a bound may be the name of a size and then means
    the size minus 1, so that high="sequences" is an index.
    """

    name: str
    axes: tuple[str | int, ...] = ()
    dtype: Any = np.float64
    fill: float = 0.0
    low: float | str = -math.inf
    high: float | str = math.inf
    distinct: bool = False  # no number occurs twice, as in an order
    optional: bool = False  # may be missing


def check_memory(declarations: Iterable[Declared], memory: Mapping[str, Any], sizes: Sizes) -> None:
    """Raise unless `memory` holds what is declared, and nothing else, in shapes and ranges that fit each other."""
    declared = {each.name: each for each in declarations}
    for name in memory:
        if name not in declared:
            raise MemoryMismatch(f"it has {name!r}, which its solver does not know")
    lengths: dict[str, int] = {name: size for name, size in sizes.items() if isinstance(size, int)}
    for each in declared.values():
        if each.name in memory:
            check_entry(each, memory[each.name], sizes, lengths)
        elif not each.optional:
            raise MemoryMismatch(f"it lacks {each.name!r}")


def check_entry(declared: Declared, value: Any, sizes: Sizes, lengths: dict[str, int]) -> None:
    """Writes: lengths, of axes that are met for the first time."""
    if not declared.axes:
        check_number(declared, value, lengths)
        return
    if not isinstance(value, np.ndarray) or value.dtype != declared.dtype or value.ndim != len(declared.axes):
        found = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        axes = "array" if len(declared.axes) == 1 else f"array with {len(declared.axes)} axes"
        raise MemoryMismatch(f"{declared.name!r} is {found} instead of an {axes} of {np.dtype(declared.dtype)}")
    for axis, length in zip(declared.axes, value.shape, strict=True):
        check_length(declared.name, axis, length, sizes, lengths)
    check_range(declared, value, lengths)


def check_number(declared: Declared, value: Any, lengths: Mapping[str, int]) -> None:
    """A plain number of a kind that the type can hold; a truth value for bool."""
    wanted = np.dtype(declared.dtype).kind
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    fits = {"b": isinstance(value, (bool, np.bool_)), "i": whole, "u": whole}.get(
        wanted, isinstance(value, Real) and not isinstance(value, bool)
    )
    if not fits:
        raise MemoryMismatch(f"{declared.name!r} is {value!r} instead of a number of {np.dtype(declared.dtype)}")
    if wanted != "b":
        low, high = bounds(declared, lengths)
        if not (low <= value <= high and (wanted != "f" or math.isfinite(value))):
            raise MemoryMismatch(f"{declared.name!r} is {value!r}, which is not from {low:g} to {high:g}")


def check_length(name: str, axis: str | int, length: int, sizes: Sizes, lengths: dict[str, int]) -> None:
    """Writes: lengths."""
    if isinstance(axis, int):
        wanted: int | range = axis
    else:
        wanted = lengths.get(axis, sizes.get(axis, range(length, length + 1)))
        lengths.setdefault(axis, length)
    if length not in (wanted if isinstance(wanted, range) else (wanted,)):
        told = f"{wanted.start} to {wanted.stop - 1}" if isinstance(wanted, range) else f"{wanted}"
        raise MemoryMismatch(f"{name!r} has {length} {axis if isinstance(axis, str) else 'entries'} instead of {told}")


def check_range(declared: Declared, array: np.ndarray, lengths: Mapping[str, int]) -> None:
    if array.size and array.dtype.kind in "fiu":
        low, high = bounds(declared, lengths)
        smallest, largest = array.min(), array.max()  # a NaN makes both NaN
        if not (
            low <= smallest and largest <= high and (array.dtype.kind != "f" or np.isfinite([smallest, largest]).all())
        ):
            raise MemoryMismatch(
                f"{declared.name!r} has numbers from {smallest:g} to {largest:g}, and all must be finite and from "
                f"{low:g} to {high:g}"
            )
    if declared.distinct and len(np.unique(array)) < array.size:
        raise MemoryMismatch(f"{declared.name!r} has the same number twice")


def bounds(declared: Declared, lengths: Mapping[str, int]) -> tuple[float, float]:
    """The range of a declaration in numbers."""
    low, high = (lengths[bound] - 1 if isinstance(bound, str) else bound for bound in (declared.low, declared.high))
    return low, high
