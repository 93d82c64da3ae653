"""Atomic text output: after an error there is no half-written file.

What only files need is imported where they are written, and text waits in memory without the help of tempfile: printing
the labels of a single sentence starts sooner.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TextIO

from fastcrf.cli.command_errors import STANDARD_OUTPUT

ERRORS = "surrogateescape"  # a name of bytes that are no UTF-8 is written as it was read
IN_MEMORY = 1 << 26  # characters; what is longer waits in a temporary file
PIECE = 1 << 16  # characters that are copied at once


@contextmanager
def whole_output(path: str) -> Iterator[TextIO]:
    """Open a text file to write. At the end it goes to `path` (`-` is standard output); after an exception, nowhere."""
    if path == "-" and sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed; name a file by --output")
    target = os.path.realpath(path)  # what a link points to is replaced, not the link
    replaced = path != "-" and may_be_replaced(target)
    with naming_output(path), replaced_at_the_end(target) if replaced else copied_at_the_end(path) as text:
        yield text


@contextmanager
def naming_output(path: str) -> Iterator[None]:
    """Let faults of writing, such as a full disk, name the output."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.strerror is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, STANDARD_OUTPUT if path == "-" else path) from None


def may_be_replaced(path: str) -> bool:
    """Return whether a file can be moved to `path`; a pipe or a device must be written to."""
    return os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)


@contextmanager
def replaced_at_the_end(path: str) -> Iterator[TextIO]:
    """Open a new file that takes the place of `path` at the end."""
    from fastcrf.system.atomic_write import check_replaceable, new_file

    check_replaceable(path)
    with new_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors=ERRORS)
        yield text
        text.flush()
        text.detach()  # the file is closed by who opened it


@contextmanager
def copied_at_the_end(path: str) -> Iterator[TextIO]:
    """Collect text and copy it to `path` at the end."""
    with WaitingText() as text:
        yield text  # type: ignore[misc]
        if path == "-":
            text.copy_to(print_whole)
            sys.stdout.flush()  # here, where a reader that has gone is understood
        else:
            with open(path, "w", encoding="utf-8", errors=ERRORS) as target:
                text.copy_to(target.write)


def print_whole(text: str) -> None:
    """Print in UTF-8, as the input is. Where output is not buffered (PYTHONUNBUFFERED), a `write` may take only a part:
    on a full disk, or if the reader has gone. Writing the rest then raises the error."""
    rest = text.encode("utf-8", ERRORS)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]


class WaitingText(io.TextIOBase):
    """Text in memory or, when it has become long, in a file without a name."""

    def __init__(self) -> None:
        self.held: IO[str] = io.StringIO()

    def write(self, text: str) -> int:
        if isinstance(self.held, io.StringIO) and self.held.tell() > IN_MEMORY:
            self.move_to_a_file(self.held)
        return self.held.write(text)

    def move_to_a_file(self, state: io.StringIO) -> None:
        from tempfile import TemporaryFile

        self.held = TemporaryFile("w+", encoding="utf-8", errors=ERRORS)  # noqa: SIM115 (closed with this)
        self.held.write(state.getvalue())

    def copy_to(self, write: Callable[[str], Any]) -> None:
        """Hand on all that was written, piece by piece."""
        self.held.seek(0)
        while piece := self.held.read(PIECE):
            write(piece)

    def close(self) -> None:
        self.held.close()
        super().close()
