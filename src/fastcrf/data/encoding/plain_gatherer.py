"""Gather items in plain Python: `items.flatten` attribute by attribute, ids from a dict."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Corpus
from fastcrf.data.encoding.input_shapes import items_of
from fastcrf.data.encoding.items import ItemError, flatten
from fastcrf.exceptions import DataError

UNKNOWN = -1  # an attribute that the model does not know: it adds nothing to any score


class Mark(NamedTuple):
    """The number of gathered attributes and positions."""

    attributes: int
    positions: int
    has_values: bool


class PlainGatherer:
    """Attributes of one sequence after another; `end_sequence` closes a sequence.

    In learning, looking up a new name in `ids` gives it the next id; else it gets UNKNOWN.
    """

    def __init__(self, ids: Mapping[str, int], learning: bool) -> None:
        self.ids, self.learning = ids, learning
        self.begin()

    def begin(self) -> None:
        """Drop what was gathered; names keep their ids."""
        self.starts = array("q", (0,))
        self.offsets = array("q", (0,))
        self.attributes = array("i")
        self.values = array("d")  # may be shorter than attributes: the values missing at its end are 1

    def add_sequence(self, sequence: Iterable[Any], place: str) -> int:
        """Append the items of a sequence, which errors call `place`, and return their number."""
        before = len(self.offsets)
        try:
            for item in items_of(sequence, place):
                self.add_item(item)
        except ItemError as error:
            raise DataError(error.sentence(f"{place}, item {len(self.offsets) - before}")) from None
        return len(self.offsets) - before

    def end_sequence(self) -> None:
        self.starts.append(len(self.offsets) - 1)

    def mark(self) -> Mark:
        return Mark(len(self.attributes), len(self.offsets) - 1, len(self.values) > 0)

    def take_back(self, mark: Mark) -> None:
        """Drop what was gathered since the mark; names keep their ids."""
        del self.offsets[mark.positions + 1 :], self.attributes[mark.attributes :]
        del self.values[mark.attributes if mark.has_values else 0 :]

    def add_item(self, item: Any) -> None:
        """Append one position with the attributes of an item, and their values if one of them is not 1."""
        names, values = flatten(item)
        if self.learning:
            row = list(map(self.ids.__getitem__, names))
        else:
            row = list(map(self.ids.get, names, repeat(UNKNOWN)))  # type: ignore[arg-type]
        if values.count(1.0) < len(values):
            self._fill_values()
            self.values.fromlist(values)
        self.attributes.fromlist(row)
        self.offsets.append(len(self.attributes))

    def _fill_values(self) -> None:
        """Write out the values missing at the end, which are 1."""
        self.values.extend(repeat(1.0, len(self.attributes) - len(self.values)))

    def corpus(self, labels: array[int] | None = None) -> Corpus:
        """Return what was gathered, as arrays over the same memory; when every value is 1, `values` has length 0."""
        if self.values:
            self._fill_values()
        return Corpus(
            starts=np.frombuffer(self.starts, np.int64),
            offsets=np.frombuffer(self.offsets, np.int64),
            attributes=np.frombuffer(self.attributes, np.int32),
            values=np.frombuffer(self.values, np.float64),
            labels=np.frombuffer(array("i") if labels is None else labels, np.int32),
            weights=np.empty(0),
        )
