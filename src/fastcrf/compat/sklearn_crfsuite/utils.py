"""Lists of lists."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

__all__ = ["flatten"]

Element = TypeVar("Element")


def flatten(y: Iterable[Iterable[Element]]) -> list[Element]:
    """Return the elements of all lists in one."""
    return [*chain.from_iterable(y)]
