"""Gather items through the bytes that `marshal` writes, which compiled code reads (`item_stream.py`).

What marshal or the kernels do not know (subclasses, Enums, NumPy scalars, None, sets, deeper nesting) goes item by item
through `items.flatten`, whose names are then read in the same way.
"""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus
from fastcrf.data.encoding.input_shapes import items_of
from fastcrf.data.encoding.item_stream import (
    AT,
    DONE,
    ITEM,
    LEFT,
    NAMES_FULL,
    ODD,
    OUTPUT_FULL,
    PLACE,
    POSITION,
    REFS_FULL,
    SCRATCH_FULL,
    VALUES_MISSING,
    Output,
    Work,
    read_arrays,
)
from fastcrf.data.encoding.items import ItemError, flatten
from fastcrf.data.encoding.name_table import BLOCK, ROW, SPARE, NameTable, U, grown
from fastcrf.data.encoding.plain_gatherer import Mark
from fastcrf.exceptions import DataError

VERSION = 4  # of marshal's format
PIECE = 1000  # items that are written at a time
PAD = bytes(SPARE)
SMALL = 1 << 10  # length of arrays at first
WORK: list[Work] = []  # not in use; pop and append of a list are atomic


def new_work() -> Work:
    return Work(np.empty(1 << 9, np.int64), np.empty(ROW // 8 * BLOCK, U), np.empty(1 << 10, U))


class StreamGatherer:
    """Attributes of one sequence after another; `end_sequence` closes a sequence. One thread uses it at a time.

    In learning, names that are new get the next id, and `names` belongs to this gatherer; else they get the id -1, and
    gatherers may share `names`.
    """

    def __init__(self, names: NameTable, learning: bool, begun: Corpus | None = None) -> None:
        """Continue from `begun`, which another gatherer has gathered with the same ids."""
        self.names, self.learning = names, learning
        self.begin()
        if begun is not None:
            self._continue(begun)

    def begin(self) -> None:
        """Drop what was gathered; names keep their ids."""
        self.state = np.zeros(6, np.int64)
        self.starts = array("q", (0,))
        self.is_given = False
        self.output = Output(np.empty(SMALL, np.int32), np.empty(0), np.zeros(SMALL, np.int64))

    def add_sequence(self, sequence: Iterable[Any], place: str) -> int:
        """Append the items of a sequence, which errors call `place`, and return their number."""
        before = int(self.state[POSITION])
        items = items_of(sequence, place)
        if type(items) is not list and type(items) is not tuple:
            items = list(items)
        try:
            if len(items) <= PIECE:
                self._add_items(items)
            else:  # so that a long sequence neither keeps the GIL nor takes memory for long
                for first in range(0, len(items), PIECE):
                    self._add_items(items[first : first + PIECE])
        except ItemError as error:
            raise DataError(error.sentence(f"{place}, item {int(self.state[POSITION]) - before}")) from None
        return int(self.state[POSITION]) - before

    def end_sequence(self) -> None:
        self.starts.append(int(self.state[POSITION]))

    def mark(self) -> Mark:
        return Mark(int(self.state[PLACE]), int(self.state[POSITION]), len(self.output.values) > 0)

    def take_back(self, mark: Mark) -> None:
        """Drop what was gathered since the mark; names keep their ids."""
        self.state[PLACE], self.state[POSITION] = mark.attributes, mark.positions
        if not mark.has_values:
            self.output = self.output._replace(values=np.empty(0))

    def corpus(self, labels: array[int] | None = None) -> Corpus:
        """Return what was gathered; when every value is 1, `values` has length 0."""
        n_attributes, n_positions = int(self.state[PLACE]), int(self.state[POSITION])
        attributes, values, offsets = self.output
        if not self.is_given:
            attributes.resize(n_attributes, refcheck=False)
            values.resize(n_attributes if len(values) else 0, refcheck=False)
            offsets.resize(n_positions + 1, refcheck=False)
            self.is_given = True
        return Corpus(
            starts=np.array(self.starts, np.int64),
            offsets=offsets[: n_positions + 1],
            attributes=attributes[:n_attributes],
            values=values[:n_attributes],
            labels=np.frombuffer(array("i") if labels is None else labels, np.int32),
            weights=np.empty(0),
        )

    def _continue(self, begun: Corpus) -> None:
        self.starts = array("q", begun.starts.tobytes())
        self.state[PLACE], self.state[POSITION] = len(begun.attributes), len(begun.offsets) - 1
        attributes, _, offsets = self.output
        self.output = Output(
            np.concatenate((begun.attributes, attributes)),
            np.concatenate((begun.values, np.ones(len(attributes)))) if len(begun.values) else np.empty(0),
            np.concatenate((begun.offsets, offsets)),
        )

    def _add_items(self, items: list[Any] | tuple[Any, ...]) -> None:
        """Append items together; from the first odd one on, one by one."""
        done = 0
        try:
            stream = marshal.dumps(items, VERSION)
        except (ValueError, MemoryError):  # a type that marshal does not know
            pass
        else:  # no more within `try`: what has been read must not be read again
            done = self._read(stream)
            if self.state[LEFT] == 0:
                return
        for item in items[done:]:
            self._add_item(item)

    def _add_item(self, item: Any) -> None:
        try:
            stream = marshal.dumps((item,), VERSION)
        except (ValueError, MemoryError):
            pass
        else:
            if self._read(stream):
                return
        self._add_flattened(item)

    def _add_flattened(self, item: Any) -> None:
        names, values = flatten(item)
        before = int(self.state[PLACE])
        self._read(marshal.dumps((names,), VERSION))
        if values.count(1.0) < len(values):
            if not len(self.output.values):
                self._make_values()
            self.output.values[before : before + len(values)] = values

    def _read(self, stream: bytes) -> int:
        """Read a stream and return the number of items that were read: all, or those before an odd one."""
        padded = np.frombuffer(stream + PAD, np.uint8)
        self.state[ITEM] = 0
        work = WORK.pop() if WORK else new_work()
        try:
            while True:
                why = read_arrays(padded, self.state, *self.names.table, *work, *self.output, self.learning)
                if why in (DONE, ODD):
                    return int(self.state[ITEM])
                self._make_space(why, work)
        finally:
            WORK.append(work)

    def _make_space(self, why: int, work: Work) -> None:
        attributes, values, offsets = self.output
        if why == OUTPUT_FULL and self.state[POSITION] + 1 >= len(offsets):
            self.output = Output(attributes, values, self._grown(offsets))
        elif why == OUTPUT_FULL:
            self.output = Output(self._grown(attributes), self._grown(values) if len(values) else values, offsets)
        elif why == VALUES_MISSING:
            self._make_values()
        elif why == NAMES_FULL:
            self.names.make_space()
        elif why == REFS_FULL:
            grown(work.refs)
        elif why == SCRATCH_FULL:
            grown(work.scratch)
        else:
            raise RuntimeError(f"marshal wrote a stream that cannot be read at byte {int(self.state[AT])}.")

    def _grown(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array, at least 25 % longer: a copy if it belongs to a corpus."""
        if not self.is_given:
            return grown(array)
        return np.concatenate((array, np.empty(max(len(array) // 4, SMALL), array.dtype)))

    def _make_values(self) -> None:
        self.output = self.output._replace(values=np.ones(len(self.output.attributes)))


def reads_like(definition: Callable[[Any], tuple[list[str], list[float]]]) -> bool:
    """Return whether this Python's marshal writes the format that the kernels read: a sample equals the definition."""
    shared, text = {"s": "é", "t": True}, "x" * 300
    numbers = {"n": 1.5, "i": -3, "l": 1 << 40, "f": False}
    items = [
        {"a": "b", "é": "\ud800", **numbers, text: text, "in": shared, "again": shared, "of": ["p", "é"]},
        ["q", "a:b"],
        (),
    ]
    gatherer = StreamGatherer(NameTable(), learning=True)
    try:
        gatherer.add_sequence(items, "")
        block, offsets = gatherer.names.packed()
    except Exception:
        return False
    names = [block[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in pairwise(offsets)]
    corpus = gatherer.corpus()
    for item, (first, last) in zip(items, pairwise(corpus.offsets), strict=True):
        if definition(item) != ([names[a] for a in corpus.attributes[first:last]], corpus.values[first:last].tolist()):
            return False
    return True
