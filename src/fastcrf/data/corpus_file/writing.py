"""Labeled sequences in, an encoded corpus on disk out, in memory that the vocabulary and one piece bound."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Corpus
from fastcrf.data.corpus_file.container import PathLike, Spool, write
from fastcrf.data.encoding.attributes import Attributes, Gatherer
from fastcrf.data.encoding.encoder import NO_ITEMS, gather_pairs
from fastcrf.data.encoding.vocabulary import growing
from fastcrf.data.model_file.attribute_content import pack_attributes
from fastcrf.data.model_file.content import saved_label
from fastcrf.exceptions import DataError

PIECE = 1 << 17  # positions that are gathered before they are spooled
DTYPES = {
    "starts": np.int64,
    "offsets": np.int64,
    "attributes": np.int32,
    "values": np.float64,
    "labels": np.int32,
    "weights": np.float64,
}


class Part(NamedTuple):
    """Sequences with labels, and with the weights of those that have been read so far, if they have weights."""

    X: Iterable[Any]
    y: Iterable[Any]
    weights: list[float] | None = None


class Written(NamedTuple):
    """The sizes of a corpus file."""

    sequences: int
    positions: int
    occurrences: int
    attributes: int
    labels: int


def write_corpus(
    path: PathLike,
    parts: Iterable[Sequence[Any]],
    attributes: Attributes = NO_ITEMS,
    transitions: bool = True,
    remembered: Callable[[], Mapping[str, Any]] = lambda: {"kind": "items"},
) -> Written:
    """Encode `parts`, each (X, y) or a Part, one after another into one file.

    attributes: none yet, of the kind that the sequences are for; transitions: whether pairs of labels get weights;
    remembered: what a model will remember of its input, asked when all has been read.
    """
    gatherer, learnt = attributes.learner()
    label_ids: Mapping[Hashable, int] = growing()
    with spools(Path(path).absolute().parent) as spooled:
        for part in parts:
            for piece in pieces(Part(*part), gatherer, label_ids):
                spooled.add(piece)
        if not spooled.sequences:
            raise DataError("There is nothing to encode: the data contain no sequence with at least one item.")
        known = learnt()
        arrays, described = pack_attributes(known)
        labels = [saved_label(label) for label in label_ids]
        header = {
            "labels": labels,
            "attributes": described,
            "transitions": bool(transitions),
            "input": dict(remembered()),
        }
        write(path, spooled.complete(arrays), header)
        return Written(spooled.sequences, spooled.positions, len(spooled.of["attributes"]), len(known), len(labels))


def pieces(part: Part, gatherer: Gatherer, label_ids: Mapping[Hashable, int]) -> Iterator[Corpus]:
    """Return the corpus of a part, piece by piece. Writes: part.weights."""
    gatherer.begin()
    labels, kept = array("i"), array("d")
    for _, n_items in gather_pairs(part.X, part.y, gatherer, labels, label_ids.__getitem__):
        if part.weights is not None:
            weight = part.weights.pop(0)  # that of the sequence which has just been read
            if n_items:
                kept.append(weight)
        if len(labels) >= PIECE:
            yield take_piece(gatherer, labels, kept)
    if labels:
        yield take_piece(gatherer, labels, kept)


def take_piece(gatherer: Gatherer, labels: array[int], weights: array[float]) -> Corpus:
    """Return what was gathered and release it. Writes: gatherer, labels, weights."""
    piece = gatherer.corpus()._replace(labels=np.array(labels, np.int32), weights=np.array(weights))
    gatherer.begin()
    del labels[:], weights[:]
    return piece


class Spools:
    """The arrays of a corpus while it grows; values and weights are written once one of them is not 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.of = {name: Spool(folder, dtype) for name, dtype in DTYPES.items()}
        self.of["starts"].append(np.zeros(1))
        self.of["offsets"].append(np.zeros(1))
        self.sequences = self.positions = 0

    def add(self, piece: Corpus) -> None:
        before = len(self.of["attributes"])
        self.of["starts"].append(piece.starts[1:] + self.positions)
        self.of["offsets"].append(piece.offsets[1:] + before)
        self.of["attributes"].append(piece.attributes)
        self.of["labels"].append(piece.labels)
        self._add_to("values", piece.values, before, len(piece.attributes))
        self._add_to("weights", piece.weights, self.sequences, piece.n_sequences)
        self.sequences += piece.n_sequences
        self.positions += piece.n_positions

    def _add_to(self, name: str, numbers: np.ndarray, before: int, n: int) -> None:
        """Append n numbers, or as many ones where there are none. Ones are left out until another number comes."""
        spool = self.of[name]
        if not len(spool) and (not len(numbers) or (numbers == 1.0).all()):
            return
        missing = before - len(spool)
        while missing > 0:
            spool.append(np.ones(min(missing, PIECE)))
            missing -= PIECE
        spool.append(numbers if len(numbers) else np.ones(n))

    def complete(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Spool]:
        """Return all arrays of the file: these, and those of the vocabulary."""
        for name, content in arrays.items():
            self.of[name] = Spool(self.folder, content.dtype)
            self.of[name].append(content)
        return self.of

    def close(self) -> None:
        for spool in self.of.values():
            spool.close()


@contextmanager
def spools(folder: Path) -> Iterator[Spools]:
    """Make spools in a folder, which are removed at the end."""
    with closing(Spools(folder)) as spooled:
        yield spooled
