"""`ItemSequence`: the items of a sequence, read once and used often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fastcrf.data.encoding.items import ItemError, flatten
from fastcrf.exceptions import DataError

Item = list[str] | dict[str, float]  # names, or names with values where one is not 1


class ItemSequence:
    """The attributes of each item of a sequence. Trainers and taggers take it in place of the items."""

    def __init__(self, pyseq: Iterable[Any]) -> None:
        self._items: list[Item] = list(pyseq._items) if isinstance(pyseq, ItemSequence) else [*read(pyseq)]

    def items(self) -> list[dict[str, float]]:
        """Return names and values of the attributes of each item."""
        return [dict(item) if isinstance(item, dict) else dict.fromkeys(item, 1.0) for item in self._items]

    def __iter__(self) -> Iterator[Item]:
        """Return the items in the form that fastcrf reads."""
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def read(items: Iterable[Any]) -> Iterator[Item]:
    """Read items as names and values. Values of an attribute that occurs twice add up, as they do in scores."""
    for t, item in enumerate(items):
        try:
            names, values = flatten(item)
        except ItemError as error:
            raise DataError(error.sentence(f"Item {t}")) from None
        if values.count(1.0) == len(values):
            yield names
            continue
        summed: dict[str, float] = {}
        for name, value in zip(names, values, strict=True):
            summed[name] = summed.get(name, 0.0) + value
        yield summed
