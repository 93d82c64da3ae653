"""Check memory needs before allocation, so that a small file cannot exhaust the memory of a machine.

Querying the system takes some microseconds, so small requests are granted without a query.
"""

from __future__ import annotations

import math
import os

SMALL = 1 << 28  # bytes that are granted without a query
SHARE = 0.5  # of the free memory that one request may take

MEMINFO = "/proc/meminfo"
CGROUP_LIMIT, CGROUP_USED = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"


class TooLarge(ValueError):
    """Raised when work would need more memory than is available."""


def require_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Raise `TooLarge` if `what` would take more than its share of the free memory."""
    if n_bytes <= SMALL:
        return
    free = free_memory()
    if free is not None and n_bytes > SHARE * free:
        raise TooLarge(f"{what} would take {in_words(n_bytes)} of memory, and {in_words(free)} are free; {remedy}.")


def free_memory() -> int | None:
    """Return the free memory in bytes, within the limits of a container; None where the system does not report it."""
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
    """Return the memory of this machine in bytes; infinite where the system does not report it."""
    known = hasattr(os, "sysconf") and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(os.sysconf_names)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if known else math.inf
