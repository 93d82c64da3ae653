"""The attributes that a model knows: how data is encoded as their ids, and their names.

There are two kinds. `ItemAttributes` are names, and the data are items (dicts or lists of strings); the attributes of
`fastcrf.data.template_engine.attributes` are made by a template, and the data are rows of raw columns. `boundaries.py`
wraps either. Code that depends on the kind calls a method of the attributes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus, Ints
from fastcrf.data.encoding.item_gatherer import ItemGatherer
from fastcrf.data.encoding.names import Names
from fastcrf.data.encoding.vocabulary import growing


class Gatherer(Protocol):
    """A collector of sequences, which returns them as a corpus."""

    def add_sequence(self, sequence: Iterable[Any], place: str) -> int:
        """Append the positions of a sequence, which errors call `place`, and return their number."""
        ...

    def end_sequence(self) -> None:
        """Close the sequence. (One without positions need not be closed, and is then left out.)"""
        ...

    def corpus(self, labels: array[int] | None = None) -> Corpus: ...

    def begin(self) -> None:
        """Let go of what was gathered, and begin another corpus with the same ids."""
        ...


class Attributes(Protocol):
    """The attributes of a model, numbered from 0."""

    kind: ClassVar[str]  # what a model file calls them
    n_fixed: ClassVar[int]  # the first so many are not the data's, and stay whether they have weights or not

    def __len__(self) -> int: ...

    def names(self) -> list[str]:
        """Return their names, in the order of their ids."""
        ...

    def gatherer(self) -> Gatherer:
        """Return a gatherer for tagging: unknown attributes are left out."""
        ...

    def learner(self) -> Learner:
        """Return a gatherer for training, which adds unknown attributes to a copy, and a function that returns the
        copy.
        """
        ...

    def kept(self, used: NDArray[np.bool_]) -> Attributes:
        """Return those that are used, in the same order."""
        ...

    def reads_like(self, other: Attributes) -> bool:
        """Return whether both make the same attributes of the same data, apart from which of them they know."""
        ...

    def joined(self, others: Sequence[Any]) -> tuple[Attributes, list[Ints]]:
        """Return these and those of `others`, of the same kind, and for each of the others the new id of each of its
        own.
        """
        ...


class Learner(NamedTuple):
    gatherer: Gatherer
    learnt: Callable[[], Attributes]  # the attributes of all that was gathered


@dataclass(frozen=True)
class ItemAttributes:
    """Attributes by name; X is sequences of items."""

    kind: ClassVar[str] = "items"
    n_fixed: ClassVar[int] = 0

    known: Names

    @classmethod
    def of(cls, names: Iterable[str]) -> ItemAttributes:
        """Return attributes with these names, numbered in this order."""
        return cls(Names.in_order(names))

    def __len__(self) -> int:
        return len(self.known)

    def names(self) -> list[str]:
        return self.known.listed()

    def gatherer(self) -> ItemGatherer:
        return ItemGatherer(self.known, learning=False)

    def learner(self) -> Learner:
        gatherer = ItemGatherer(self.known, learning=True)
        return Learner(gatherer, lambda: ItemAttributes(gatherer.learnt()))

    def kept(self, used: NDArray[np.bool_]) -> ItemAttributes:
        return ItemAttributes(self.known.kept(used))

    def reads_like(self, other: Attributes) -> bool:
        return other.kind == self.kind

    def joined(self, others: Sequence[ItemAttributes]) -> tuple[ItemAttributes, list[Ints]]:
        ids = growing(self.known.ids)
        numbers = [np.fromiter(map(ids.__getitem__, other.names()), np.int32, len(other)) for other in others]
        return ItemAttributes(Names(ids)), numbers
