"""Compile templates to a program over integers: the ids to compute for a block of sentences, and to combine.

No text is touched while a program runs, except once for each distinct value of a column. Its parts:

* an **alphabet** numbers texts. A column has one, and so has each operation on a column; where two of them fill the
  same macro of templates that are otherwise spelled alike (``U:%x[0,0]`` and ``U:%x[1,1]``), they share one, because
  the same text then makes the same attribute;
* a **space** numbers what several macros together can say. An alphabet is a space; any other is a pair of a space and
  an alphabet, so that three macros are a pair whose left part is a pair;
* a **track** holds one id per slot of a block (a slot is a position, or a place outside a sentence). Tracks are read
  from a column, or made of two other tracks, the right one shifted. Templates at different offsets
  (``%x[-1,0]/%x[0,0]`` and ``%x[0,0]/%x[1,0]``) read the same track, so each pair is looked up once per slot, not once
  per template;
* a **family** is a way of spelling: templates that differ in the cells of their macros only. Family and id in its space
  are the identity of an attribute. Two attributes that merely happen to be spelled alike ("a/b" + "c" and "a" + "b/c")
  stay distinct.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from fastcrf.data.templates.template import Cell, Operation, Template, Where


class Stream(NamedTuple):
    """The texts of a column after an operation."""

    column: int
    operation: Operation
    alphabet: int


class StreamTrack(NamedTuple):
    """Ids of a stream: at each slot its own, or at all slots of a sentence the id of one place."""

    stream: int
    place: int | None = None  # 1 is the first token, -1 the last


class MarkTrack(NamedTuple):
    """The id 0 where a template without macros applies."""

    where: Where


class PairTrack(NamedTuple):
    """Ids of pairs: left at the slot and right `shift` slots on."""

    left: int
    right: int
    shift: int
    space: int


class Space(NamedTuple):
    """A pair of spaces; the right one is an alphabet."""

    left: int
    right: int


class Family(NamedTuple):
    texts: tuple[str, ...]  # before, between and after the macros
    space: int


class Output(NamedTuple):
    """A template: its attribute at a position is that of the id `offset` slots on."""

    track: int
    offset: int
    family: int


class Program(NamedTuple):
    streams: list[Stream]
    n_alphabets: int  # the last one has the empty text alone, for templates without macros
    spaces: list[Space]  # numbered after the alphabets
    tracks: list[StreamTrack | MarkTrack | PairTrack]
    first: list[int]  # of each track: the slots in which it is read, from `first` before the sentence's first token
    last: list[int]  # to `last` after its last one
    families: list[Family]
    outputs: list[Output]

    @property
    def before(self) -> int:
        """Return the number of slots before a sentence."""
        return -min(self.first)

    @property
    def after(self) -> int:
        return max(self.last)

    @property
    def n_columns(self) -> int:
        """Return the number of columns that a token needs at least."""
        return 1 + max((stream.column for stream in self.streams), default=0)


def compile_templates(templates: Sequence[Template]) -> Program:
    """Compile the program that makes the attributes of these templates."""
    alphabets = share_alphabets(templates)
    numbers = {group: a for a, group in enumerate(dict.fromkeys(alphabets.values()))}
    builder = Builder({stream: numbers[group] for stream, group in alphabets.items()}, len(numbers) + 1)
    for template in templates:
        builder.add(template)
    return builder.program()


StreamKey = tuple[int, Operation]


def share_alphabets(templates: Sequence[Template]) -> dict[StreamKey, StreamKey]:
    """Return for each stream the one whose alphabet it shares (itself, if none comes before it)."""
    parent: dict[StreamKey, StreamKey] = {}

    def root(stream: StreamKey) -> StreamKey:
        while parent[stream] != stream:
            stream = parent[stream]
        return stream

    together: dict[tuple[tuple[str, ...], int], list[StreamKey]] = {}  # streams of each macro of a spelling
    for template in templates:
        for i, cell in enumerate(template.cells):
            stream = (cell.column, cell.operation)
            parent.setdefault(stream, stream)
            together.setdefault((spelling(template), i), []).append(stream)
    for streams in together.values():
        for one, other in pairwise(streams):
            parent[root(other)] = root(one)
    return {stream: root(stream) for stream in parent}


def spelling(template: Template) -> tuple[str, ...]:
    """Return the texts around the macros: one more than there are macros."""
    texts = [""]
    for piece in template.pieces:
        if isinstance(piece, Cell):
            texts.append("")
        else:
            texts[-1] += piece
    return tuple(texts)


class Builder:
    """Adds templates one by one; tracks, spaces and families that are there already are used again."""

    def __init__(self, alphabets: dict[StreamKey, int], n_alphabets: int) -> None:
        self.alphabets, self.n_alphabets = alphabets, n_alphabets
        self.streams: dict[Stream, int] = {}
        self.spaces: dict[Space, int] = {}
        self.tracks: dict[StreamTrack | MarkTrack | PairTrack, int] = {}
        self.families: dict[Family, int] = {}
        self.outputs: list[Output] = []

    def add(self, template: Template) -> None:
        offset = next((cell.offset for cell in template.cells if not cell.absolute), 0)
        track, space = number(self.tracks, MarkTrack(template.where)), self.n_alphabets - 1
        for i, cell in enumerate(template.cells):
            right, alphabet = self.add_cell(cell)
            if i == 0:
                track, space = right, alphabet
            else:
                space = self.n_alphabets + number(self.spaces, Space(space, alphabet))
                shift = 0 if cell.absolute else cell.offset - offset
                track = number(self.tracks, PairTrack(track, right, shift, space))
        self.outputs.append(Output(track, offset, number(self.families, Family(spelling(template), space))))

    def add_cell(self, cell: Cell) -> tuple[int, int]:
        """Add the track and the alphabet of a cell."""
        alphabet = self.alphabets[cell.column, cell.operation]
        stream = number(self.streams, Stream(cell.column, cell.operation, alphabet))
        return number(self.tracks, StreamTrack(stream, cell.offset if cell.absolute else None)), alphabet

    def program(self) -> Program:
        tracks = list(self.tracks)
        first, last = self.reach(tracks)
        return Program(
            list(self.streams),
            self.n_alphabets,
            list(self.spaces),
            tracks,
            first,
            last,
            list(self.families),
            self.outputs,
        )

    def reach(self, tracks: list[StreamTrack | MarkTrack | PairTrack]) -> tuple[list[int], list[int]]:
        """Return how far outside the sentence each track is read.

        Pairs come after their parts, so they are settled first.
        """
        first, last = [0] * len(tracks), [0] * len(tracks)

        def read(track: int, from_: int, to: int) -> None:
            first[track], last[track] = min(first[track], from_), max(last[track], to)

        for track, offset, _ in self.outputs:
            read(track, offset, offset)
        for r in reversed(range(len(tracks))):
            pair = tracks[r]
            if isinstance(pair, PairTrack):
                read(pair.left, first[r], last[r])
                read(pair.right, first[r] + pair.shift, last[r] + pair.shift)
        return first, last


def number(known: dict, thing: object) -> int:  # type: ignore[type-arg]
    """Number a thing by first appearance. Writes: known."""
    return known.setdefault(thing, len(known))
