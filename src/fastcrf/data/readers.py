"""Column files: one token per line, columns separated by spaces or tabs, a blank line between sentences.

Before the first token of a sentence there may be comments as in CoNLL-U, such as ``# sent_id = 7``; a token may be #.
Files may be gzipped (told by their first bytes, not by their name) and "-" is standard input. Sentences are read one by
one. Whatever is wrong is a `DataError` that names the file and, where there is one, the line.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, cast

from fastcrf.data.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = "\ufeff"
CONLLU_COMMENT = re.compile(r"#\s*(\S+\s*=(\s|$)|(newdoc|newpar)\b)")
BLOCK = 1 << 16  # bytes that are read at once

Progress = Callable[[float | None], None]  # is told a share from 0 to 1, or None where nobody knows


class Sentence(NamedTuple):
    line: int  # line number of the first token, counted from 1
    rows: list[list[str]]  # columns of each token


def read_columns(
    path: str | os.PathLike[str], n_columns: int | None = None, progress: Progress | None = None
) -> Iterator[Sentence]:
    """Sentences of a column file. Every line has `n_columns` columns, or as many as the first line."""
    name = name_of(path)
    return sentences(read_lines(path, name, progress), name, n_columns)


def name_of(path: str | os.PathLike[str]) -> str:
    """What a file is called in messages."""
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


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
            raise DataError(
                f"{name}:{number}: found {len(columns)} columns instead of {n_columns}; every line needs as many, "
                "and a blank line separates sentences."
            )
        rows.append(columns)
    if rows:
        yield Sentence(number - len(rows) + 1, rows)


def is_comment(line: str, tabbed: bool) -> bool:
    """Whether a line that begins with # is a comment: by its form, or because the columns of the file have tabs."""
    return "\t" not in line and (tabbed or CONLLU_COMMENT.match(line) is not None)


def read_lines(path: str | os.PathLike[str], name: str, progress: Progress | None = None) -> Iterator[str]:
    """Decoded lines without their line ends. Now and then `progress` is told what share of the file has been read."""
    number = 0
    try:
        with open_bytes(path) as (file, share):
            for block in whole_lines(file):
                lines = block.decode("utf-8").removeprefix(BYTE_ORDER_MARK if not number else "").split("\n")
                yield from (line.rstrip("\r") for line in lines) if b"\r" in block else lines
                number += len(lines)
                if progress:
                    progress(share())
    except UnicodeDecodeError as error:
        number += error.object.count(b"\n", 0, error.start) + 1
        bad = error.object[error.start : error.start + 1].hex()
        raise DataError(f"{name}:{number}: byte 0x{bad} is not UTF-8; convert the file to UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: the gzip data are damaged or incomplete ({error}); copy the file again.") from None
    except OSError as error:
        raise DataError(f"Cannot read {name}: {error.strerror or error}.") from None


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file in blocks, without the line end after the last line of each. (Line by line is slow.)"""
    rest = b""
    while piece := file.read1(BLOCK):  # type: ignore[attr-defined]  # what there is: nobody waits for more of a pipe
        lines, end, piece = piece.rpartition(b"\n")
        if end:
            yield rest + lines
            rest = piece
        else:
            rest += piece
    if rest:
        yield rest


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, Callable[[], float | None]]]:
    """The decompressed bytes of a file or of standard input (which stays open), and what share of it has been read."""
    if os.fspath(path) == "-":
        yield decompressed(sys.stdin.buffer), lambda: None
        return
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        yield decompressed(file), lambda: file.tell() / size if size else None


def decompressed(file: BinaryIO) -> BinaryIO:
    """The stream itself, or what is in it if it is gzipped."""
    if not isinstance(file, io.BufferedReader):  # a stand-in for standard input
        file = io.BufferedReader(io.BytesIO(file.read()))
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if file.peek(2)[:2] == GZIP_MAGIC else file
