"""Run the template engine: rows of columns in, attribute ids out, block by block.

Python touches each token once per column, to look its value up; each distinct value once per operation, to apply it;
everything else is done in compiled code for a block of some ten thousand slots at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from fastcrf.core.types import Corpus, Ints, Longs
from fastcrf.data.encoding.input_shapes import items_of
from fastcrf.data.encoding.items import describe
from fastcrf.data.encoding.vocabulary import growing
from fastcrf.data.template_engine.blocks import NONE, Pairing, Slots
from fastcrf.data.template_engine.engines import engine_for
from fastcrf.data.template_engine.program import MarkTrack, PairTrack, StreamTrack
from fastcrf.data.template_engine.tables import Tables
from fastcrf.data.templates.template import Padding
from fastcrf.exceptions import DataError
from fastcrf.system.memory_budget import require_memory

BLOCK = 1 << 15  # slots that are worked on together: tracks stay in the cache, and calls of kernels do not count
SHAPE = "one row of columns for each token, such as ['the', 'DT']"


class Values:
    """The distinct values of the columns, numbered for this run alone, and their ids in the alphabet of each stream."""

    def __init__(self, tables: Tables, padding: Padding, learning: bool) -> None:
        self.streams, self.alphabets, self.learning = tables.program.streams, tables.alphabets, learning
        self.columns: dict[int, dict[str, int]] = {stream.column: growing() for stream in self.streams}
        texts = (*padding.before, *padding.after)
        self.padding = [np.array([self.id_of(s, text) for text in texts], np.int32) for s in range(len(self.streams))]
        self.known = [array("i") for _ in self.streams]

    def id_of(self, s: int, value: str | None) -> int:
        """Return the id in the alphabet of stream s; NONE if there is none."""
        if value is None:
            return NONE
        text, alphabet = self.streams[s].operation.apply(value), self.alphabets[self.streams[s].alphabet]
        return alphabet.setdefault(text, len(alphabet)) if self.learning else alphabet.get(text, NONE)

    def ids(self, s: int) -> Ints:
        """Return the id in stream s of each value of its column."""
        known, values = self.known[s], self.columns[self.streams[s].column]
        known.extend([self.id_of(s, value) for value in islice(values, len(known), None)])
        return np.frombuffer(known, np.int32)


class TemplateGatherer:
    """Sentences one after another, as `ItemGatherer` takes items. With `learning` the tables grow."""

    def __init__(self, tables: Tables, padding: Padding, learning: bool) -> None:
        self.tables, self.program, self.padding, self.learning = tables, tables.program, padding, learning
        self.values = Values(tables, padding, learning)
        self.before, self.after, self.n_columns = self.program.before, self.program.after, self.program.n_columns
        self.begin()

    def begin(self) -> None:
        """Let go of what was gathered; texts, pairs and attributes keep their ids."""
        self.starts = array("q", (0,))
        self.offsets = array("q", (0,))
        self.attributes = array("i")
        self.begin_block()

    def begin_block(self) -> None:
        self.tokens = {column: array("i") for column in self.values.columns}  # the number of each token's value
        self.block_starts = array("q", (0,))
        self.n_tokens = self.n_slots = 0

    def add_sequence(self, sequence: Iterable[Any], place: str) -> int:
        """Append the tokens of a sentence, which errors call `place`, and return their number."""
        rows = [*items_of(sequence, place)]
        if rows:
            columns = columns_of(rows, self.n_columns, place)
            for c, numbers in self.values.columns.items():
                check_texts(columns[c], c, place)
                self.tokens[c].extend(map(numbers.__getitem__, columns[c]))
            self.n_tokens += len(rows)
        return len(rows)

    def end_sequence(self) -> None:
        length = self.n_tokens - self.block_starts[-1]
        self.block_starts.append(self.n_tokens)
        self.starts.append(self.starts[-1] + length)
        self.n_slots += self.before + length + self.after
        if self.n_slots >= BLOCK:
            self.encode_block()

    def corpus(self, labels: array[int] | None = None) -> Corpus:
        """Return what was gathered, as arrays over the same memory."""
        self.encode_block()
        return Corpus(
            starts=np.frombuffer(self.starts, np.int64),
            offsets=np.frombuffer(self.offsets, np.int64),
            attributes=np.frombuffer(self.attributes, np.int32),
            values=np.empty(0),
            labels=np.frombuffer(array("i") if labels is None else labels, np.int32),
            weights=np.empty(0),
        )

    def encode_block(self) -> None:
        """Append the attributes of the sentences of the block, and begin another block."""
        if self.n_tokens:
            slots = Slots(np.frombuffer(self.block_starts, np.int64), self.before, self.after)
            self.engine = engine_for(self.n_slots, self.learning)
            self.give_out(slots, self.fill_tracks(slots))
        self.begin_block()

    def fill_tracks(self, slots: Slots) -> Ints:
        """Return the ids of all tracks of the program, [tracks, slots]."""
        what = f"A block of {self.n_slots} places under a template"
        require_memory(4 * len(self.program.tracks) * self.n_slots, what, "use shorter sentences or fewer macros")
        tracks = np.full((len(self.program.tracks), self.n_slots), NONE, np.int32)
        sources: dict[int, Ints] = {}
        for r, track in enumerate(self.program.tracks):
            if isinstance(track, PairTrack):
                self.combine(slots, r, track, tracks)
            elif isinstance(track, MarkTrack):
                tracks[r, marked_slots(slots, track.where)] = 0
            else:
                self.show(slots, track, sources, tracks[r])
        return tracks

    def show(self, slots: Slots, track: StreamTrack, sources: dict[int, Ints], ids: Ints) -> None:
        """Fill track r from its stream. Writes: ids, sources (kept by place, because streams share them)."""
        place = track.place if track.place is not None else 0
        if track.place == 0:  # one before the first token, as Wapiti has it
            ids[:] = self.values.padding[track.stream][0]
            return
        if place not in sources:
            sources[place] = np.empty(self.n_slots, np.int32)
            self.engine.find_sources(slots, place, len(self.padding.before), len(self.padding.after), sources[place])
        tokens = np.frombuffer(self.tokens[self.program.streams[track.stream].column], np.int32)
        values = self.values
        self.engine.show(sources[place], tokens, values.ids(track.stream), values.padding[track.stream], ids)

    def combine(self, slots: Slots, r: int, track: PairTrack, tracks: Ints) -> None:
        """Fill track r with the ids of pairs. Writes: tracks[r]."""
        table = self.tables.pairs[track.space - self.program.n_alphabets]
        span = self.program.first[r], self.program.last[r]
        pairing = Pairing(*span, tracks[track.left], tracks[track.right], track.shift)
        self.engine.combine(slots, pairing, table, self.learning, tracks[r])

    def give_out(self, slots: Slots, tracks: Ints) -> None:
        """Append the attributes of the block."""
        most = self.n_tokens * len(self.program.outputs)
        attributes, ends = np.empty(most, np.int32), np.empty(self.n_tokens, np.int64)
        self.engine.give_out(slots, tracks, self.tables, self.learning, attributes, ends)
        self.offsets.frombytes((ends + len(self.attributes)).tobytes())
        self.attributes.frombytes(attributes[: ends[-1]].tobytes())


def columns_of(rows: list[Any], n_columns: int, place: str) -> list[tuple[Any, ...]]:
    """Return the columns of a sentence, if all rows have equally many, and enough of them."""
    if not {list, tuple}.issuperset(map(type, rows)):  # quicker than to look at each row closely
        check_rows(rows, place)
    try:
        columns = list(zip(*rows, strict=True))
    except ValueError:
        raise DataError(
            f"{place} has rows of different lengths; give every token the same number of columns."
        ) from None
    if len(columns) < n_columns:
        raise DataError(
            f"{place} has {len(columns)} columns, but the template reads column {n_columns - 1} (counted from 0)."
        )
    return columns


def check_rows(rows: list[Any], place: str) -> None:
    """Check that no row is a string: a row may be any other iterable."""
    for t, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise DataError(f"{place}, item {t} is {describe(row)}; give {SHAPE}.")


def check_texts(column: tuple[Any, ...], c: int, place: str) -> None:
    try:
        "".join(column)  # the cheapest way to see that every value is a string: else a TypeError
    except TypeError:
        t = next(t for t, value in enumerate(column) if not isinstance(value, str))
        raise DataError(f"{place}, item {t} has {describe(column[t])} in column {c}; convert it by str().") from None


def marked_slots(slots: Slots, where: str) -> Longs:
    """Return the slots of every token, or of the first or last one of each sentence."""
    lengths = np.diff(slots.starts)
    shift = np.arange(len(lengths)) * (slots.before + slots.after) + slots.before
    if where == "every":
        return np.arange(slots.starts[-1]) + np.repeat(shift, lengths)
    tokens = slots.starts[:-1] if where == "first" else slots.starts[1:] - 1
    return (tokens + shift)[lengths > 0]
