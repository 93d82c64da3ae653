"""Gather items: first in plain Python, then in compiled code once it is loaded."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from fastcrf.core.types import Corpus
from fastcrf.data.encoding.input_shapes import is_matrix
from fastcrf.data.encoding.matrix_gatherer import MatrixGatherer
from fastcrf.data.encoding.names import Names
from fastcrf.data.encoding.plain_gatherer import Mark, PlainGatherer
from fastcrf.data.encoding.reader_loading import count_plain, reader
from fastcrf.data.encoding.vocabulary import growing


class ItemGatherer:
    """Attributes of one sequence after another; `end_sequence` closes a sequence.

    In learning, names that are not known get the next id; else they get the id -1.
    """

    def __init__(self, known: Names, learning: bool) -> None:
        self.known, self.learning, self.is_fresh = known, learning, True
        self.gatherer: Any = None
        if reader():
            self.gatherer = reader().StreamGatherer(known.table.copy() if learning else known.table, learning)
        else:
            self.gatherer = PlainGatherer(growing(known.ids) if learning else known.ids, learning)

    def begin(self) -> None:
        """Drop what was gathered; names keep their ids."""
        self.gatherer.begin()

    def add_sequence(self, sequence: Iterable[Any], place: str) -> int:
        """Append the items of a sequence, which errors call `place`, and return their number."""
        if self.is_fresh:
            self.is_fresh = False
            if is_matrix(sequence):
                self.gatherer = self._of_matrices()
        if isinstance(self.gatherer, MatrixGatherer) or not isinstance(self.gatherer, PlainGatherer):
            return self.gatherer.add_sequence(sequence, place)
        if reader():
            self.gatherer = self._compiled(self.gatherer)
            return self.gatherer.add_sequence(sequence, place)
        before = len(self.gatherer.attributes)
        n_items = self.gatherer.add_sequence(sequence, place)
        count_plain(len(self.gatherer.attributes) - before)
        return n_items

    def end_sequence(self) -> None:
        """Close the sequence. (One without positions need not be closed, and is then left out.)"""
        self.gatherer.end_sequence()

    def mark(self) -> Mark:
        return self.gatherer.mark()

    def take_back(self, mark: Mark) -> None:
        """Drop what was gathered since the mark; names keep their ids."""
        self.gatherer.take_back(mark)

    def corpus(self, labels: array[int] | None = None) -> Corpus:
        """Return what was gathered; when every value is 1, `values` has length 0."""
        return self.gatherer.corpus(labels)

    def learnt(self) -> Names:
        """Return the names of all that was gathered so far."""
        if isinstance(self.gatherer, PlainGatherer):
            return Names(self.gatherer.ids)
        return Names(table=self.gatherer.names.copy())

    def _of_matrices(self) -> MatrixGatherer:
        """Return a gatherer of arrays, which are read without Python code for each attribute."""
        return MatrixGatherer(growing(self.known.ids) if self.learning else self.known.ids, self.learning)

    def _compiled(self, plain: PlainGatherer) -> Any:
        """Return the compiled gatherer, which continues from the state of the plain one."""
        table = Names(plain.ids).table if self.learning else self.known.table
        return reader().StreamGatherer(table, self.learning, plain.corpus())
