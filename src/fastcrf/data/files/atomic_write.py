"""Writing a file so that no fault leaves half of one: complete and on disk beside the old one, then moved in place."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to `path`; an older file of this name stays whole until the new one is complete."""
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        write_durably(temporary, content)
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # name the file, not the one beside it
    finally:
        temporary.unlink(missing_ok=True)


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file and wait until it is on disk."""
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
