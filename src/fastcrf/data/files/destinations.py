"""Checks of where a file is written, before any work is done, so that neither work nor a file is lost.

An existing file is replaced without --force only if fastcrf wrote it (a model, a checkpoint) or if it is empty. A
command never writes a file that it reads.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

PathLike = str | os.PathLike[str]

MODEL, CRFSUITE_MODEL, CHECKPOINT, EMPTY = "a fastcrf model", "a CRFsuite model", "a checkpoint", "an empty file"
CORPUS = "an encoded corpus"
MODELS = (MODEL, CRFSUITE_MODEL)
MARKS = {
    b'"format":"fastcrf-model"': MODEL,
    b'"format":"fastcrf-checkpoint': CHECKPOINT,
    b'"format":"fastcrf-corpus"': CORPUS,
}
CRFSUITE_MAGIC = b"lCRF"
LONGEST_HEADER = 100_000_000  # bytes; safetensors allows no more


class DestinationError(ValueError):
    """Raise for a destination that must not be written."""


def check_apart(reads: Mapping[str, PathLike | None], writes: Mapping[str, PathLike | None]) -> None:
    """Raise if a file that is written (what it is: its path) is also read, or written as something else."""
    known = {what: path for what, path in reads.items() if path is not None and os.fspath(path) != "-"}
    for what, path in writes.items():
        if path is None or os.fspath(path) == "-":
            continue
        for other, taken in known.items():
            if is_same(path, taken):
                raise DestinationError(
                    f"{os.fspath(path)} is {other} and cannot be {what} as well; choose another path."
                )
        known[what] = path


def is_same(one: PathLike, other: PathLike) -> bool:
    """Return whether two paths, which need not exist, are the same file."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def check_ours(path: PathLike, kinds: Collection[str], remedy: str = "or add --force to replace it") -> None:
    """Raise if there is a file at `path` that is neither empty nor one of these kinds."""
    found = kind_of(path)
    if found not in (None, EMPTY, *kinds):
        raise DestinationError(f"{os.fspath(path)} exists and is {found}; choose another path, {remedy}.")


def kind_of(path: PathLike) -> str | None:
    """Return the kind of a file, or None if there is none."""
    try:
        with open(path, "rb") as file:
            start = file.read(8)
            size = int.from_bytes(start, "little")
            header = file.read(size) if size <= LONGEST_HEADER else b""
    except FileNotFoundError:
        return None
    if not start:
        return EMPTY
    if start.startswith(CRFSUITE_MAGIC):
        return CRFSUITE_MODEL
    return next((kind for mark, kind in MARKS.items() if mark in header), "not a file of fastcrf")
