"""JSON lines: an object per line, with lists of tokens and of labels."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence

from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.data.sources.source import Fields, Record, Sentences, sentences_of
from fastcrf.exceptions import DataError


def json_lines(
    path: str | os.PathLike[str], tokens: str | Sequence[str] = "tokens", labels: str | None = "labels"
) -> Sentences:
    """Read JSON lines, plain or gzipped: ``{"tokens": ["12", "Oak"], "labels": ["N", "S"]}``.

    Parameters
    ----------
    path : str or path
        The file; "-" is standard input.
    tokens : str or sequence of str, default="tokens"
        The field with the tokens, or this and the fields with further columns.
    labels : str, default="labels"
        The field with the labels; None reads none.

    Returns
    -------
    Sentences
        The sentences, which are read one by one.
    """
    name = name_of(path)
    return Sentences(lambda: sentences_of(json_records(read_lines(path, name), name), Fields.of(tokens, labels)))


def is_json_lines(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is called as JSON lines are."""
    return os.fspath(path).removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def json_records(lines: Iterable[str], name: str) -> Iterator[Record]:
    """Return the object of each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}:{number}: the line is not JSON ({error}); give one object per line.") from None
        if not isinstance(found, dict):
            raise DataError(f"{name}:{number}: the line is a {type(found).__name__}, not an object with fields.")
        yield Record(f"{name}:{number}", found)
