"""The container of an encoded corpus: named arrays and a JSON header in one safetensors file that can be mapped.

As with model files, reading executes nothing and trusts nothing: the layout is checked by safetensors, the content by
a SHA-256. Unlike them, neither writing nor reading ever holds the arrays in memory: they come from spools (files
without a name that grow piece by piece), and go out as views of the mapped file.

Metadata: ``format`` ("fastcrf-corpus"), ``version`` (of the format), ``library`` (version of fastcrf that wrote it),
``header`` (JSON) and ``sha256``, of the header and of the SHA-256 of each array.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import safetensors
from numpy.typing import DTypeLike, NDArray

from fastcrf import __version__
from fastcrf.data.model_file.container import CORPUS_FORMAT as FORMAT
from fastcrf.data.model_file.container import DTYPES, parse_header
from fastcrf.exceptions import ModelFileError
from fastcrf.system.atomic_write import new_file
from fastcrf.system.mapped_arrays import map_file, scratch_file

VERSION = 1  # of the format: raised when an older fastcrf could not read what a newer one writes
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
ALIGNMENT = 8  # bytes; the largest element that a corpus holds
COPIED = 1 << 22  # bytes at a time

PathLike = str | os.PathLike[str]


class CorpusFileError(ValueError):
    """Raise for a corpus file that cannot be used."""


class Spool:
    """An array that grows in a file without a name."""

    def __init__(self, folder: Path, dtype: DTypeLike) -> None:
        self.file, self.dtype, self.length, self.sha256 = scratch_file(folder), np.dtype(dtype), 0, hashlib.sha256()
        self.folder = folder

    def __len__(self) -> int:
        return self.length

    def append(self, array: NDArray[Any]) -> None:
        content = np.ascontiguousarray(array, self.dtype).data.cast("B") if len(array) else b""
        try:
            self.file.write(content)
            self.file.flush()
        except OSError as error:  # the file has no name that would say which disk is full
            raise OSError(error.errno, error.strerror, str(self.folder)) from None
        self.sha256.update(content)
        self.length += len(array)

    def copy_to(self, target: BinaryIO) -> None:
        self.file.seek(0)
        shutil.copyfileobj(self.file, target, COPIED)

    def close(self) -> None:
        self.file.close()


class Entry(NamedTuple):
    """The part of the checksum for an array."""

    dtype: str
    length: int
    sha256: str


def write(path: PathLike, spools: Mapping[str, Spool], header: Mapping[str, Any]) -> None:
    """Write a corpus file; an older file of this name stays whole until the new one is complete."""
    names = sorted(spools, key=lambda name: (-spools[name].dtype.itemsize, name))  # so that every array is aligned
    entries = {
        name: Entry(NAMES[spools[name].dtype], len(spools[name]), spools[name].sha256.hexdigest()) for name in names
    }
    text = json.dumps(header)
    described: dict[str, Any] = {
        "__metadata__": {
            "format": FORMAT,
            "version": str(VERSION),
            "library": __version__,
            "header": text,
            "sha256": checksum(entries, text),
        }
    }
    end = 0
    for name in names:
        begin, end = end, end + len(spools[name]) * spools[name].dtype.itemsize
        described[name] = {"dtype": entries[name].dtype, "shape": [len(spools[name])], "data_offsets": [begin, end]}
    layout = json.dumps(described, separators=(",", ":")).encode()
    layout += b" " * (-len(layout) % ALIGNMENT)
    with new_file(path) as file:
        file.write(len(layout).to_bytes(8, "little") + layout)
        for name in names:
            spools[name].copy_to(file)


def read(path: PathLike) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read the arrays, as views of the mapped file, and the header of an intact corpus file."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:  # looks at the layout, not at the arrays
            metadata = file.metadata() or {}
    except (safetensors.SafetensorError, ValueError) as error:
        raise CorpusFileError(f"this is not an encoded corpus, or it is truncated ({error})") from None
    if metadata.get("format") != FORMAT or "header" not in metadata:
        raise CorpusFileError("this is a safetensors file, but not an encoded corpus of fastcrf")
    if metadata.get("version") != str(VERSION):
        raise CorpusFileError(
            f"this corpus is in format {metadata.get('version')!r} of fastcrf {metadata.get('library')!r}, and this is "
            f"fastcrf {__version__}, which reads format '{VERSION}'; encode the data again"
        )
    arrays = views(map_file(path))
    entries = {name: Entry(NAMES[a.dtype], len(a), hashlib.sha256(a.data).hexdigest()) for name, a in arrays.items()}
    if metadata.get("sha256") != checksum(entries, metadata["header"]):
        raise CorpusFileError("the file is damaged: its content does not match its checksum; encode the data again")
    try:
        return arrays, parse_header(metadata["header"])
    except ModelFileError:
        raise CorpusFileError("the file is damaged: its header cannot be read") from None


def views(content: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return the arrays in the bytes of a file whose layout safetensors has checked."""
    size = int.from_bytes(content[:8].tobytes(), "little")
    layout = json.loads(content[8 : 8 + size].tobytes())
    arrays = {}
    for name, tensor in layout.items():
        if name == "__metadata__":
            continue
        dtype, (begin, end) = DTYPES.get(tensor["dtype"]), tensor["data_offsets"]
        if dtype is None or len(tensor["shape"]) != 1 or (8 + size + begin) % np.dtype(dtype).itemsize:
            fault = f"{tensor['dtype']} of shape {tensor['shape']} at byte {8 + size + begin}"
            raise CorpusFileError(f"array {name!r} is {fault}, which no corpus has")
        arrays[name] = content[8 + size + begin : 8 + size + end].view(dtype)
    return arrays


def checksum(entries: Mapping[str, Entry], header: str) -> str:
    """Compute the SHA-256 of the header and of name, type, length and SHA-256 of each array."""
    digest = hashlib.sha256(header.encode("utf-8", "surrogatepass"))
    for name in sorted(entries):
        digest.update("\0".join(("", name, *map(str, entries[name]))).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
