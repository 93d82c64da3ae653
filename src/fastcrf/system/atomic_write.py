"""Write files atomically: complete a temporary file on disk in the same folder, then move it into place."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fastcrf.system.part_files import MAY_MOVE_OPEN, open_part, remove_orphans

PathLike = str | os.PathLike[str]


def replace_file(path: PathLike, content: bytes) -> None:
    """Write `content` to `path`; an existing file stays intact until the new one is complete."""
    with naming(path), new_file(path) as file:
        file.write(content)


@contextmanager
def new_file(path: PathLike) -> Iterator[BinaryIO]:
    """Yield a temporary file in the folder of `path` that replaces `path` at the end, or is removed after an
    exception.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays a link
    with naming(path):
        remove_orphans(target)
        file, part = open_part(target)
    try:
        with file:
            yield file
            with naming(path):
                file.flush()
                os.fsync(file.fileno())
                if target.exists():
                    shutil.copymode(target, part)
                if MAY_MOVE_OPEN:
                    os.replace(part, target)  # while it is locked
        if not MAY_MOVE_OPEN:
            with naming(path):
                os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Make errors name the requested file, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def check_replaceable(path: PathLike) -> None:
    """Raise before the work begins if no file can be created in the folder of `path`."""
    target = Path(path).absolute()
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "This is a folder, pipe or device and cannot be replaced by a file", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "No permission to write into the folder", str(target.parent))
