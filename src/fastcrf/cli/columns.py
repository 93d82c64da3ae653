"""Column files as the commands need them: with labels for training and scoring, with or without for tagging."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, tee
from typing import NamedTuple

from fastcrf.data.columns import column_items
from fastcrf.data.errors import DataError
from fastcrf.data.readers import Sentence, name_of, read_columns, read_lines, sentences
from fastcrf.model import Model

AT_ONCE = 1000  # sentences that are tagged together


class Labelled(NamedTuple):
    """A file whose last column is the label. X and y are read together, sentence by sentence."""

    n_columns: int  # apart from the label
    X: Iterator[list[list[str]]]
    y: Iterator[list[str]]


def read_labelled(path: str, n_columns: int | None = None) -> Labelled:
    """Attributes and labels of a file with `n_columns` columns (None: as many as there are) before the label."""
    first, every = peek(read_columns(path))
    if first is None:
        raise DataError(f"{name_of(path)} holds no sentence; give one token and its label a line.")
    found = len(first.rows[0]) - 1
    if found < 1 or found != (n_columns or found):
        needed = f"the model needs {n_columns}" if n_columns else "it takes at least one"
        raise DataError(f"{name_of(path)}:{first.line}: found {columns(found + 1)}, but {needed} and the label.")
    forms, labels = tee(every)  # training reads them in step, so that tee keeps one sentence
    X = (column_items([row[:-1] for row in sentence.rows]) for sentence in forms)
    return Labelled(found, X, ([row[-1] for row in sentence.rows] for sentence in labels))


def tagged_lines(model: Model, path: str) -> Iterator[str]:
    """The lines of a file, each with its label as last column; blank lines stay."""
    name, n_columns = name_of(path), columns_of(model)
    lines = Counted(read_lines(path, name))
    first, every = peek(sentences(lines, name))
    if first and len(first.rows[0]) not in (n_columns, n_columns + 1):
        raise DataError(
            f"{name}:{first.line}: found {columns(len(first.rows[0]))}, but the model needs {n_columns}, "
            f"or {n_columns + 1} where the last is a label."
        )
    done = 0
    while batch := list(islice(every, AT_ONCE)):
        labels = model.tag(column_items([row[:n_columns] for row in sentence.rows]) for sentence in batch)
        for sentence, found in zip(batch, labels, strict=True):
            yield from [""] * (sentence.line - 1 - done)
            yield from ("\t".join([*row, str(label)]) for row, label in zip(sentence.rows, found, strict=True))
            done = sentence.line - 1 + len(found)
    yield from [""] * (lines.count - done)


def columns_of(model: Model) -> int:
    """How many columns the model needs, if it was trained on columns."""
    n_columns = model.input.get("n_columns")
    if model.input.get("kind") != "columns" or not isinstance(n_columns, int):
        raise DataError("This model was trained in Python, not on columns; use it there: fastcrf.load(path).tag(X).")
    return n_columns


def peek(stream: Iterator[Sentence]) -> tuple[Sentence | None, Iterator[Sentence]]:
    """The first sentence, if there is one, and all of them."""
    first = next(stream, None)
    return first, chain([first], stream) if first else stream


def columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


class Counted:
    """Lines, and how many of them have been read."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines, self.count = lines, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.count += 1
            yield line
