"""The growing arrays of a corpus, and the lanes by which items enter them.

Lists of strings are looked up as they are. A dict is looked up pair by pair in a cache of (key, value) -> id, so that
the name ``key:value`` is built only when a pair is met for the first time; no Python code runs per attribute. The pairs
of a dict within a dict are looked up as (outer key, key, value). Whatever these lanes do not understand goes through
`items.flatten`, which is the definition of what an item means.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

import numpy as np

from fastcrf.core.types import Corpus
from fastcrf.data.encoding.input_shapes import items_of
from fastcrf.data.encoding.items import ItemError, flatten
from fastcrf.exceptions import DataError

PairIds = dict[tuple[Any, ...], int]  # (keys..., value) -> attribute id, or UNKNOWN, for attributes whose value is 1

UNKNOWN = -1  # an attribute that the model does not know, or whose value is 0: it adds nothing to any score
MOST_PAIRS = 1 << 18  # a cache that has grown so large (some 50 MB) is emptied: rare pairs must not fill the memory
LONGEST_VALUE = 100  # longer strings, which seldom come again, are not kept in the cache
check_strings = "".join  # the cheapest way to see whether every element is a string: a TypeError where one is not


class ItemGatherer:
    """Attributes of one position after another; `end_sequence` closes a sequence."""

    __slots__ = ("attributes", "ids", "offsets", "only_known", "pairs", "starts", "values")

    def __init__(self, ids: Mapping[str, int], only_known: bool = False, pairs: PairIds | None = None) -> None:
        self.ids = ids  # looking up a new name gives it an id, unless `only_known`
        self.only_known = only_known  # names that are not in `ids` become UNKNOWN
        self.pairs: PairIds = {} if pairs is None else pairs  # a cache of `ids`
        self.begin()

    def begin(self) -> None:
        """Let go of what was gathered; names keep their ids."""
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

    def add_item(self, item: Any) -> None:
        """Append one position with the attributes of an item, by the fastest lane that understands it."""
        kind = type(item)
        try:
            if kind is dict:
                row = list(map(self.pairs.get, item.items()))
                try:
                    self.attributes.fromlist(row)  # type: ignore[arg-type]  # takes all or, at a None, nothing
                except TypeError:
                    if not self.add_completed(row, item.items()):
                        self.add_flattened(item)
            elif kind is list or kind is tuple:
                check_strings(item)
                self.attributes.fromlist(self.ids_of(item))
            else:
                self.add_flattened(item)
        except TypeError:  # a value that cannot be hashed, such as a dict, or an element that is no string
            if kind is not dict or not self.add_nested(item):
                self.add_flattened(item)
        self.offsets.append(len(self.attributes))

    def ids_of(self, names: Iterable[str]) -> list[int]:
        """The ids of names; when only known ones count, UNKNOWN for the others."""
        if self.only_known:
            return list(map(self.ids.get, names, repeat(UNKNOWN)))  # type: ignore[arg-type]
        return list(map(self.ids.__getitem__, names))

    def add_nested(self, item: dict[Any, Any]) -> bool:
        """Append a dict some of whose values are dicts; False if it is not for this lane."""
        pairs: list[tuple[Any, ...]] = []
        for key, value in item.items():
            if type(value) is dict:
                pairs += zip(repeat(key), value.keys(), value.values())
            else:
                pairs.append((key, value))
        try:
            return self.add_completed(list(map(self.pairs.get, pairs)), pairs)
        except TypeError:  # a value that cannot be hashed: deeper dicts, lists, sets
            return False

    def add_completed(self, row: list[int | None], pairs: Iterable[tuple[Any, ...]]) -> bool:
        """Append a row of ids in which pairs not met before are None; False if one of them is not for this lane."""
        if None in row:
            if len(self.pairs) > MOST_PAIRS:
                self.pairs.clear()
            for place, (*keys, value) in enumerate(pairs):
                if row[place] is None:
                    number = self.id_of_pair(keys, value)
                    if number is None:
                        return False
                    row[place] = number
                    if type(value) is not str or len(value) <= LONGEST_VALUE:
                        self.pairs[*keys, value] = number
        self.attributes.fromlist(row)  # type: ignore[arg-type]
        return True

    def id_of_pair(self, keys: list[Any], value: Any) -> int | None:
        """The id of a pair that stands for one attribute with value 1 (or, when tagging, 0); None for any other."""
        kind = type(value)
        if not {str}.issuperset(map(type, keys)) or (kind is not str and kind not in (bool, int, float)):
            return None
        if kind is not str and value != 1:
            return UNKNOWN if self.only_known and value == 0 else None
        key = ":".join(keys)
        name = f"{key}:{value}" if kind is str else key
        return self.ids.get(name, UNKNOWN) if self.only_known else self.ids[name]

    def add_flattened(self, item: Any) -> None:
        """Append the attributes of an item of any kind, and their values if one of them is not 1."""
        names, values = flatten(item)
        row = self.ids_of(names)
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
