"""How often a label may occur in the predictions of programs that run on the modules of compat."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple


class Limits(NamedTuple):
    """The most segments of each type; sequences whose best labels include one of `unless` have no limit."""

    max_segments: int | Mapping[str, int] | None = None
    unless: Collection[str] = ()

    def apply_to(self, labels: Sequence[Any]) -> bool:
        """Return whether these best labels are to be checked."""
        return self.max_segments is not None and not set(self.unless) & set(labels)


class Current:
    """The limits of this process."""

    limits = Limits()
