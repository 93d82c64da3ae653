"""Damaged marshal streams, with every array before a page that may not be touched: a wrong access ends the process."""

from __future__ import annotations

import ctypes
import marshal
import mmap
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.data.encoding.item_stream import BROKEN, DONE, ITEM, Output, Work, read_items
from fastcrf.data.encoding.name_table import BLOCK, ROW, SPARE, NameTable, Table

PAGE = mmap.PAGESIZE
WORDS = ["", "w", "a", "b:c", "é", "日本", "x" * 7, "x" * 8, "x" * 255, "x" * 256, "x" * 3000]
NUMBERS = [True, False, 1.5, 3, 2**31, 2**40, -(2**44), 2**60]
SHARED = {"s": "é", "t": True}
PROT_NONE = 0


def guarded(n: int, dtype: Any) -> NDArray[Any]:
    """An array of zeros that ends where a page begins that may not be touched."""
    size = n * np.dtype(dtype).itemsize
    end = -(-size // PAGE) * PAGE
    memory = mmap.mmap(-1, end + PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + end
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address), PAGE, PROT_NONE):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    return np.frombuffer(memory, np.uint8)[end - size : end].view(dtype)


def item_streams(r: random.Random, folder: Path) -> Callable[[], object]:
    """A stream of items with some bytes changed, arrays of random sizes."""
    stream = bytearray(marshal.dumps([item(r) for _ in range(r.randrange(1, 6))], 4))
    for _ in range(r.randrange(5)):
        stream[r.randrange(len(stream))] = r.randrange(256)
    return lambda: read(bytes(stream), r)


def item(r: random.Random) -> Any:
    if r.random() < 0.3:
        return [r.choice(WORDS) for _ in range(r.choice([0, 3, 300]))]
    return {r.choice(WORDS): value(r, 0) for _ in range(r.randrange(6))} | r.choice(
        [{}, {"in": SHARED, "again": SHARED}]
    )


def value(r: random.Random, depth: int) -> Any:
    if depth < 2 and r.random() < 0.2:
        return r.choice([{r.choice(WORDS): value(r, depth + 1)}, [r.choice(WORDS)]])
    return r.choice(WORDS + NUMBERS)


def read(content: bytes, r: random.Random) -> None:
    """Read as far as the room goes, and check what was read."""
    stream = guarded(len(content) + SPARE, np.uint8)
    stream[: len(content)] = np.frombuffer(content, np.uint8)
    stream.flags.writeable = False
    seeds = NameTable().table.seeds
    n_slots, n_words = r.choice([BLOCK, 1024]), r.choice([16, 4096])
    table = Table(guarded(n_slots, np.uint64), guarded(n_words, np.uint64), np.zeros(2, np.int64), seeds)
    work = Work(
        guarded(r.choice([8, 512]), np.int64),
        guarded(ROW // 8 * BLOCK, np.uint64),
        guarded(r.choice([16, 1024]), np.uint64),
    )
    n_attributes = r.choice([BLOCK, 1024])
    values = guarded(r.choice([0, n_attributes]), np.float64)
    output = Output(guarded(n_attributes, np.int32), values, guarded(r.choice([2, 128]), np.int64))
    state = guarded(6, np.int64)
    why = read_items(stream, state, table, work, output, r.random() < 0.5)
    n_read = int(output.offsets[state[ITEM]])
    if (output.attributes[:n_read] >= table.counts[0]).any() or not DONE <= why <= BROKEN:
        raise AssertionError(f"read_items stopped for reason {why} with ids beyond the {table.counts[0]} names")
