"""Checkpoints: a run that was killed goes on as if nothing had happened.

A checkpoint holds the solver's memory at one Step and what the driver knew there (rows, clock, best weights), in one
safetensors file that is replaced atomically. It is written by time, not at every Step, because the memory of some
solvers is large; whatever was done since the last one is done again, and comes out the same bit for bit.

It also holds a fingerprint of everything that the continuation depends on. If one part differs, the run does not go on
from the wrong state: one sentence says which part.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from fastcrf import __version__
from fastcrf.data.files.atomic_write import replace_file
from fastcrf.solvers.contract import Solver
from fastcrf.types import Floats

FORMAT = "fastcrf-checkpoint-1"

REMEDIES = {
    "version": "install that version, or start afresh without it",
    "corpus": "use the data that it was made with, or start afresh without it",
    "features": "use the same options for features, or start afresh without it",
    "penalty": "use the same c1 and c2, or start afresh without it",
    "solver": "use the same algorithm with the same options, or start afresh without it",
    "number of threads": "use the same number of threads, or start afresh without it",
    "start": "start from the same weights, or start afresh without it",
    "held-out set": "use the same held-out data, or start afresh without it",
}


class CheckpointError(ValueError):
    """A checkpoint that cannot be continued; the message is one sentence."""


class Saved(NamedTuple):
    """The state of a run after one Step."""

    memory: Mapping[str, Any]  # the solver's
    arrays: Mapping[str, np.ndarray]  # the driver's
    numbers: Mapping[str, Any]  # the driver's


class Checkpoint:
    """Where and how often a run is saved, and whether an existing file is continued.

    every: seconds between two checkpoints; resume: go on from the file if it is there; held_out: a fingerprint of the
    data that the run is watched on, if there are any.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 30.0, resume: bool = False) -> None:
        self.path, self.every, self.resume = Path(path), every, resume
        self.held_out: str | None = None
        self.fingerprint: dict[str, Any] = {}
        self.written = 0.0  # by the clock of time.monotonic

    def open(self, problem: Any, solver: Solver, start: Floats) -> Saved | None:
        """Remember what the run depends on, and return the saved state if there is one to continue."""
        self.fingerprint = {**fingerprint(problem, solver, start), "held-out set": self.held_out}
        self.written = time.monotonic()
        if not self.resume or not self.path.exists():
            return None
        arrays, header = self._read()
        for part, value in self.fingerprint.items():
            if header["fingerprint"].get(part) != value:
                raise CheckpointError(f"The checkpoint {self.path} was made with a different {part}; {REMEDIES[part]}.")
        split = {side: {name[2:]: a for name, a in arrays.items() if name[0] == side} for side in "md"}
        return Saved({**header["memory"], **split["m"]}, split["d"], header["driver"])

    def is_due(self) -> bool:
        return time.monotonic() - self.written >= self.every

    def write(self, saved: Saved) -> None:
        """Replace the file by this state."""
        arrays = {f"m:{name}": value for name, value in saved.memory.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in saved.memory.items() if not isinstance(value, np.ndarray)}
        arrays |= {f"d:{name}": value for name, value in saved.arrays.items()}
        header = {"fingerprint": self.fingerprint, "memory": plain, "driver": saved.numbers}
        metadata = {"format": FORMAT, "header": json.dumps(header, default=as_plain)}
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        replace_file(self.path, safetensors.numpy.save(contiguous, metadata))
        self.written = time.monotonic()

    def _read(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        try:
            with safetensors.safe_open(self.path, framework="numpy") as file:
                metadata = file.metadata() or {}
                if metadata.get("format") != FORMAT:
                    raise CheckpointError(
                        f"{self.path} is not a checkpoint of this version of fastcrf; start afresh without it."
                    )
                return {name: file.get_tensor(name) for name in file.keys()}, json.loads(metadata["header"])  # noqa: SIM118
        except (safetensors.SafetensorError, OSError, ValueError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(
                f"The checkpoint {self.path} cannot be read ({error}); start afresh without it."
            ) from None


def fingerprint(problem: Any, solver: Solver, start: Floats) -> dict[str, Any]:
    """What the continuation of a run depends on, each part as a short text."""
    options: dict[str, Any] = dataclasses.asdict(solver)  # type: ignore[call-overload]
    return {
        "version": __version__,
        "corpus": digest(problem.corpus),
        "features": digest(problem.features),
        "penalty": [problem.c1, problem.c2],
        "solver": json.dumps([solver.name, options], default=repr),
        "number of threads": problem.n_jobs,
        "start": digest([start]),
    }


def digest(parts: Any) -> str:
    """Hash of arrays and numbers."""
    total = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(part)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.data)
    return total.hexdigest()[:24]


def as_plain(value: Any) -> Any:
    """A NumPy number as a Python number, for JSON."""
    return value.item() if isinstance(value, np.generic) else repr(value)
