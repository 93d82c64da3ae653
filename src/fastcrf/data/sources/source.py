"""`Sentences`, the source of sequences that every reader returns, and what makes sentences of records.

A record is a mapping with a list per field: tokens, further columns, labels. Every fault is a `DataError` with its
place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fastcrf.exceptions import DataError

Rows = list[list[str]]


class Sentence(NamedTuple):
    """A sequence: its place, a row of columns for each token, and its labels."""

    place: str  # as errors name it, such as data.jsonl:7
    rows: Rows  # the columns of each token; the first is the token
    labels: list[Any]  # empty if the source has no labels


class Record(NamedTuple):
    """The fields of a sequence, by name."""

    place: str
    fields: Mapping[str, Any]


class Sentences:
    """Sentences of a file or table, read when they are needed. They can be read several times.

    Parameters
    ----------
    read : callable
        Returns an iterator over all sentences.
    """

    def __init__(self, read: Callable[[], Iterator[Sentence]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[Sentence]:
        return self._read()

    def load(self) -> tuple[list[Rows], list[list[Any]]]:
        """Read all sentences.

        Returns
        -------
        X : list of lists of lists of str
            The columns of each token of each sentence: input for `fastcrf.features` and for templates.
        y : list of lists
            The labels of each sentence; empty lists if the source has none.

        Raises
        ------
        DataError
            If the data is damaged; the message has the place.
        """
        every = list(self)
        return [sentence.rows for sentence in every], [sentence.labels for sentence in every]

    def tokens(self) -> list[list[str]]:
        """Read the tokens of all sentences, without other columns and labels.

        Returns
        -------
        list of lists of str
            The tokens of each sentence.
        """
        return [[row[0] for row in sentence.rows] for sentence in self]


class Fields(NamedTuple):
    """The fields that make a sentence."""

    columns: tuple[str, ...]  # the first is the token
    labels: str | None = None
    names: Mapping[str, Sequence[str]] = {}  # of fields with class numbers, the name of each class

    @classmethod
    def of(cls, tokens: str | Sequence[str], labels: str | None, names: Mapping[str, Sequence[str]] = {}) -> Fields:
        return cls((tokens,) if isinstance(tokens, str) else tuple(tokens), labels, names)


def sentences_of(records: Iterable[Record], fields: Fields) -> Iterator[Sentence]:
    """Return the sentence of each record."""
    for place, found in records:
        columns = [strings_of(found, name, place, fields.names.get(name)) for name in fields.columns]
        labels: list[Any] = []
        if fields.labels is not None:
            labels = labels_of(found, fields.labels, place, fields.names.get(fields.labels))
        for name, values in zip((*fields.columns[1:], fields.labels), [*columns[1:], labels], strict=True):
            if name is not None and len(values) != len(columns[0]):
                raise DataError(
                    f"{place}: {fields.columns[0]!r} has {len(columns[0])} entries and {name!r} has {len(values)}; "
                    "give one for each token."
                )
        yield Sentence(place, [list(row) for row in zip(*columns, strict=True)], labels)


def strings_of(found: Mapping[str, Any], name: str, place: str, names: Sequence[str] | None) -> list[str]:
    """Return a field that is a list of strings, or of numbers of classes that have names."""
    values = list_of(found, name, place)
    if names is not None:
        return [class_name(value, names, f"{place}, {name!r}, position {t}") for t, value in enumerate(values)]
    for t, value in enumerate(values):
        if not isinstance(value, str):
            raise DataError(f"{place}, {name!r}, position {t}: {value!r} is no string; give one string per token.")
    return values


def labels_of(found: Mapping[str, Any], name: str, place: str, names: Sequence[str] | None) -> list[Any]:
    """Return a field of labels: strings, numbers, or numbers of classes that have names."""
    values = list_of(found, name, place)
    if names is not None:
        return strings_of(found, name, place, names)
    for t, value in enumerate(values):
        if value is None or value != value or isinstance(value, list | dict):
            raise DataError(f"{place}, {name!r}, position {t}: {value!r} is no label; give a string or a number.")
    return values


def list_of(found: Mapping[str, Any], name: str, place: str) -> list[Any]:
    """Return a field that is a list."""
    if name not in found:
        known = ", ".join(map(repr, found)) or "none"
        raise DataError(f"{place}: there is no field {name!r}; the fields are {known}.")
    value = found[name]
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise DataError(f"{place}: {name!r} is a {type(value).__name__}; give a list with an entry for each token.")
    return list(value)


def class_name(value: Any, names: Sequence[str], place: str) -> str:
    """Return the name of a class by its number."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= int(value) < len(names):
        raise DataError(f"{place}: {value!r} is no class; the classes are numbered from 0 to {len(names) - 1}.")
    return names[int(value)]
