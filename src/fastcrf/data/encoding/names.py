"""The names of attributes by id, in each form that is needed: a dict, packed bytes for files, a table for kernels.

Each form is made from another when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Longs
from fastcrf.data.encoding.vocabulary import names_by_id, pack_names, unpack_names

if TYPE_CHECKING:  # tagging a few sentences loads no compiled code
    from fastcrf.data.encoding.name_table import NameTable

Packed = tuple[NDArray[np.uint8], Longs]


class Names:
    """Distinct names, numbered from 0; they never change."""

    def __init__(self, ids: Mapping[str, int] | None = None, *, table: NameTable | None = None) -> None:
        if table is not None:
            self.table = table
        else:
            self.ids = dict(ids or {})

    @classmethod
    def in_order(cls, names: Iterable[str]) -> Names:
        return cls({name: a for a, name in enumerate(names)})

    @cached_property
    def ids(self) -> dict[str, int]:
        """Return the id of each name."""
        return {name: a for a, name in enumerate(unpack_names(*self.packed))}

    @cached_property
    def packed(self) -> Packed:
        """Return the names as one block of UTF-8 and the offset of each."""
        if "table" in self.__dict__:
            return self.table.packed()
        return pack_names(names_by_id(self.ids))

    @cached_property
    def table(self) -> NameTable:
        """Return the names for compiled code, read-only."""
        from fastcrf.data.encoding.name_table import NameTable

        return NameTable.of(*self.packed)

    def __len__(self) -> int:
        return len(self.table if "table" in self.__dict__ else self.ids)

    def listed(self) -> list[str]:
        """Return the names in the order of their ids."""
        return names_by_id(self.ids) if "ids" in self.__dict__ else unpack_names(*self.packed)

    def kept(self, used: NDArray[np.bool_]) -> Names:
        """Return those that are used, in the same order."""
        return Names.in_order(compress(self.listed(), used.tolist()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and self.ids == other.ids

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (self.ids,)

    def __repr__(self) -> str:
        return f"Names({self.ids!r})"
