"""The file beside a file: where new content is written before it takes the old one's place.

It is called `.NAME.xxxxxxxx.part`, and its writer holds a lock on it. Whoever writes the same name later can so tell
the part of a writer that was killed, which is removed, from one that is still being written, which is left alone.
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
except ImportError:  # Windows, where nobody can remove or replace a file that is open
    fcntl = None  # type: ignore[assignment]

MAY_MOVE_OPEN = fcntl is not None  # whether a file can take its place before it is closed, and its lock given up
ABANDONED = 24 * 3600.0  # seconds; where there are no locks, a part as old as that has no writer any more


def open_part(target: Path) -> tuple[BinaryIO, Path]:
    """A new, locked part of `target`."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        file = open(part, "xb")  # noqa: SIM115 (the caller closes it)
        if lock(file) and part.exists():
            return file, part
        file.close()  # somebody took it for an orphan between the two lines above


def remove_orphans(target: Path) -> None:
    """Remove the parts of `target` whose writers are dead. What cannot be removed stays: it does no harm."""
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
    """Lock a file until it is closed; False if somebody else holds the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: then nobody can hold one
        return True
    return True
