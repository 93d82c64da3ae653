"""Sums of vectors of which each shard has some entries: sparse if that is faster, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fastcrf.core.types import Floats

Thing = TypeVar("Thing")
INDEX = np.uint32  # of a weight: the tables of a model have 32-bit indices, too
WORTH = 0.5  # of the bytes of all entries: sparse vectors that take more take longer to add than they save in sending
FEW = 1 / 32  # of all entries: so few places are joined by sorting, more by marking them among all


class Part(NamedTuple):
    """A loss and a vector of n entries; those that are not among `places` are 0.

    Between processes it travels as a plain tuple: of one of ours, Dask's scheduler copies the arrays.
    """

    loss: float
    values: Floats
    places: np.ndarray | None  # ascending; None: all
    n: int

    def dense(self) -> Floats:
        """Return the whole vector, which may be `values` itself."""
        if self.places is None:
            return self.values
        vector = np.zeros(self.n)
        vector[self.places] = self.values
        return vector

    def add_to(self, vector: Floats) -> Floats:
        """Add it to a whole vector, which is returned. Writes: vector."""
        if self.places is None:
            vector += self.values
        else:
            vector[self.places] += self.values
        return vector

    @property
    def nbytes(self) -> int:
        """Return the bytes that travel."""
        return self.values.nbytes + (0 if self.places is None else self.places.nbytes)


Traveling = tuple[float, Floats, np.ndarray | None, int]  # the fields of a Part


def worth_it(n_places: int, n: int) -> bool:
    """Return whether to send only the entries that may differ from 0 of a vector of n."""
    return n_places * (8 + np.dtype(INDEX).itemsize) < WORTH * 8 * n


def make_part(loss: float, values: Floats, places: np.ndarray | None, n: int) -> Part:
    """Return a part in the form that takes less time to send and to add."""
    if places is None or not worth_it(len(places), n):
        return Part(loss, Part(loss, values, places, n).dense(), None, n)
    return Part(loss, values, places.astype(INDEX, copy=False), n)


def add(one: Traveling, other: Traveling) -> Traveling:
    """Return the sum of two parts; entry by entry `one` comes first."""
    loss, values, places, n = sum_of(Part(*one), Part(*other))
    return loss, values, places, n


def sum_of(one: Part, other: Part) -> Part:
    loss = one.loss + other.loss
    if one.places is not None and other.places is not None:
        places = union(one.places, other.places, one.n)
        values = np.zeros(len(places))
        values[np.searchsorted(places, one.places)] = one.values
        values[np.searchsorted(places, other.places)] += other.values
        return make_part(loss, values, places, one.n)
    if one.places is None and other.places is None:
        return Part(loss, one.values + other.values, None, one.n)
    some, whole = (one, other) if other.places is None else (other, one)
    return Part(loss, some.add_to(whole.values.copy()), None, one.n)


def union(one: np.ndarray, other: np.ndarray, n: int) -> np.ndarray:
    """Return the places below n that are in either, ascending."""
    if len(one) + len(other) <= FEW * n:
        return np.union1d(one, other)
    marked = np.zeros(n, np.bool_)
    marked[one] = marked[other] = True
    return np.flatnonzero(marked).astype(INDEX)


def by_tree(things: Sequence[Thing], join: Callable[[Thing, Thing], Any]) -> Any:
    """Join neighbors, then neighbors of the results, until one remains: the order depends on their number alone."""
    level: list[Any] = list(things)
    while len(level) > 1:
        pairs = [join(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]
