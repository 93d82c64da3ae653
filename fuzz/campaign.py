"""Runs workers one after another, restarts those that crash, and counts."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass
class Tally:
    """What became of the inputs of one target."""

    target: str
    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)

    def line(self) -> str:
        counts = f"{self.inputs:>10,} {self.accepted:>10,} {self.refused:>10,} {len(self.findings):>9,}"
        return f"{self.target:22}{counts} {self.seconds:>8.0f}"


HEAD = f"{'target':22}{'inputs':>10} {'accepted':>10} {'refused':>10} {'findings':>9} {'seconds':>8}"


def attack(target: str, seed: int, first: int, most: int, seconds: float, bounds_checks: bool) -> Tally:
    """Try inputs from `first` on, at most so many and so long."""
    tally, number, end = Tally(target), first, time.monotonic() + seconds
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "number"
        while number < first + most and time.monotonic() < end:
            progress.write_bytes(struct.pack("<q", number))
            left = first + most - number, max(1.0, end - time.monotonic())
            done = run_worker([target, seed, number, *left, progress], bounds_checks, left[1])
            number = take(done, tally, number, progress)
    tally.seconds = time.monotonic() - began
    return tally


def run_worker(arguments: list[object], bounds_checks: bool, seconds: float) -> tuple[int, str, str]:
    """Exit code, output and errors of a worker; one that hangs is ended."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    if bounds_checks:  # machine code with checks has a cache of its own: Numba does not tell the two apart
        environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(tempfile.gettempdir()) / "fastcrf-fuzz")}
    command = [sys.executable, "-m", "fuzz.worker", *map(str, arguments)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds + 300, check=False
        )
    except subprocess.TimeoutExpired as hung:
        return 124, (hung.stdout or b"").decode(), "it hung"
    return done.returncode, done.stdout, done.stderr


def take(done: tuple[int, str, str], tally: Tally, first: int, progress: Path) -> int:
    """Add what a worker found; returns the number of the next input. Writes: tally."""
    code, output, errors = done
    for line in lines_of(output):
        if "done" in line:
            tally.accepted, tally.refused = tally.accepted + line["accepted"], tally.refused + line["refused"]
            tally.inputs += line["done"] - first
            return line["done"]
        tally.findings.append(f"{tally.target} {line['number']}: {line['finding']}")
    (at,) = struct.unpack("<q", progress.read_bytes())
    tally.findings.append(f"{tally.target} {at}: the process ended with {code}: {errors.strip()[-300:]}")
    tally.inputs += at + 1 - first  # what became of those before is lost with the process
    return at + 1


def lines_of(output: str) -> Iterator[dict]:
    for line in output.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
