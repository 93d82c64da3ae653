"""The data set of a trainer: sequences with labels and groups, encoded when they are appended."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.item_gatherer import ItemGatherer
from fastcrf.data.encoding.items import describe
from fastcrf.data.encoding.names import Names
from fastcrf.data.encoding.vocabulary import growing


class DataSet:
    """Grows by `append`. Attributes and labels are numbered by first appearance, those of held-out sequences too."""

    def __init__(self) -> None:
        self.positions = ItemGatherer(Names(), learning=True)
        self.label_ids: defaultdict[str, int] = growing()
        self.labels = array("i")
        self.groups = array("q")

    def append(self, items: Iterable[Any], labels: Iterable[Any], group: int) -> None:
        """Add a sequence, or nothing at all if something is wrong with it. Empty sequences teach nothing."""
        names = [label_text(label) for label in labels]
        before = self.positions.mark()
        try:
            n_items = self.positions.add_sequence(items, "The sequence")
            if n_items != len(names):
                raise ValueError(f"The numbers of items and labels differ: |x| = {n_items}, |y| = {len(names)}")
        except BaseException:
            self.positions.take_back(before)
            raise
        if n_items:
            self.positions.end_sequence()
            self.labels.extend(map(self.label_ids.__getitem__, names))
            self.groups.append(group)

    def attributes(self) -> ItemAttributes:
        return ItemAttributes(self.positions.learnt())

    def label_names(self) -> list[str]:
        return list(self.label_ids)

    def split(self, holdout: int) -> tuple[Corpus, Corpus | None]:
        """Return the training sequences, and those of the held-out group if there is one (a group below 0 is none)."""
        corpus = self.positions.corpus(self.labels)
        if holdout < 0:
            return corpus, None
        held_out = np.frombuffer(self.groups, np.int64) == holdout
        return chosen(corpus, ~held_out), chosen(corpus, held_out)


def label_text(label: Any) -> str:
    """Return a label as a .crfsuite file holds it."""
    if isinstance(label, bytes):
        return label.decode("utf-8", "surrogateescape")
    if not isinstance(label, str):
        raise TypeError(f"a label is {describe(label)}; give strings, or use fastcrf.CRF, which takes any labels")
    return str(label)


def chosen(corpus: Corpus, sequences: NDArray[np.bool_]) -> Corpus:
    """Return some sequences of a corpus without weights."""
    lengths, sizes = np.diff(corpus.starts), np.diff(corpus.offsets)
    positions = np.repeat(sequences, lengths)
    occurrences = np.repeat(positions, sizes)
    return Corpus(
        starts=np.concatenate(([0], np.cumsum(lengths[sequences]))),
        offsets=np.concatenate(([0], np.cumsum(sizes[positions]))),
        attributes=corpus.attributes[occurrences],
        values=corpus.values[occurrences] if len(corpus.values) else corpus.values,
        labels=corpus.labels[positions],
        weights=np.empty(0),
    )
