"""Command-line trainers: where they are, how they are called, and what they print after each iteration."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

Point = tuple[int, float, float]  # iteration, objective as printed, seconds since training began
FOREVER = 100_000  # iterations


@dataclass(frozen=True)
class Program:
    """A trainer. `variable` names the environment variable with its path; `began` matches the line before training."""

    name: str
    binary: str
    variable: str
    began: re.Pattern[str]
    iteration: re.Pattern[str]
    arguments: str  # with {iterations}, {half_c} and so on; paths are in the folder of the data
    model: str

    def path(self) -> str | None:
        """Return the program, or None if it is not here."""
        return shutil.which(os.environ.get(self.variable, self.binary))

    def missing(self) -> str:
        return f"{self.binary} is not in PATH, and {self.variable} does not name it"

    def train(self, folder: Path, c2: float, iterations: int | None = None, seconds: float = 1e9) -> list[Point]:
        """Train on `folder/train.txt` on one thread, write `folder/self.model`, and return what was printed."""
        program = self.path()
        if program is None:
            raise FileNotFoundError(f"{self.missing()}.")
        scales = {"cost": repr(0.5 / c2), "rho2": repr(2.0 * c2), "iterations": iterations or FOREVER}
        command = [program, *self.arguments.format(**scales).split()]
        points: list[Point] = []
        began = time.perf_counter()
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "cwd": folder, "text": True}
        with subprocess.Popen(command, **pipe) as process:  # type: ignore[call-overload]
            for line in process.stdout:
                if self.began.search(line):
                    began = time.perf_counter()
                found = self.iteration.search(line)
                if found:
                    points.append((int(found[1]), float(found[2]), time.perf_counter() - began))
                    if points[-1][2] > seconds:
                        process.terminate()
                        return points
        if process.returncode:
            raise RuntimeError(f"{self.name} ended with code {process.returncode}.")
        return points


CRFPP = Program(
    "CRF++", "crf_learn", "CRFPP",
    re.compile(r"^shrinking size"), re.compile(r"^iter=(\d+) .*obj=([\d.]+)"),
    "-t -p 1 -f 1 -c {cost} -e 1e-12 -m {iterations} template train.txt crfpp.model", "crfpp.model.txt",
)  # fmt: skip
WAPITI = Program(
    "Wapiti", "wapiti", "WAPITI",
    re.compile(r"Train the model"), re.compile(r"^\s*\[\s*(\d+)\]\s+obj=([\d.]+)"),
    "train -a l-bfgs -t 1 -1 0 -2 {rho2} -o 5 -w 0 -e 1e-12 -i {iterations} -d tiny.txt -p template train.txt "
    "wapiti.model", "wapiti.model",
)  # fmt: skip
