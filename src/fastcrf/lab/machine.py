"""What a measurement depends on besides the data: the code, the machine, and how busy it was."""

from __future__ import annotations

import datetime
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastcrf import __version__
from fastcrf.jit.source_closure import closure_hash
from fastcrf.objective.problem import Problem

STATUS = Path("/proc/self/status")
PEAK_RESET = Path("/proc/self/clear_refs")
MEGABYTE = 1e6


def code_version(solver: Any) -> str:
    """The version, and a hash of the sources that decide where a run of the solver goes, and how fast: its own and the
    problem's, and all that these import. Rows of edited code are never mixed up, and another solver voids none.
    """
    return f"{__version__}+{closure_hash([_file_of(type(solver)), _file_of(Problem)])[:12]}"


def _file_of(cls: type) -> str:
    return sys.modules[cls.__module__].__file__ or ""


def machine_facts() -> dict[str, Any]:
    """The machine as a reader of the rows must know it; nothing that tells whose it is."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "load": load(),
        "date": datetime.date.today().isoformat(),
    }


def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load() -> float | None:
    """How many processes wanted a core in the last minute: much above 0 before a run, and its seconds are doubtful."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


@contextmanager
def measured() -> Iterator[dict[str, float | None]]:
    """Within, memory and time are watched. Afterwards there are two figures of it:

    peak_mb: by how much resident memory rose at most, or None where the system does not tell;
    cpu_share: seconds of all cores together that the process got, per second: below 1, it waited for a core.
    """
    found: dict[str, float | None] = {}
    with suppress(OSError):
        PEAK_RESET.write_text("5")
    before, wall, cpu = resident("VmRSS"), time.perf_counter(), time.process_time()
    try:
        yield found
    finally:
        peak = resident("VmHWM")
        known = before is not None and peak is not None
        found["peak_mb"] = round(max(0.0, peak - before), 1) if known else None  # type: ignore[operator]
        found["cpu_share"] = round((time.process_time() - cpu) / (time.perf_counter() - wall), 3)


def resident(field: str) -> float | None:
    """A figure of Linux about this process, in MB; None on other systems."""
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024 / MEGABYTE
    return None
