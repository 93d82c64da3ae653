"""An encoded corpus, mapped: checked number by number before a kernel sees it, but never copied into memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus
from fastcrf.data.corpus_file.container import CorpusFileError, PathLike, read
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.model_file.attribute_content import unpack_attributes
from fastcrf.data.model_file.content import check_input, read_labels
from fastcrf.exceptions import ModelFileError

LOOKED_AT = 1 << 20  # numbers at a time


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """Training data that lie encoded in a file: `CRF.fit` takes them in place of X and y."""

    path: str
    corpus: Corpus = field(repr=False)
    attributes: Attributes = field(repr=False)
    labels: list[Any] = field(repr=False)
    input: dict[str, Any] = field(repr=False)  # what a model remembers of the files
    transitions: bool = True  # whether pairs of labels have weights

    def __len__(self) -> int:
        return self.corpus.n_sequences


def open_corpus(path: PathLike) -> EncodedCorpus:
    """Map the file that `fastcrf encode` wrote. Everything in it is looked at once; nothing is executed."""
    try:
        arrays, header = read(path)
        labels = read_labels(header)
        attributes = unpack_attributes(arrays, header.get("attributes"))
        corpus = checked_corpus(arrays, len(attributes), len(labels))
        require(isinstance(header.get("input"), dict), "no kind of input")
        check_input(header["input"])
        require(isinstance(header.get("transitions"), bool), "no word on transitions")
    except (CorpusFileError, ModelFileError) as error:
        fault = str(error).replace("the model", "the corpus")
        raise CorpusFileError(f"Cannot use {os.fspath(path)}: {fault}.") from None
    return EncodedCorpus(os.fspath(path), corpus, attributes, labels, header["input"], header["transitions"])


def checked_corpus(arrays: Mapping[str, NDArray[Any]], n_attributes: int, n_labels: int) -> Corpus:
    """Return the corpus in the arrays, if every number is in the range that kernels require."""
    corpus = Corpus(
        starts=take(arrays, "starts", np.int64),
        offsets=take(arrays, "offsets", np.int64),
        attributes=take(arrays, "attributes", np.int32),
        values=take(arrays, "values", np.float64),
        labels=take(arrays, "labels", np.int32),
        weights=take(arrays, "weights", np.float64),
    )
    n_positions, n_occurrences = len(corpus.labels), len(corpus.attributes)
    require(len(corpus.starts) > 1 and ascend(corpus.starts, n_positions, strictly=True), "sequences that overlap")
    require(len(corpus.offsets) == n_positions + 1 and ascend(corpus.offsets, n_occurrences), "items that overlap")
    require(within(corpus.attributes, 0, n_attributes - 1), "an attribute out of range")
    require(within(corpus.labels, 0, n_labels - 1), "a label out of range")
    require(len(corpus.values) in (0, n_occurrences), "values that do not fit")
    require(within(corpus.values, -np.inf, np.inf), "a value that is not finite")
    require(len(corpus.weights) in (0, corpus.n_sequences), "weights that do not fit")
    require(within(corpus.weights, 0.0, np.inf), "a weight that is negative or not finite")
    require(not len(corpus.weights) or bool(corpus.weights.any()), "no weight above zero")
    return corpus


def take(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type) -> NDArray[Any]:
    require(name in arrays and arrays[name].dtype == dtype, f"no array {name!r} of type {dtype.__name__}")
    return arrays[name]


def ascend(numbers: NDArray[Any], end: int, strictly: bool = False) -> bool:
    """Return whether numbers go from 0 to `end` and never decrease."""
    if not len(numbers) or numbers[0] != 0 or numbers[-1] != end:
        return False
    looks = (numbers[first : first + LOOKED_AT + 1] for first in range(0, len(numbers), LOOKED_AT))
    compare = np.greater if strictly else np.greater_equal
    return all(bool(compare(look[1:], look[:-1]).all()) for look in looks)


def within(numbers: NDArray[Any], low: float, high: float) -> bool:
    """Return whether all numbers are finite and low <= number <= high."""
    looks = (numbers[first : first + LOOKED_AT] for first in range(0, len(numbers), LOOKED_AT))
    return all(bool((np.isfinite(look) & (look >= low) & (look <= high)).all()) for look in looks)


def require(holds: bool, fault: str) -> None:
    """Raise an error that names what the corpus should not contain, unless `holds`."""
    if not holds:
        raise CorpusFileError(f"the corpus is damaged: it has {fault}")
