"""Temporary part files: new content is written next to a file before it replaces the file.

A part file is called `.NAME.xxxxxxxx.part`, and its writer holds a lock on it. A later writer of the same name removes
part files without a lock, because their writers were killed. It leaves locked part files alone.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where an open file can be neither removed nor replaced
    fcntl = None  # type: ignore[assignment]

MAY_MOVE_OPEN = fcntl is not None  # whether a file can be moved before it is closed and its lock released
ABANDONED = 24 * 3600.0  # seconds; without locks, a part file of this age counts as abandoned


def open_part(target: Path) -> tuple[BinaryIO, Path]:
    """Open a new, locked part file of `target`."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        file = open(part, "xb")  # noqa: SIM115 (the caller closes it)
        if lock(file) and part.exists():
            return file, part
        file.close()  # another process removed it as an orphan between the two lines above


def remove_orphans(target: Path) -> None:
    """Remove the part files of `target` whose writers are dead. One that cannot be removed stays and does no harm."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part")
    with suppress(OSError):
        for each in os.listdir(target.parent):
            if name.fullmatch(each):
                remove_orphan(target.parent / each)


def remove_orphan(part: Path) -> None:
    with suppress(OSError):
        if fcntl is None:
            if time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink()
            return
        with open(part, "rb") as file:
            if lock(file):
                part.unlink()


def lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; return False if another process holds the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: no process can hold one
        return True
    return True
