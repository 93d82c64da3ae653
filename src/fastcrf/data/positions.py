"""The growing arrays of a corpus, and the lanes by which items enter them.

The common items (lists of strings, dicts of strings) take a lane in which no Python code runs per attribute; any other
item goes through `features.flatten`, which is the definition of what an item means.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import compress, repeat
from typing import Any

import numpy as np

from fastcrf.data.errors import DataError
from fastcrf.data.features import FeatureError, flatten
from fastcrf.data.sequences import items_of
from fastcrf.types import Corpus

join_pair = ":".join  # ("w", "the") -> "w:the"; a TypeError where one of the two is no string
check_strings = "".join  # the cheapest way to see whether every element is a string: a TypeError where one is not


class Positions:
    """Attributes of one position after another; `end_sequence` closes a sequence."""

    __slots__ = ("attributes", "ids", "offsets", "only_known", "starts", "strings_only", "values")

    def __init__(self, ids: Mapping[str, int], only_known: bool = False) -> None:
        self.ids = ids  # looking up a new name gives it an id, unless `only_known`
        self.only_known = only_known  # drop the names that are not in `ids`
        self.strings_only = True  # no dict so far had a value that is not a string
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
        except FeatureError as error:
            raise DataError(error.sentence(f"{place}, item {len(self.offsets) - before}")) from None
        return len(self.offsets) - before

    def end_sequence(self) -> None:
        self.starts.append(len(self.offsets) - 1)

    def add_item(self, item: Any) -> None:
        """Append one position with the attributes of an item, by the fastest lane that understands it."""
        if not self.add_strings(item):
            self.add_flattened(item)
        self.offsets.append(len(self.attributes))

    def add_strings(self, item: Any) -> bool:
        """Append the attributes of a dict or list of strings; False, with nothing appended, for any other item."""
        kind = type(item)
        try:
            if kind is dict and self.strings_only:
                row = list(self.select(map(join_pair, item.items())))
            elif kind is list or kind is tuple:
                check_strings(item)
                row = list(self.select(item))
            else:
                return False
        except TypeError:
            self.strings_only = self.strings_only and kind is not dict
            return False
        self.attributes.fromlist(row)
        return True

    def select(self, names: Iterable[str]) -> Iterator[int]:
        """The ids of names."""
        ids = self.ids
        return map(ids.__getitem__, filter(ids.__contains__, names) if self.only_known else names)

    def add_flattened(self, item: Any) -> None:
        """Append the attributes of an item of any kind, and their values if one of them is not 1."""
        names, values = flatten(item)
        row = list(self.select(names))
        if len(row) < len(names):
            values = list(compress(values, map(self.ids.__contains__, names)))
        if values.count(1.0) < len(values):
            self.fill_values()
            self.values.fromlist(values)
        self.attributes.fromlist(row)

    def fill_values(self) -> None:
        """Write out the values missing at the end, which are 1."""
        self.values.extend(repeat(1.0, len(self.attributes) - len(self.values)))

    def corpus(self, labels: array[int] | None = None) -> Corpus:
        """What was gathered, as arrays over the same memory; when every value is 1, `values` has length 0."""
        if self.values:
            self.fill_values()
        return Corpus(
            starts=np.frombuffer(self.starts, np.int64),
            offsets=np.frombuffer(self.offsets, np.int64),
            attributes=np.frombuffer(self.attributes, np.int32),
            values=np.frombuffer(self.values, np.float64),
            labels=np.frombuffer(array("i") if labels is None else labels, np.int32),
            weights=np.empty(0),
        )
