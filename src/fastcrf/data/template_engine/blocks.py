"""The data of the template engine: a block of sentences, laid out in slots, and tables of ids.

Each sentence of a block has `before` slots, one for each token, and `after` slots. Kernels are compiled for these types
and read NONE; nothing here needs the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

from fastcrf.core.types import Ints, Longs

NONE = -1  # an id for what is not there


class Slots(NamedTuple):
    """The places of the sentences of a block."""

    starts: Longs  # [n + 1] first token of each sentence
    before: int
    after: int


class Pairing(NamedTuple):
    """The tracks that make pairs: left at a slot, right `shift` slots on, from slot `first` to `last`."""

    first: int
    last: int
    left: Ints
    right: Ints
    shift: int


class Pairs(NamedTuple):
    """An exact open-addressing table: pair -> id, ids by first appearance. Two pairs never share an id."""

    keys: Longs  # [capacity] left << 32 | right of each id
    slots: Ints  # [a power of 2 above the number of ids] ids, at the hash of their key or in the free places after it
    secret: int  # of this table: an attacker who does not know it cannot make keys that share a hash


class Outputs(NamedTuple):
    """The inputs of the templates, the places of their attributes, and the known attributes."""

    tracks: Ints  # [templates]
    offsets: Ints  # [templates]
    families: Ints  # [templates]
    bases: Longs  # [families + 1] where the ids of each family begin in `attributes`
    attributes: Ints  # attribute of each id of each family, or NONE
    keys: Longs  # [capacity] family << 32 | id of each attribute
