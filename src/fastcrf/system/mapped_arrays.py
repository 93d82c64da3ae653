"""Arrays that lie in files and are mapped into memory: the system keeps of them what it has room for.

What is made of a mapped array, and is as large, is mapped, too: `empty_beside` makes it in a scratch file in the same
folder, which has no name and is gone when the last array over it is. So no corpus is ever in memory as a whole only
because one function needs it in another form.

A mapped file is writable memory, because kernels are compiled for writable arrays alone; what is written there never
reaches the file.
"""

from __future__ import annotations

import errno
import mmap
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

SMALL = 1 << 20  # bytes; smaller arrays are made in memory
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)  # a file may exceed the memory


class MappedFile(mmap.mmap):
    """A mapping that knows in which folder its file lies."""

    folder: Path


def map_file(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """The bytes of a file; writing to them changes memory, not the file."""
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return np.empty(0, np.uint8)
        if NO_RESERVE:
            flags, protection = mmap.MAP_PRIVATE | NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE
            mapping = MappedFile(file.fileno(), 0, flags=flags, prot=protection)
        else:
            mapping = MappedFile(file.fileno(), 0, access=mmap.ACCESS_COPY)
    mapping.folder = Path(os.path.realpath(path)).parent
    return np.frombuffer(mapping, np.uint8)


def folder_of(array: NDArray[Any]) -> Path | None:
    """Where the file of a mapped array lies; None for an array in memory."""
    owner: Any = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner.folder if isinstance(owner, MappedFile) else None


def empty_beside(home: NDArray[Any], n: int, dtype: DTypeLike) -> NDArray[Any]:
    """A new array of length n: in memory, or mapped if `home` is and if it is not small."""
    folder, size = folder_of(home), int(n) * np.dtype(dtype).itemsize
    if folder is None or size < max(SMALL, 1):
        return np.empty(n, dtype)
    with scratch_file(folder) as file:
        take_room(file, size)
        mapping = MappedFile(file.fileno(), size)
    mapping.folder = folder
    return np.frombuffer(mapping, dtype)


def scratch_file(folder: Path) -> BinaryIO:
    """A file without a name in a folder or, where one may not write there, in the system's folder for such files."""
    try:
        return tempfile.TemporaryFile(dir=folder)  # type: ignore[return-value]
    except OSError:
        return tempfile.TemporaryFile()  # type: ignore[return-value]


def take_room(file: BinaryIO, size: int) -> None:
    """Let a file have its size now: a disk that is full is an error here, and not a crash when a page is written."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            file.truncate(size)
            return
        words = f"{error.strerror}: scratch space of {size / 1e9:,.1f} GB for a mapped corpus"
        raise OSError(error.errno, words) from None
