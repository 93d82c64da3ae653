"""Counts of correct tokens and segments in a labeled corpus, by ids of labels and without Python objects per token.

`count` gives the same numbers as `fastcrf.metrics`. A gold label that the model does not know has the id -1: the token
counts as wrong, and a run of such tokens as a segment of a type of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus, Ints, Longs
from fastcrf.metrics import OUTSIDE, Label, mark_and_type, marks_are_bare


class Marks(NamedTuple):
    """The marks of each label; the last entry is for unknown labels, whose id is -1."""

    inside: NDArray[np.bool_]
    opens: NDArray[np.bool_]  # a segment begins here, whatever the label before
    closes: NDArray[np.bool_]  # a segment ends here
    types: Longs


class Counts(NamedTuple):
    """Correct tokens and segments, and how many there are."""

    tokens: int
    correct_tokens: int
    gold_segments: int
    predicted_segments: int
    correct_segments: int

    def scores(self) -> dict[str, float]:
        """Return the scores by the names that `EarlyStopping` knows; NaN without tokens."""
        segments = self.gold_segments + self.predicted_segments
        return {
            "accuracy": self.correct_tokens / self.tokens if self.tokens else float("nan"),
            "segment_f1": 2.0 * self.correct_segments / segments if segments else 0.0,
        }


def count(corpus: Corpus, predicted: Ints, marks: Marks) -> Counts:
    """Compare predicted labels with those of the corpus."""
    gold, found = (find_segments(marks, labels, corpus.starts) for labels in (corpus.labels, predicted))
    correct = len(np.intersect1d(gold, found, assume_unique=True))
    right = int(np.count_nonzero(predicted == corpus.labels))
    return Counts(corpus.n_positions, right, len(gold), len(found), correct)


def read_marks(labels: Sequence[Label]) -> Marks:
    """Return the marks of labels, as `fastcrf.metrics.segments` reads them."""
    bare = marks_are_bare(labels)
    read = [*(mark_and_type(label, bare) for label in labels), ("I", object())]
    types = {kind: k for k, kind in enumerate(dict.fromkeys(kind for _, kind in read))}
    marks = np.array([mark for mark, _ in read])
    return Marks(
        inside=marks != OUTSIDE,
        opens=np.isin(marks, list("BSU")),
        closes=np.isin(marks, list("ELSU")),
        types=np.array([types[kind] for _, kind in read]),
    )


def find_segments(marks: Marks, labels: Ints, starts: Longs) -> Longs:
    """Return a number for each segment: equal for equal type, first and last position."""
    n = len(labels)
    inside, types = marks.inside[labels], marks.types[labels]
    first_of_sequence = np.zeros(n + 1, bool)
    first_of_sequence[starts] = True
    apart = np.ones(n, bool)  # from the position before
    apart[1:] = marks.closes[labels[:-1]] | (types[1:] != types[:-1]) | ~inside[:-1]
    begins = inside & (first_of_sequence[:n] | marks.opens[labels] | apart)
    breaks = np.append(begins | ~inside | first_of_sequence[:n], True)
    first, ends = np.flatnonzero(begins), np.flatnonzero(breaks)
    last = ends[np.searchsorted(ends, first, side="right")]
    return (types[first] * (n + 1) + first) * (n + 1) + last
