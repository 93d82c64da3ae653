"""Column files: one token per line, columns separated by spaces or tabs, a blank line between sentences.

Before the first token of a sentence there may be comments as in CoNLL-U, such as ``# sent_id = 7``; a token may be #.
Sentences are read one by one; a line with another number of columns is a `DataError` that names file and line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fastcrf.data.files.text_lines import ShareRead, check_length, name_of, read_lines
from fastcrf.exceptions import DataError

CONLLU_COMMENT = r"#\s*(\S+\s*=(\s|$)|(newdoc|newpar)\b)"


class Sentence(NamedTuple):
    line: int  # line number of the first token, counted from 1
    rows: list[list[str]]  # columns of each token


def read_columns(
    path: str | os.PathLike[str], n_columns: int | None = None, progress: ShareRead | None = None
) -> Iterator[Sentence]:
    """Sentences of a column file. Every line has `n_columns` columns, or as many as the first line."""
    name = name_of(path)
    return sentences(read_lines(path, name, progress), name, n_columns)


def sentences(lines: Iterable[str], name: str, n_columns: int | None = None) -> Iterator[Sentence]:
    """Sentences of the lines of a file called `name`."""
    rows: list[list[str]] = []
    tabbed = False
    for number, line in enumerate(lines, 1):
        if not rows and line[:1] == "#" and is_comment(line, tabbed):
            continue
        columns = line.replace("\t", " ").split(" ")  # split() would also break at no-break spaces, inside tokens
        if "" in columns:
            columns = [column for column in columns if column]
        if not columns:
            if rows:
                yield Sentence(number - len(rows), rows)
                rows = []
            continue
        n_columns = n_columns or len(columns)
        tabbed = tabbed if rows else "\t" in line
        if len(columns) != n_columns:
            found = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            raise DataError(
                f"{name}:{number}: found {found} instead of {n_columns}; every line needs as many columns as the "
                "first, and a blank line separates sentences."
            )
        rows.append(columns)
        check_length(rows, name, number)
    if rows:
        yield Sentence(number - len(rows) + 1, rows)


def is_comment(line: str, tabbed: bool) -> bool:
    """Whether a line that begins with # is a comment: by its form, or because the columns of the file have tabs."""
    return "\t" not in line and (tabbed or re.match(CONLLU_COMMENT, line) is not None)
