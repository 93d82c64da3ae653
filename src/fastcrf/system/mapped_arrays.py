"""Memory-mapped arrays: the operating system pages them in as memory allows.

`empty_beside` creates an array derived from a memory-mapped one as a memory-mapped scratch file in the same folder. The
file has no name and is deleted with the last array that uses it. No function therefore loads an entire corpus into
memory only to convert it.

Kernels are compiled for writable arrays only, so the mapping is writable; writes never reach the file.
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

SMALL = 1 << 20  # bytes; smaller arrays are allocated in memory
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)  # a file may exceed the memory


class MappedFile(mmap.mmap):
    """A memory mapping that records the folder of its file."""

    folder: Path


def map_file(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """Map the bytes of a file; writing to them changes memory, not the file."""
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
    """Return the folder of the file of a memory-mapped array; None for an array in memory."""
    owner: Any = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner.folder if isinstance(owner, MappedFile) else None


def empty_beside(home: NDArray[Any], n: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array of length n: memory-mapped if `home` is and if it is large, else in memory."""
    folder, size = folder_of(home), int(n) * np.dtype(dtype).itemsize
    if folder is None or size < max(SMALL, 1):
        return np.empty(n, dtype)
    with scratch_file(folder) as file:
        take_workspace(file, size)
        mapping = MappedFile(file.fileno(), size)
    mapping.folder = folder
    return np.frombuffer(mapping, dtype)


def scratch_file(folder: Path) -> BinaryIO:
    """Open a file without a name in `folder` or, without write permission there, in the system's temporary folder."""
    try:
        return tempfile.TemporaryFile(dir=folder)  # type: ignore[return-value]
    except OSError:
        return tempfile.TemporaryFile()  # type: ignore[return-value]


def take_workspace(file: BinaryIO, size: int) -> None:
    """Allocate the full size of a file now, so that a full disk raises here instead of crashing when a page is
    written.
    """
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            file.truncate(size)
            return
        words = f"{error.strerror}: scratch space of {size / 1e9:,.1f} GB for a memory-mapped corpus"
        raise OSError(error.errno, words) from None
