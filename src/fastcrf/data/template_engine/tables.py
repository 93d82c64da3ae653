"""The tables of a template's attributes: texts, pairs and attributes, each with its ids.

They grow while a training corpus is read, and are never changed while a model tags.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from fastcrf.core.types import Ints, Longs
from fastcrf.data.template_engine.blocks import NONE, Outputs, Pairs
from fastcrf.data.template_engine.program import Program
from fastcrf.system.memory_budget import require_memory


def split_key(keys: Longs) -> tuple[Longs, Longs]:
    """Return the two numbers that kernels pack into one: left (or family) and right (or id)."""
    return keys >> 32, keys & 0xFFFFFFFF


def join_key(left: Longs, right: Longs) -> Longs:
    return left << 32 | right


class PairTable:
    """Pairs and their ids, by first appearance."""

    def __init__(self, keys: Longs) -> None:
        self.n = len(keys)
        no_slots = np.empty(0, np.int32)  # they are filled when compiled code needs them
        self.pairs = Pairs(keys, no_slots, secrets.randbits(62))
        self.sorted: tuple[Longs, Longs] | None = None

    @property
    def keys(self) -> Longs:
        return self.pairs.keys[: self.n]

    def reserve(self, more: int) -> None:
        """Allocate space for so many more pairs: then at most half of the slots are taken, and looking up is quick."""
        from fastcrf.data.template_engine.kernels import place_keys

        n_slots = 1 << int(2 * (self.n + more)).bit_length()
        pairs = self.pairs._replace(keys=enlarged(self.pairs.keys, self.n + more))
        if n_slots > len(pairs.slots):
            pairs = pairs._replace(slots=np.full(n_slots, NONE, np.int32))
            place_keys(pairs, self.n)
        self.pairs = pairs  # complete: another thread may be tagging

    def in_order(self) -> tuple[Longs, Longs]:
        """Return the keys in ascending order, and the id of each."""
        if self.sorted is None:
            order = np.argsort(self.keys)
            self.sorted = self.keys[order], order
        return self.sorted


class AttributeTable:
    """Attributes, each a family of templates and an id in the family's space, numbered by first appearance."""

    def __init__(self, program: Program, sizes: Sequence[int], keys: Longs) -> None:
        tracks, offsets, families = np.array(program.outputs, np.int32).T.copy()
        self.spaces = [family.space for family in program.families]
        self.n = len(keys)
        self.outputs = Outputs(tracks, offsets, families, *self.free_places(sizes), keys)
        self.outputs.attributes[self.places(keys)] = np.arange(self.n, dtype=np.int32)

    @property
    def keys(self) -> Longs:
        return self.outputs.keys[: self.n]

    def places(self, keys: Longs) -> Longs:
        families, ids = split_key(keys)
        return self.outputs.bases[families] + ids

    def free_places(self, sizes: Sequence[int]) -> tuple[Longs, Ints]:
        """Return where the ids of each family begin, without attributes, given the number of ids of each space."""
        bases = np.concatenate(([0], np.cumsum([sizes[space] for space in self.spaces], dtype=np.int64)))
        require_memory(4 * int(bases[-1]), f"The attributes of {len(self.spaces)} templates", "use fewer templates")
        return bases, np.full(bases[-1], NONE, np.int32)

    def reserve(self, sizes: Sequence[int], more: int) -> None:
        """Allocate tables for spaces of these sizes and for so many more attributes."""
        keys = enlarged(self.outputs.keys, self.n + more)
        capacity = np.diff(self.outputs.bases)
        if any(sizes[space] > capacity[f] for f, space in enumerate(self.spaces)):
            doubled = [2 * size for size in sizes]
            bases, attributes = self.free_places(doubled)
            self.outputs = self.outputs._replace(bases=bases, attributes=attributes)
            attributes[self.places(self.keys)] = np.arange(self.n, dtype=np.int32)
        self.outputs = self.outputs._replace(keys=keys)


class Tables:
    """All tables of a program. Spaces are numbered as in the program: alphabets first, then pairs."""

    def __init__(self, program: Program, alphabets: list[dict[str, int]], pairs: Sequence[Longs], keys: Longs) -> None:
        self.program = program
        self.alphabets = alphabets
        self.pairs = [PairTable(each) for each in pairs]
        self.attributes = AttributeTable(program, self.sizes(), keys)

    def sizes(self) -> list[int]:
        """Return the number of ids of each space."""
        return [len(alphabet) for alphabet in self.alphabets] + [table.n for table in self.pairs]


def enlarged(array: Longs, size: int) -> Longs:
    """Return an array of at least this size that begins with the elements of `array`; it grows by doubling."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
