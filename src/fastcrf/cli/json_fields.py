"""JSON lines on the command line: which fields they have, and their sentences as those of column files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastcrf.cli.command_errors import refuse
from fastcrf.data.files.conll import Sentence
from fastcrf.data.sources.json_lines import json_records
from fastcrf.data.sources.source import Fields, sentences_of
from fastcrf.exceptions import DataError

FIELDS = ("tokens", "labels")


def read_fields(text: str | None, items: bool) -> tuple[str, ...]:
    """Return the fields of JSON lines that an option names."""
    if text is None:
        return FIELDS
    fields = tuple(text.split(","))
    if items:
        refuse("--fields", "is for JSON lines, but --items means item files; remove one of them.")
    if len(fields) < 2 or not all(fields):
        refuse("--fields", f"must name the tokens and the labels, such as tokens,labels; got {text!r}.")
    return fields


def remembered_fields(remembered: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of JSON lines that a model remembers. A file may hold anything."""
    fields = remembered.get("fields", FIELDS)
    if not (isinstance(fields, list | tuple) and len(fields) > 1 and all(isinstance(name, str) for name in fields)):
        raise DataError(f"The model is damaged: it remembers the fields {fields!r}.")
    return tuple(fields)


def json_sentences(lines: Iterable[str], name: str, fields: Fields) -> Iterator[Sentence]:
    """Return the sentences of JSON lines, the label as the last column if there is one."""
    for place, rows, labels in sentences_of(json_records(lines, name), fields):
        number = int(place.rpartition(":")[2])
        yield Sentence(
            number, [[*row, str(label)] for row, label in zip(rows, labels, strict=True)] if labels else rows
        )
