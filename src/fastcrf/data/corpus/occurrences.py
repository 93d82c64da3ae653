"""A corpus with other attributes at its positions: what more, fewer or other numbers of attributes make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus, Floats, Ints, Longs
from fastcrf.system.mapped_arrays import empty_beside


class Occurrences(NamedTuple):
    """The occurrences at the positions of a slice of a corpus: fields of a Corpus."""

    offsets: Longs
    attributes: Ints
    values: Floats  # where the corpus has values


def with_occurrences(corpus: Corpus, n_occurrences: int, change: Callable[[Corpus], Occurrences]) -> Corpus:
    """Return the corpus with so many occurrences, those that `change` makes of each slice.

    The occurrences of a memory-mapped corpus are memory-mapped as well.
    """
    home = corpus.attributes
    changed = corpus._replace(
        offsets=empty_beside(home, corpus.n_positions + 1, np.int64),
        attributes=empty_beside(home, n_occurrences, np.int32),
        values=empty_beside(home, n_occurrences if len(corpus.values) else 0, np.float64),
    )
    changed.offsets[0] = p = o = 0
    for part in corpus.slices():
        found = change(part)
        held = slice(o, o + len(found.attributes))
        changed.offsets[p + 1 : p + len(found.offsets)] = o + found.offsets[1:]
        changed.attributes[held] = found.attributes
        if len(corpus.values):
            changed.values[held] = found.values
        p, o = p + part.n_positions, held.stop
    return changed


def with_attributes(corpus: Corpus, kept: NDArray[np.bool_], numbers: Ints) -> Corpus:
    """Return the corpus with only the kept attributes, each under its new number."""

    def without(part: Corpus) -> Occurrences:
        stays = kept[part.attributes]
        stay_before = np.concatenate(([0], np.cumsum(stays)))
        values = part.values[stays] if len(part.values) else part.values
        return Occurrences(stay_before[part.offsets], numbers[part.attributes[stays]], values)

    n_kept = sum(int(np.count_nonzero(kept[part.attributes])) for part in corpus.slices())
    return with_occurrences(corpus, n_kept, without)
