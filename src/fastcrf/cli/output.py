"""Text output that appears whole or not at all: an error half-way leaves no half-written file."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

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
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="surrogateescape", prefix=f".{path.name}.", dir=path.parent, delete=False
    ) as file:
        try:
            yield file  # type: ignore[misc]  # a text file, whatever typeshed calls the wrapper
            file.flush()
            os.chmod(file.name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~current_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


@contextmanager
def copied_at_the_end(path: str) -> Iterator[TextIO]:
    """A hidden file that is copied to `path` at the end."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", errors="surrogateescape") as file:
        yield file  # type: ignore[misc]
        file.seek(0)
        if path == "-":
            shutil.copyfileobj(file, sys.stdout)
            sys.stdout.flush()  # here, where a reader that has gone is understood
        else:
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as target:
                shutil.copyfileobj(file, target)


def check_folder(path: Path) -> None:
    """Raise, before the work is done rather than after it, if no file can be made beside `path`."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "This is a folder, not a file", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "No permission to write into the folder", str(path.parent))


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
