"""Sums of vectors of which each shard has some entries: sparse where that is smaller, in an order that is fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fastcrf.types import Floats

Thing = TypeVar("Thing")
INDEX = np.uint32  # of a weight: the tables of a model have 32-bit indices, too


class Part(NamedTuple):
    """A loss and a vector of n entries; those that are not among `places` are 0."""

    loss: float
    values: Floats
    places: np.ndarray | None  # ascending; None: all
    n: int

    def dense(self) -> Floats:
        """The whole vector, which may be `values` itself."""
        if self.places is None:
            return self.values
        vector = np.zeros(self.n)
        vector[self.places] = self.values
        return vector

    @property
    def nbytes(self) -> int:
        """What travels."""
        return self.values.nbytes + (0 if self.places is None else self.places.nbytes)


def make_part(loss: float, values: Floats, places: np.ndarray | None, n: int) -> Part:
    """A part in the smaller of its two forms."""
    if places is None or len(places) * (8 + np.dtype(INDEX).itemsize) >= 8 * n:
        whole = Part(loss, values, places, n).dense()
        return Part(loss, whole, None, n)
    return Part(loss, values, places.astype(INDEX, copy=False), n)


def add(one: Part, other: Part) -> Part:
    """The sum of two parts; entry by entry `one` comes first."""
    loss = one.loss + other.loss
    if one.places is not None and other.places is not None:
        places = np.union1d(one.places, other.places)
        values = np.zeros(len(places))
        values[np.searchsorted(places, one.places)] = one.values
        values[np.searchsorted(places, other.places)] += other.values
        return make_part(loss, values, places, one.n)
    total = one.dense().copy()
    if other.places is None:
        total += other.values
    else:
        total[other.places] += other.values
    return Part(loss, total, None, one.n)


def by_tree(things: Sequence[Thing], join: Callable[[Thing, Thing], Any]) -> Any:
    """Neighbours are joined, then neighbours of those, until one is left: the order depends on their number alone."""
    level: list[Any] = list(things)
    while len(level) > 1:
        pairs = [join(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]
