"""Text output that appears whole or not at all: an error half-way leaves no half-written file."""

from __future__ import annotations

import codecs
import errno
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

ERRORS = "surrogateescape"  # a name of bytes that are no UTF-8 is written as it was read
IN_MEMORY = 1 << 26  # bytes; what is longer waits in a temporary file


@contextmanager
def whole_output(path: str) -> Iterator[TextIO]:
    """A text file to write to. At the end it goes to `path` (`-` is standard output); after an exception, nowhere."""
    target = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
    with file_beside(target) if path != "-" and may_be_replaced(target) else copied_at_the_end(path) as text:
        yield text


def may_be_replaced(path: Path) -> bool:
    """Whether a file can be moved to `path`; a pipe or a device must be written to."""
    return path.is_file() or path.is_dir() or not path.exists()


@contextmanager
def file_beside(path: Path) -> Iterator[TextIO]:
    """A new file in the folder of `path`, which takes the place of `path` at the end."""
    check_folder(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "x", encoding="utf-8", errors=ERRORS) as file:
            yield file
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


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


def check_folder(path: Path) -> None:
    """Raise, before the work is done rather than after it, if no file can be made beside `path`."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "This is a folder, pipe or device and cannot be replaced by a file", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "No permission to write into the folder", str(path.parent))
