"""Saving a model where there is space: before training a check, and after a failed write a copy somewhere else."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress

PathLike = str | os.PathLike[str]

WEIGHT_BYTES = 12  # a float64 and the int32 id of its label
MEGABYTE = 1e6


def check_space(path: PathLike, n_weights: int) -> None:
    """Raise OSError if the file system of `path` has less free space than so many weights take."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # the file system does not say
        return
    needed = WEIGHT_BYTES * n_weights
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"The model takes at least {needed / MEGABYTE:,.3g} MB, and {folder} has {free / MEGABYTE:,.3g} MB free. "
            "Free some space, or save the model in another folder.",
        )


def saved_elsewhere(path: PathLike, content: bytes, fault: OSError) -> OSError:
    """Save in the first folder that works what could not be written to `path`, and return the error that says where."""
    for folder in folders():
        with suppress(OSError):
            kept = new_copy(folder, os.path.basename(path), content)
            return OSError(
                fault.errno,
                f"Cannot write {os.fspath(path)}: {fault.strerror}. The model is saved in {kept} instead; move it to "
                "where you want it.",
            )
    return fault


def folders() -> Iterator[str]:
    """Return the folders to try, from the most temporary to the least."""
    with suppress(OSError):
        yield tempfile.gettempdir()
    with suppress(OSError):
        yield os.getcwd()
    yield os.path.expanduser("~")


def new_copy(folder: str, name: str, content: bytes) -> str:
    """Write a new file in a folder and return its path; a file that cannot be completed is removed."""
    handle, path = tempfile.mkstemp(f"-{name}", "fastcrf-", folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        os.unlink(path)
        raise
    return path
