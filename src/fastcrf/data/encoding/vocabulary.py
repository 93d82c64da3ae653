"""Strings and ids: growing a vocabulary by first appearance, and keeping its names in one block of bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Longs

Name = TypeVar("Name", bound=Hashable)


def growing(known: Mapping[Name, int] | Iterable[tuple[Name, int]] = ()) -> defaultdict[Name, int]:
    """Copy `known` so that each new name gets the next id when it is looked up (no Python code runs per name)."""
    ids: defaultdict[Name, int] = defaultdict(None, known)
    ids.default_factory = ids.__len__
    return ids


def names_by_id(ids: Mapping[Name, int]) -> list[Name]:
    """Return names in the order of their ids."""
    return sorted(ids, key=ids.__getitem__)


def pack_names(names: Iterable[str]) -> tuple[NDArray[np.uint8], Longs]:
    """Pack names as one block of UTF-8 and the offset of each.

    Lone surrogates survive, because any `str` may be a name.
    """
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    offsets = np.fromiter(chain((0,), map(len, encoded)), np.int64, len(encoded) + 1)
    np.cumsum(offsets, out=offsets)
    return np.frombuffer(bytearray(b"".join(encoded)), np.uint8), offsets


def unpack_names(block: NDArray[np.uint8], offsets: Longs) -> list[str]:
    """Invert `pack_names`, for offsets that ascend from 0 to the size of the block."""
    data = block.tobytes()
    return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(offsets.tolist())]
