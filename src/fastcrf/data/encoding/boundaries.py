"""The start and the end of a sequence as states that labels follow and precede.

They are y_0 and y_{T+1} of Tsuboi et al. (2011).

Both states are known, so a weight of (start, label) is a weight of the label at the first position, and one of (label,
end) a weight of the label at the last. That is what two attributes give, one at each end, which no item has to bring:
these attributes wrap those that the data have. They come first, so that more of the others can be learnt behind them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus, Ints
from fastcrf.data.corpus.occurrences import Occurrences, with_occurrences
from fastcrf.data.encoding.attributes import Attributes, Gatherer, Learner

START, END = 0, 1
NUMBER = 2  # of attributes that are not the data's
NAMES = ("<start of sequence>", "<end of sequence>")


class BoundedGatherer:
    """Gathers what another gatherer does, and adds the boundaries in the end."""

    def __init__(self, inner: Gatherer) -> None:
        self.inner = inner

    def add_sequence(self, sequence: Iterable[Any], place: str) -> int:
        return self.inner.add_sequence(sequence, place)

    def end_sequence(self) -> None:
        self.inner.end_sequence()

    def begin(self) -> None:
        self.inner.begin()

    def corpus(self, labels: array[int] | None = None) -> Corpus:
        return with_boundaries(self.inner.corpus(labels))


@dataclass(frozen=True)
class BoundedAttributes:
    """The attributes of the data, and two for the ends of each sequence."""

    kind: ClassVar[str] = "bounded"
    n_fixed: ClassVar[int] = NUMBER

    inner: Attributes

    def __len__(self) -> int:
        return NUMBER + len(self.inner)

    def names(self) -> list[str]:
        """Return the names; the boundaries get names that no attribute of the data has."""
        names = self.inner.names()
        known, boundaries = set(names), []
        for name in NAMES:
            while name in known:
                name = f"<{name}>"
            boundaries.append(name)
        return [*boundaries, *names]

    def gatherer(self) -> BoundedGatherer:
        return BoundedGatherer(self.inner.gatherer())

    def learner(self) -> Learner:
        gatherer, learnt = self.inner.learner()
        return Learner(BoundedGatherer(gatherer), lambda: BoundedAttributes(learnt()))

    def kept(self, used: NDArray[np.bool_]) -> BoundedAttributes:
        return BoundedAttributes(self.inner.kept(used[NUMBER:]))

    def reads_like(self, other: Attributes) -> bool:
        return isinstance(other, BoundedAttributes) and self.inner.reads_like(other.inner)

    def joined(self, others: Sequence[BoundedAttributes]) -> tuple[BoundedAttributes, list[Ints]]:
        inner, numbers = self.inner.joined([other.inner for other in others])
        ends = np.array([START, END], np.int32)
        return BoundedAttributes(inner), [np.concatenate((ends, NUMBER + each)) for each in numbers]


def without_boundaries(attributes: Attributes) -> Attributes:
    """Return the attributes that the data has."""
    return attributes.inner if isinstance(attributes, BoundedAttributes) else attributes


def bounded(corpus: Corpus, attributes: Attributes) -> tuple[Corpus, Attributes]:
    """Add boundaries to an encoded corpus and its attributes, if they are missing."""
    if isinstance(attributes, BoundedAttributes):
        return corpus, attributes
    return with_boundaries(corpus), BoundedAttributes(attributes)


def with_boundaries(corpus: Corpus) -> Corpus:
    """Return the corpus with the start before the attributes of each first position, the end after those of each last.

    Ids of -1 (unknown) stay.
    """
    n_sequences = int(np.count_nonzero(np.diff(corpus.starts)))
    return with_occurrences(corpus, len(corpus.attributes) + NUMBER * n_sequences, bound)


def bound(part: Corpus) -> Occurrences:
    """Return what occurs in some sequences, and their boundaries."""
    offsets, places, starts, ends = places_with_boundaries(part)
    attributes, values = np.empty(offsets[-1], np.int32), np.empty(offsets[-1] if len(part.values) else 0)
    attributes[places] = np.where(part.attributes < 0, part.attributes, part.attributes + NUMBER)
    attributes[starts], attributes[ends] = START, END
    if len(values):
        values[places] = part.values
        values[starts] = values[ends] = 1.0
    return Occurrences(offsets, attributes, values)


def places_with_boundaries(
    corpus: Corpus,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the new offsets, and the new places of the occurrences, of the starts and of the ends."""
    begins, stops = corpus.starts[:-1], corpus.starts[1:]
    begins, lasts = begins[begins < stops], stops[begins < stops] - 1
    is_first, is_last = (np.zeros(corpus.n_positions, np.int64) for _ in range(2))
    is_first[begins] = is_last[lasts] = 1
    offsets = corpus.offsets + np.concatenate(([0], np.cumsum(is_first + is_last)))
    moved = offsets[:-1] + is_first - corpus.offsets[:-1]
    places = np.arange(len(corpus.attributes)) + np.repeat(moved, np.diff(corpus.offsets))
    return offsets, places, offsets[begins], offsets[lasts + 1] - 1
