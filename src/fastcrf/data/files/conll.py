"""Column files: one token per line, columns separated by tabs or blanks, an empty line between sentences.

If the first line with a token contains a tab, tabs separate the columns of the file, and tokens and labels may contain
spaces. Otherwise spaces separate them, and so do tabs. The caller can name a separator instead.

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
BLANKS = " \t"
OR = "|"  # between the labels that a token may have, where its label is not known
TAB, SPACE = "\t", " "  # separators; a space stands for spaces and tabs


class Sentence(NamedTuple):
    line: int  # line number of the first token, counted from 1
    rows: list[list[str]]  # columns of each token


def read_columns(
    path: str | os.PathLike[str],
    n_columns: int | None = None,
    progress: ShareRead | None = None,
    separator: str | None = None,
) -> Iterator[Sentence]:
    """Read the sentences of a column file. Every line has `n_columns` columns, or as many as the first line."""
    name = name_of(path)
    return sentences(read_lines(path, name, progress), name, n_columns, separator)


def sentences(
    lines: Iterable[str], name: str, n_columns: int | None = None, separator: str | None = None
) -> Iterator[Sentence]:
    """Read the sentences in the lines of a file called `name`. separator: a character; None: detect it."""
    rows: list[list[str]] = []
    tabbed = False
    for number, line in enumerate(lines, 1):
        if not rows and line[:1] == "#" and is_comment(line, tabbed):
            continue
        separator = separator or detected(line)
        columns = columns_of(line, separator)
        if not columns:
            if rows:
                yield Sentence(number - len(rows), rows)
                rows = []
            continue
        n_columns = n_columns or len(columns)
        tabbed = tabbed if rows else TAB in line
        if len(columns) != n_columns:
            raise DataError(f"{name}:{number}: {wrong_number(columns, n_columns, line, separator)}")
        rows.append(columns)
        check_length(rows, name, number)
    if rows:
        yield Sentence(number - len(rows) + 1, rows)


def detected(line: str) -> str | None:
    """Return the separator that a line shows, or None if it is blank."""
    text = line.strip(BLANKS)
    if not text:
        return None
    return TAB if TAB in text else SPACE


def columns_of(line: str, separator: str | None) -> list[str]:
    """Split a line into its columns. Several separators in a row count as one."""
    if separator is None or separator == SPACE:
        columns = line.replace(TAB, SPACE).split(SPACE)  # split() would also break at no-break spaces, inside tokens
    else:
        columns = line.split(separator)
        if SPACE in line:
            columns = [column.strip(SPACE) for column in columns]
    return [column for column in columns if column] if "" in columns else columns


def wrong_number(columns: list[str], wanted: int, line: str, separator: str | None) -> str:
    """Describe a line with another number of columns than the first, and what to do."""
    hint = "every line needs as many columns as the first, and a blank line separates sentences"
    if separator == TAB and len(columns_of(line, SPACE)) == wanted:
        hint = "tabs separate the columns of this file; if spaces do too, add --separator space"
    return f"found {counted(len(columns))} instead of {wanted}; {hint}."


def comma_hint(line: list[str]) -> str:
    """Return advice for a line of one column with commas in it, else nothing."""
    if len(line) == 1 and "," in line[0].strip(","):
        return " The line contains commas; if these separate its columns, add --separator ','."
    return ""


def counted(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def is_comment(line: str, tabbed: bool) -> bool:
    """Return whether a line that begins with # is a comment: by its form, or because the columns of the file have
    tabs.
    """
    return TAB not in line and (tabbed or re.match(CONLLU_COMMENT, line) is not None)
