"""The engine of a block: NumPy for the first sentences that a process tags, compiled code for the rest.

As with decoding (`fastcrf.decoding.decoder_choice`), loading the compiler is worth its time when there is enough to do.
Tables grow, which learning needs, in compiled code alone.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Protocol

from fastcrf.core.types import Ints, Longs
from fastcrf.data.template_engine.blocks import Pairing, Slots
from fastcrf.system.optional_packages import is_installed

COMPILED = "fastcrf.data.template_engine.compiled_engine"
ENOUGH = 300_000  # slots, of which each block counts BLOCK more for its calls: some 0.3 s in NumPy
BLOCK = 2_000


class Engine(Protocol):
    """The steps of a block; `kernels.py` says what each does. With `growing` the tables grow."""

    def find_sources(self, slots: Slots, place: int, n_before: int, n_after: int, sources: Ints) -> None: ...

    def show(self, sources: Ints, tokens: Ints, ids: Ints, padding: Ints, track: Ints) -> None: ...

    def combine(self, slots: Slots, pairing: Pairing, table: Any, growing: bool, track: Ints) -> None: ...

    def give_out(
        self, slots: Slots, tracks: Ints, tables: Any, growing: bool, attributes: Ints, ends: Longs
    ) -> None: ...


class Spent:
    """Slots that this process has filled in NumPy, and its blocks as so many slots more."""

    slots = 0


def engine_for(n_slots: int, learning: bool) -> Engine:
    """Return the engine of the next block."""
    if not learning and COMPILED not in sys.modules:
        Spent.slots += n_slots + BLOCK
        if Spent.slots <= ENOUGH or not is_installed("numba"):
            return import_module("fastcrf.data.template_engine.plain_engine").ENGINE
    return import_module(COMPILED).ENGINE
