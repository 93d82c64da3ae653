"""Text output that appears whole or not at all: an error half-way leaves no half-written file."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from fastcrf.data.files.atomic_write import check_replaceable, new_file

ERRORS = "surrogateescape"  # a name of bytes that are no UTF-8 is written as it was read
IN_MEMORY = 1 << 26  # bytes; what is longer waits in a temporary file


@contextmanager
def whole_output(path: str) -> Iterator[TextIO]:
    """A text file to write to. At the end it goes to `path` (`-` is standard output); after an exception, nowhere."""
    if path == "-" and sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed; name a file by --output")
    target = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
    with replaced_at_the_end(target) if path != "-" and may_be_replaced(target) else copied_at_the_end(path) as text:
        yield text


def may_be_replaced(path: Path) -> bool:
    """Whether a file can be moved to `path`; a pipe or a device must be written to."""
    return path.is_file() or path.is_dir() or not path.exists()


@contextmanager
def replaced_at_the_end(path: Path) -> Iterator[TextIO]:
    """A new file that takes the place of `path` at the end."""
    check_replaceable(path)
    with new_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors=ERRORS)
        yield text
        text.flush()
        text.detach()  # the file is closed by who opened it


@contextmanager
def copied_at_the_end(path: str) -> Iterator[TextIO]:
    """A hidden file that is copied to `path` at the end."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", errors=ERRORS) as file:
        yield file  # type: ignore[misc]
        file.seek(0)
        if path == "-":
            shutil.copyfileobj(file, codecs.getwriter("utf-8")(sys.stdout.buffer, ERRORS))  # UTF-8, as the input
            sys.stdout.flush()  # here, where a reader that has gone is understood
        else:
            with open(path, "w", encoding="utf-8", errors=ERRORS) as target:
                shutil.copyfileobj(file, target)
