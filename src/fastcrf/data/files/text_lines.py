"""The lines of a text file.

Files may be gzipped (detected by their first bytes, not by their name) and "-" is standard input. Every fault is a
`DataError` that names the file and, if there is one, the line.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from fastcrf.exceptions import DataError

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = "\ufeff"
BLOCK = 1 << 16  # bytes that are read at once
LONGEST_LINE = 1 << 24  # bytes; what is longer is no text but, say, a file of zeros
MOST_TOKENS = 1 << 22  # of a sentence; more means that blank lines are missing, and would fill the memory

ShareRead = Callable[[float | None], None]  # receives a share from 0 to 1, or None if it is unknown


def name_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file in messages."""
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


def check_length(tokens: list[Any], name: str, number: int) -> None:
    """Raise if a sequence has more tokens than it may have when line `number` has been read."""
    if len(tokens) > MOST_TOKENS:
        raise DataError(
            f"{name}:{number}: the sequence has more than {MOST_TOKENS:,} lines; a blank line separates sequences."
        )


def read_lines(path: str | os.PathLike[str], name: str, progress: ShareRead | None = None) -> Iterator[str]:
    """Yield decoded lines without their line ends; call `progress` regularly with the share that has been read."""
    number = 0
    try:
        with open_bytes(path) as (file, share):
            for block in whole_lines(file):
                lines = block.decode("utf-8").removeprefix(BYTE_ORDER_MARK if not number else "").split("\n")
                yield from without_returns(lines, name, number) if b"\r" in block else lines
                number += len(lines)
                if progress:
                    progress(share())
    except LongLine:
        raise DataError(
            f"{name}:{number + 1}: the line is longer than {LONGEST_LINE:,} bytes; this is not text, or it has lost "
            "its line ends."
        ) from None
    except UnicodeDecodeError as error:
        number += error.object.count(b"\n", 0, error.start) + 1
        bad = error.object[error.start : error.start + 1].hex()
        raise DataError(f"{name}:{number}: byte 0x{bad} is not UTF-8; convert the file to UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: the gzip data are damaged or incomplete ({error}); copy the file again.") from None
    except OSError as error:
        raise DataError(f"Cannot read {name}: {error.strerror or error}.") from None


def without_returns(lines: list[str], name: str, number: int) -> Iterator[str]:
    """Remove the carriage returns of Windows at the ends of lines; `number` lines came before them."""
    for i, line in enumerate(lines, number + 1):
        line = line.rstrip("\r")
        if "\r" in line:
            raise DataError(
                f"{name}:{i}: a carriage return stands within the line; if these are the file's line ends, convert "
                "them: tr '\\r' '\\n' < FILE."
            )
        yield line


class LongLine(Exception):
    """Raise for a line that is longer than `LONGEST_LINE`, after all lines before it."""


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file in blocks, without the line end after the last line of each. (Line by line is slow.)"""
    rest: list[bytes] = []  # pieces of a line whose end has not come yet; joined once, or its cost would be quadratic
    size = 0
    while piece := file.read1(BLOCK):  # type: ignore[attr-defined]  # what there is: a pipe may have no more
        lines, end, piece = piece.rpartition(b"\n")
        if end:
            yield b"".join((*rest, lines))
            rest, size = [], 0
        rest.append(piece)
        size += len(piece)
        if size > LONGEST_LINE:
            raise LongLine
    if size:
        yield b"".join(rest)


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, Callable[[], float | None]]]:
    """Open the decompressed bytes of a file or of standard input (which stays open), and the share read so far."""
    if os.fspath(path) == "-":
        yield decompressed(sys.stdin.buffer), lambda: None
        return
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        yield decompressed(file), lambda: file.tell() / size if size else None


def decompressed(file: BinaryIO) -> BinaryIO:
    """Return the stream itself, or its decompressed content if it is gzipped."""
    if not isinstance(file, io.BufferedReader):  # a stand-in for standard input
        file = io.BufferedReader(io.BytesIO(file.read()))
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if file.peek(2)[:2] == GZIP_MAGIC else file
