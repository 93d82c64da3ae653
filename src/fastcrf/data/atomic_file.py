"""Writing a file so that no fault leaves half of one: complete and on disk beside the old one, then moved in place."""

from __future__ import annotations

import os
from pathlib import Path

from fastcrf.data.part_files import moved_into_place


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to `path`; an older file of this name stays whole until the new one is complete."""
    target = Path(os.path.realpath(path))  # a link stays a link
    try:
        with moved_into_place(target, durable=True) as file:
            file.write(content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # name the file, not the one beside it
