"""Encode sequences of items as a `Corpus` of arrays: the only way into the library for data from Python.

Everything is read once and in order, so X, y and their sequences may be generators, and what is kept is proportional to
the encoded corpus (`array.array`, never lists of Python numbers).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastcrf.core.types import Corpus, Floats, Longs
from fastcrf.data.encoding.attributes import Attributes, Gatherer, ItemAttributes
from fastcrf.data.encoding.input_shapes import checked_weights, labels_of, pairs_of, sequences_of
from fastcrf.data.encoding.vocabulary import growing
from fastcrf.exceptions import DataError

NO_ITEMS = ItemAttributes.of([])
UNKNOWN = -1  # id of a gold label that the model does not know


class Encoder:
    """An encoder for tagging: attributes that were not seen in training are ignored."""

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes

    def encode(self, X: Iterable[Iterable[Any]]) -> Corpus:
        """Encode all sequences of X, without labels. Empty sequences stay: they have no positions."""
        gatherer = self.attributes.gatherer()
        for i, sequence in enumerate(sequences_of(X)):
            gatherer.add_sequence(sequence, f"X[{i}]")
            gatherer.end_sequence()
        return gatherer.corpus()

    def encode_one(self, sequence: Iterable[Any]) -> Corpus:
        """Encode one sequence as a corpus."""
        gatherer = self.attributes.gatherer()
        gatherer.add_sequence(sequence, "The sequence")
        gatherer.end_sequence()
        return gatherer.corpus()

    def encode_labeled(
        self, X: Iterable[Iterable[Any]], y: Iterable[Iterable[Hashable]], labels: Sequence[Hashable]
    ) -> Corpus:
        """Encode a held-out set: gold labels that the model does not know get the id -1.

        Empty sequences are skipped.
        """
        known = {label: k for k, label in enumerate(labels)}
        return encode_pairs(X, y, self.attributes.gatherer(), lambda label: known.get(label, UNKNOWN))[0]


def encode_training(
    X: Iterable[Iterable[Any]],
    y: Iterable[Iterable[Hashable]],
    sample_weight: Iterable[float] | None = None,
    known: Attributes = NO_ITEMS,
    labels: Iterable[Hashable] | None = None,
) -> tuple[Corpus, Attributes, list[Any]]:
    """Encode the training corpus, its attributes and its labels, both numbered by first appearance.

    The `known` attributes and `labels` of an earlier model keep their numbers and are extended, in copies; the kind of
    attributes says what the sequences of X hold. Labels may be anything hashable; labels that compare equal are one
    label. Empty sequences are skipped, and so are their weights, which are read last: reading X may produce them.
    """
    gatherer, learnt = known.learner()
    label_ids: Mapping[Hashable, int] = growing((label, k) for k, label in enumerate(labels or ()))
    corpus, kept, total = encode_pairs(X, y, gatherer, label_ids.__getitem__)
    if not len(kept):
        raise DataError("There is nothing to train on: X contains no sequence with at least one item.")
    if any(label != label for label in label_ids):
        raise DataError("A label in y is NaN, which does not equal itself; give missing labels a name of their own.")
    if sample_weight is not None:
        corpus = corpus._replace(weights=weights_of_kept(checked_weights(sample_weight), kept, total))
    return corpus, learnt(), list(label_ids)


def encode_pairs(
    X: Iterable[Iterable[Any]],
    y: Iterable[Iterable[Hashable]],
    gatherer: Gatherer,
    label_id: Callable[[Hashable], int],
) -> tuple[Corpus, Longs, int]:
    """Return the corpus of the non-empty sequences with their labels, the index of each in X, and the length of X."""
    labels, kept, total = array("i"), array("q"), 0
    for i, n_items in gather_pairs(X, y, gatherer, labels, label_id):
        total = i + 1
        if n_items:
            kept.append(i)
    return gatherer.corpus(labels), np.frombuffer(kept, np.int64), total


def gather_pairs(
    X: Iterable[Iterable[Any]],
    y: Iterable[Iterable[Hashable]],
    gatherer: Gatherer,
    labels: array[int],
    label_id: Callable[[Hashable], int],
) -> Iterator[tuple[int, int]]:
    """Gather one sequence after another with its labels: (its index in X, its length). Writes: gatherer, labels."""
    for i, (sequence, gold) in enumerate(pairs_of(X, y)):
        n_items = gatherer.add_sequence(sequence, f"X[{i}]")
        n_labels = add_labels(labels, gold, label_id, f"y[{i}]")
        if n_items != n_labels:
            raise DataError(f"X[{i}] has {n_items} items and y[{i}] has {n_labels} labels; give one label per item.")
        if n_items:
            gatherer.end_sequence()
        yield i, n_items


def add_labels(labels: array[int], gold: Iterable[Hashable], label_id: Callable[[Hashable], int], place: str) -> int:
    """Append the ids of gold labels and return their number. Writes: labels."""
    before, names = len(labels), [*labels_of(gold, place)]
    try:
        labels.extend(map(label_id, names))
    except TypeError as error:
        position = len(labels) - before
        raise DataError(f"{place}, position {position}: {error}; a label must be hashable, such as a string.") from None
    if None in names:
        raise DataError(
            f"{place}, position {names.index(None)}: the label is None; give missing labels a name of their own, "
            "leave the sequence out, or set partial_labels=True."
        )
    return len(labels) - before


def weights_of_kept(weights: Floats, kept: Longs, total: int) -> Floats:
    """Return the weights of the sequences that are not empty; an empty array if every weight is 1."""
    if len(weights) != total:
        raise DataError(f"sample_weight has {len(weights)} weights and X has {total} sequences; give one per sequence.")
    weights = weights[kept]
    if not weights.any():
        raise DataError("Every sample_weight is zero, so there is nothing to train on; give one that is positive.")
    return np.empty(0) if (weights == 1.0).all() else weights
