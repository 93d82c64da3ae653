"""The process that tries inputs. It says which one it is at, so that a crash can be told by its number."""

from __future__ import annotations

import json
import logging
import mmap
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

SLOW = 5.0  # seconds of processor time for one input
MEMORY = 12 << 30  # bytes of address space


def main(target: str, seed: int, first: int, most: int, seconds: float, progress: Path) -> None:
    """Try inputs first, first + 1, ... until time is up; print one JSON line for each finding and one at the end."""
    import resource

    from fuzz.targets import make_input
    from fuzz.verdict import ACCEPTED, REFUSED, verdict

    warnings.simplefilter("ignore")
    logging.getLogger("fastcrf").setLevel(logging.ERROR)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    counts = {ACCEPTED: 0, REFUSED: 0, "findings": 0}
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder, open(progress, "r+b") as file, mmap.mmap(file.fileno(), 8) as place:
        number = first
        while number < first + most and time.monotonic() < end:
            place[:8] = struct.pack("<q", number)
            found, spent = timed(lambda n=number: verdict(make_input(target, seed, n, Path(folder))))
            if spent > SLOW:  # perhaps it waited for the compiler: once more
                found, spent = timed(lambda n=number: verdict(make_input(target, seed, n, Path(folder))))
                found = f"{spent:.1f} s: {found}" if spent > SLOW else found
            if found in counts:
                counts[found] += 1
            else:
                counts["findings"] += 1
                print(json.dumps({"number": number, "finding": found[:500]}), flush=True)
            number += 1
        print(json.dumps({"done": number, **counts}), flush=True)


def timed(work: Callable[[], str]) -> tuple[str, float]:
    """What came out, and the processor time that it took."""
    began = time.process_time()
    try:
        found = work()
    except Exception as error:
        found = f"the input could not be made: {type(error).__name__}: {error}"
    return found, time.process_time() - began


if __name__ == "__main__":
    target, seed, first, most, seconds, progress = sys.argv[1:]
    main(target, int(seed), int(first), int(most), float(seconds), Path(progress))
