"""Memory is estimated before it is asked for: a small file must not be able to fill a machine.

Asking the system costs some microseconds, so requests that any machine can meet are not looked at.
"""

from __future__ import annotations

import math
import os

SMALL = 1 << 28  # bytes that are granted without a look
SHARE = 0.5  # of the free memory that one request may take

MEMINFO = "/proc/meminfo"
CGROUP_LIMIT, CGROUP_USED = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"


class TooLarge(ValueError):
    """Work that would need more memory than there is; the message is one sentence."""


def require_room(n_bytes: int, what: str, remedy: str) -> None:
    """Raise if `what` would take more than its share of the free memory."""
    if n_bytes <= SMALL:
        return
    free = free_memory()
    if free is not None and n_bytes > SHARE * free:
        raise TooLarge(f"{what} would take {in_words(n_bytes)} of memory, and {in_words(free)} are free; {remedy}.")


def free_memory() -> int | None:
    """Bytes that are free here, within the limits of a container; None where nobody can tell."""
    found = [size for size in (free_in_machine(), free_in_container()) if size is not None]
    return min(found, default=None)


def free_in_machine() -> int | None:
    try:
        for line in text_of(MEMINFO).splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def free_in_container() -> int | None:
    try:
        return int(text_of(CGROUP_LIMIT)) - int(text_of(CGROUP_USED))
    except (OSError, ValueError):  # no container, or "max"
        return None


def text_of(path: str | os.PathLike[str]) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def in_words(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB"


def physical_memory() -> float:
    """Bytes of this machine; infinite where the system does not tell."""
    known = hasattr(os, "sysconf") and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(os.sysconf_names)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if known else math.inf
