"""Checkpoints: save a run and resume it bit for bit after the process was killed.

A checkpoint holds the solver state at one Step and the driver's own state (rows, clock, best weights), in one
safetensors file that is replaced atomically. It is written at time intervals, not at every Step, because some solver
states are large. A resumed run repeats the work since the last checkpoint with identical results.

A checkpoint also holds a fingerprint of everything that the continuation depends on. If one part differs, the run
raises `CheckpointError`, which names the part.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.checks import at_least
from fastcrf.core.solver_state import StateMismatch
from fastcrf.core.types import Floats, Step
from fastcrf.exceptions import CheckpointError
from fastcrf.objective.capabilities import RunProblem, SavedProblem
from fastcrf.solvers import registry
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.renamed import renamed_options, renamed_state
from fastcrf.system.atomic_write import replace_file
from fastcrf.training.checkpoint_file import STATES, read_signed, to_bytes
from fastcrf.training.checkpoint_validation import check_first_step, check_restored

logger = logging.getLogger("fastcrf")

REMEDIES = {
    "version": "install that version, or start over without it",
    "corpus": "use the data that it was made with, or start over without it",
    "features": "use the same options for features, or start over without it",
    "penalty": "use the same c1 and c2, or start over without it",
    "prior": "use the same prior, or start over without it",
    "solver": "use the same algorithm with the same options, or start over without it",
    "number of threads": "use the same number of threads, or start over without it",
    "start": "start from the same weights, or start over without it",
    "held-out set": "use the same held-out data, or start over without it",
}


class Saved(NamedTuple):
    """The state of a run after one Step."""

    state: Mapping[str, Any]  # the solver's
    arrays: Mapping[str, np.ndarray]  # the driver's
    numbers: Mapping[str, Any]  # the driver's


class Checkpoint:
    """The file of a run's state: its path, its interval, and whether an existing file is resumed.

    A write error, such as a full disk, does not end the run: the first one logs a warning, and the next due checkpoint
    tries again.

    every: seconds between two checkpoints.
    resume: resume from the file if it exists.
    held_out: a fingerprint of the held-out data, if there is any.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 30.0, resume: bool = False) -> None:
        self.path, self.every, self.resume = Path(path), at_least("checkpoint_every", every, 0.0), resume
        self.held_out: str | None = None
        self.fingerprint: dict[str, Any] = {}
        self.written = 0.0  # a time of time.monotonic
        self.warned = False

    def open(self, problem: SavedProblem, solver: Solver, start: Floats) -> Saved | None:
        """Record what the run depends on, and return the saved state if there is one to resume."""
        solver = registry.with_seed(solver, 0)
        self.fingerprint = {**fingerprint(problem, solver, start), "held-out set": self.held_out}
        self.written = time.monotonic()
        if not self.resume or not self.path.exists():
            return None
        arrays, header, ours = read_signed(self.path)
        for part, value in self.fingerprint.items():
            saved_value = header["fingerprint"].get(part)
            if saved_value != value and not (part == "solver" and describes(saved_value, solver)):
                raise CheckpointError(f"The checkpoint {self.path} was made with a different {part}; {REMEDIES[part]}.")
        split = {side: {name[2:]: a for name, a in arrays.items() if name[0] == side} for side in "md"}
        state = renamed_state(solver.name, {**header["memory"], **split["m"]})
        saved = Saved(state, split["d"], header["driver"])
        with self.as_checkpoint_error():
            check_restored(*saved, problem, solver)
        return saved if ours else self._without_claims(saved)

    def _without_claims(self, saved: Saved) -> Saved:
        """Return the state without its certified bounds, which cannot be verified."""
        logger.warning(
            "The checkpoint %s is not signed by this user on this machine, so its lower bound is discarded: the run "
            "computes the bound again and may stop later.",
            self.path,
        )
        return saved._replace(numbers={**saved.numbers, "certifier": {"believing": False}})  # from now on

    def check(
        self, problem: RunProblem, step: Step, weights: Floats, objective: float | None, lower_bound: float
    ) -> None:
        """Raise unless the first Step of a resumed run is the saved one."""
        with self.as_checkpoint_error():
            check_first_step(problem, step, weights, objective, lower_bound)

    @contextmanager
    def as_checkpoint_error(self) -> Iterator[None]:
        """Convert a `StateMismatch` within into a `CheckpointError` that names this file."""
        try:
            yield
        except StateMismatch as mismatch:
            raise CheckpointError(
                f"The checkpoint {self.path} cannot be resumed: {mismatch.fault}; start over without it."
            ) from None

    def is_due(self) -> bool:
        return time.monotonic() - self.written >= self.every

    def write(self, saved: Saved) -> None:
        """Replace the file by this state."""
        arrays = {f"m:{name}": value for name, value in saved.state.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in saved.state.items() if not isinstance(value, np.ndarray)}
        arrays |= {f"d:{name}": value for name, value in saved.arrays.items()}
        header = {"fingerprint": self.fingerprint, "memory": plain, "driver": saved.numbers}
        try:
            replace_file(self.path, to_bytes(arrays, header))
        except OSError as error:
            if not self.warned:
                logger.warning(
                    "The checkpoint %s cannot be written (%s); training continues and tries again later.",
                    self.path,
                    error.strerror or error,
                )
            self.warned = True
        self.written = time.monotonic()


def fingerprint(problem: SavedProblem, solver: Solver, start: Floats) -> dict[str, Any]:
    """Return everything that the continuation of a run depends on, each part as a short text."""
    prior: Floats | None = getattr(problem, "prior", None)
    options: dict[str, Any] = dataclasses.asdict(solver)  # type: ignore[call-overload]
    return {
        "version": STATES,
        "corpus": digest(problem.corpus),
        "features": digest(problem.features),
        "penalty": [problem.c1, problem.c2],
        "prior": None if prior is None else digest([prior]),
        "solver": json.dumps([solver.name, options], default=repr),
        "number of threads": problem.n_jobs,
        "start": digest([start]),
    }


def describes(text: Any, solver: Solver) -> bool:
    """Return whether the text in a fingerprint describes this solver, with options under their present names."""
    try:
        name, options = json.loads(text)
        return name == solver.name and registry.make(name, **renamed_options(name, options)) == solver
    except (AttributeError, TypeError, ValueError):
        return False


def digest(parts: Any) -> str:
    """Return a hash of arrays and numbers."""
    total = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(part)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.data)
    return total.hexdigest()[:24]
