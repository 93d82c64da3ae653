"""A hash table from names to ids that compiled code reads and extends. Names are UTF-8; ids follow first appearance.

A record of the arena is a word of id and length, then the name, filled up with zeros to whole words. A slot holds 32
bits of a name's hash and the place of its record; it is 0 if it is free. At most half of the slots are taken. The seeds
of the hash are secret, so that an attacker cannot choose names that collide.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Longs
from fastcrf.jit.kernel import gil_kernel, inlined_kernel
from fastcrf.simd.words import load_word, prefetch_byte, store_word

U = np.uint64
LOW = U(0xFFFFFFFF)
KNOWN, USED = range(2)  # places in `counts`: names, and words of the arena
BLOCK = 128  # names that are looked up together, so that memory is asked for before it is needed
ROW = 48  # bytes of a row of `parts`, see `item_stream.py`
SPARE = 40  # bytes behind texts that may be read and written over


class Table(NamedTuple):
    """The arrays of a NameTable, for kernels."""

    slots: NDArray[np.uint64]  # a power of 2
    arena: NDArray[np.uint64]
    counts: Longs
    seeds: NDArray[np.uint64]


@inlined_kernel
def hash_name(words, at, length, seeds):
    """Hash a name that is filled up to whole words."""
    h = seeds[0] ^ U(length)
    for w in range(at, at + length, 8):
        h = (h ^ load_word(words, w)) * seeds[1]
        h ^= h >> U(32)
    h *= seeds[2]
    return h ^ (h >> U(32))


@inlined_kernel
def copy_bytes(source, begin, n, target, to):
    """Copy n bytes, and up to 7 more; return where the copy ends."""
    for j in range(0, n, 8):
        store_word(target, to + j, load_word(source, begin + j))
    return to + n


@inlined_kernel
def record_size(length):
    """Return the bytes of the record of a name."""
    return 8 + ((length + 7) & ~7)


@inlined_kernel
def has_room(table, names, words):
    """Return whether the table has space for so many more names, in so many words."""
    counts = table.counts
    return 2 * (counts[KNOWN] + names) <= len(table.slots) and counts[USED] + words <= len(table.arena)


@gil_kernel
def find_names(table, parts, m, scratch, learning, ids, place):
    """Look up m names, (begin, length) in scratch by row of parts.

    The ids of unknown names are -1 or, in learning, the next. A negative length stands for no name. Writes: ids from
    `place` on, parts, table.
    """
    slots, arena, counts, seeds = table.slots, table.arena, table.counts, table.seeds
    mask = U(len(slots) - 1)
    for row in range(0, ROW * m, ROW):
        length = np.int64(load_word(parts, row + 8))
        if length >= 0:
            h = hash_name(scratch, np.int64(load_word(parts, row)), length, seeds)
            store_word(parts, row + 16, h)
            prefetch_byte(slots, np.int64(h & mask) * 8)
    for row in range(0, ROW * m, ROW):
        if np.int64(load_word(parts, row + 8)) >= 0:
            slot = load_word(slots, np.int64(load_word(parts, row + 16) & mask) * 8)
            if slot != U(0):
                prefetch_byte(arena, np.int64(slot & LOW) * 8 - 8)
    for k in range(m):
        row = ROW * k
        first, length = np.int64(load_word(parts, row)), np.int64(load_word(parts, row + 8))
        h = load_word(parts, row + 16)
        found, p = np.int64(-1), h & mask
        while length >= 0:
            slot = load_word(slots, np.int64(p) * 8)
            if slot == U(0):
                break
            at = np.int64(slot & LOW) * 8 - 8
            if slot >> U(32) == h >> U(32) and load_word(arena, at) >> U(32) == U(length):
                j = 0
                while j < length and load_word(arena, at + 8 + j) == load_word(scratch, first + j):
                    j += 8
                if j >= length:
                    found = np.int64(load_word(arena, at) & LOW)
                    break
            p = (p + U(1)) & mask
        if found < 0 and learning:
            found, at = counts[KNOWN], 8 * counts[USED]
            store_word(slots, np.int64(p) * 8, (h >> U(32)) << U(32) | U(counts[USED] + 1))
            store_word(arena, at, U(found) | U(length) << U(32))
            for j in range(0, length, 8):
                store_word(arena, at + 8 + j, load_word(scratch, first + j))
            counts[KNOWN] += 1
            counts[USED] += record_size(length) >> 3
        ids[place + k] = found


@gil_kernel
def fill_slots(table):
    """Enter all records of the arena into slots that are free. Writes: table."""
    mask, at = U(len(table.slots) - 1), np.int64(0)
    while at < 8 * table.counts[USED]:
        length = np.int64(load_word(table.arena, at) >> U(32))
        h = hash_name(table.arena, at + 8, length, table.seeds)
        p = h & mask
        while load_word(table.slots, np.int64(p) * 8) != U(0):
            p = (p + U(1)) & mask
        store_word(table.slots, np.int64(p) * 8, (h >> U(32)) << U(32) | U((at >> 3) + 1))
        at += record_size(length)


@gil_kernel
def write_records(block, offsets, arena, counts):
    """Make records, in an arena of bytes, of packed names; the block has SPARE bytes more. Writes: arena, counts."""
    at = np.int64(0)
    for i in range(len(offsets) - 1):
        length = offsets[i + 1] - offsets[i]
        store_word(arena, at, U(i) | U(length) << U(32))
        store_word(arena, copy_bytes(block, offsets[i], length, arena, at + 8), U(0))
        at += record_size(length)
    counts[KNOWN], counts[USED] = len(offsets) - 1, at >> 3


@gil_kernel
def read_records(arena, counts, block, offsets):
    """Pack the names of all records of an arena of bytes and return the size of the block; an empty block is not
    written. Writes: block, offsets."""
    total, at = np.int64(0), np.int64(0)
    for i in range(counts[KNOWN]):
        length = np.int64(load_word(arena, at) >> U(32))
        if len(block):
            copy_bytes(arena, at + 8, length, block, total)
        total += length
        offsets[i + 1] = total
        at += record_size(length)
    return total


class NameTable:
    """Names and their ids."""

    def __init__(self, n_slots: int = 1 << 10, n_words: int = 1 << 12) -> None:
        seeds = np.frombuffer(os.urandom(24), np.uint64) | U(1)
        self.table = Table(np.zeros(n_slots, U), np.empty(n_words, U), np.zeros(2, np.int64), seeds)

    @classmethod
    def of(cls, block: NDArray[np.uint8], offsets: Longs) -> NameTable:
        """Return the table of packed names (`vocabulary.pack_names`)."""
        n = len(offsets) - 1
        made = cls(1 << (2 * (n + BLOCK)).bit_length(), int(((np.diff(offsets) + 7) >> 3).sum()) + n + 8)
        padded = np.concatenate((block, np.zeros(SPARE, np.uint8)))
        write_records(padded, offsets, made.table.arena.view(np.uint8), made.table.counts)
        fill_slots(made.table)
        return made

    def copy(self) -> NameTable:
        """Return an independent table, to learn from."""
        made = NameTable.__new__(NameTable)
        slots, arena, counts, seeds = self.table
        made.table = Table(slots.copy(), arena.copy(), counts.copy(), seeds)
        return made

    def __len__(self) -> int:
        return int(self.table.counts[KNOWN])

    def packed(self) -> tuple[NDArray[np.uint8], Longs]:
        """Return the names as `vocabulary.pack_names` packs them."""
        arena, counts = self.table.arena.view(np.uint8), self.table.counts
        offsets = np.zeros(counts[KNOWN] + 1, np.int64)
        block = np.empty(read_records(arena, counts, np.empty(0, np.uint8), offsets) + SPARE, np.uint8)
        return block[: read_records(arena, counts, block, offsets)], offsets

    def make_space(self) -> None:
        """Grow the arrays that have no space for another block of names."""
        slots, arena, counts, seeds = self.table
        if 2 * (counts[KNOWN] + BLOCK) > len(slots):
            self.table = Table(np.zeros(4 * len(slots), U), arena, counts, seeds)
            fill_slots(self.table)
        else:
            self.table = Table(slots, grown(arena), counts, seeds)


def grown(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, 25 % longer; no view of it may exist.

    Unlike np.concatenate, this keeps the GIL, and often copies nothing.
    """
    array.resize(len(array) + len(array) // 4, refcheck=False)
    return array
