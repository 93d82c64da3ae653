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
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fastcrf import __version__
from fastcrf.core.checks import at_least
from fastcrf.core.solver_state import StateMismatch
from fastcrf.core.types import Floats, Step
from fastcrf.exceptions import CheckpointError
from fastcrf.objective.capabilities import RunProblem, SavedProblem
from fastcrf.solvers import registry
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.renamed import renamed_options, renamed_state
from fastcrf.system.atomic_write import replace_file
from fastcrf.training.checkpoint_file import read_sealed, to_bytes
from fastcrf.training.checkpoint_validation import check_first_step, check_restored

logger = logging.getLogger("fastcrf")

REMEDIES = {
    "version": "install that version, or start afresh without it",
    "corpus": "use the data that it was made with, or start afresh without it",
    "features": "use the same options for features, or start afresh without it",
    "penalty": "use the same c1 and c2, or start afresh without it",
    "prior": "use the same prior, or start afresh without it",
    "solver": "use the same algorithm with the same options, or start afresh without it",
    "number of threads": "use the same number of threads, or start afresh without it",
    "start": "start from the same weights, or start afresh without it",
    "held-out set": "use the same held-out data, or start afresh without it",
}


class Saved(NamedTuple):
    """The state of a run after one Step."""

    state: Mapping[str, Any]  # the solver's
    arrays: Mapping[str, np.ndarray]  # the driver's
    numbers: Mapping[str, Any]  # the driver's


class Checkpoint:
    """Where and how often a run is saved, and whether an existing file is continued.

    A file that cannot be written (the disk is full, say) is no reason to lose the run: one warning says so, and it is
    tried again when the next checkpoint is due.

    every: seconds between two checkpoints; resume: go on from the file if it is there; held_out: a fingerprint of the
    data that the run is watched on, if there are any.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 30.0, resume: bool = False) -> None:
        self.path, self.every, self.resume = Path(path), at_least("checkpoint_every", every, 0.0), resume
        self.held_out: str | None = None
        self.fingerprint: dict[str, Any] = {}
        self.written = 0.0  # by the clock of time.monotonic
        self.warned = False

    def open(self, problem: SavedProblem, solver: Solver, start: Floats) -> Saved | None:
        """Remember what the run depends on, and return the saved state if there is one to continue."""
        solver = registry.with_seed(solver, 0)
        self.fingerprint = {**fingerprint(problem, solver, start), "held-out set": self.held_out}
        self.written = time.monotonic()
        if not self.resume or not self.path.exists():
            return None
        arrays, header, ours = read_sealed(self.path)
        for part, value in self.fingerprint.items():
            saved_value = header["fingerprint"].get(part)
            if saved_value != value and not (part == "solver" and describes(saved_value, solver)):
                raise CheckpointError(f"The checkpoint {self.path} was made with a different {part}; {REMEDIES[part]}.")
        split = {side: {name[2:]: a for name, a in arrays.items() if name[0] == side} for side in "md"}
        state = renamed_state(solver.name, {**header["memory"], **split["m"]})
        saved = Saved(state, split["d"], header["driver"])
        with self.refusing():
            check_restored(*saved, problem, solver)
        return saved if ours else self._without_claims(saved)

    def _without_claims(self, saved: Saved) -> Saved:
        """The state without what was proved of the optimum, which nobody can check as it stands."""
        logger.warning(
            "The checkpoint %s was made by someone else or on another machine, so what it claims to have proved is not "
            "believed: the run proves it again, and may stop later than it would have.",
            self.path,
        )
        return saved._replace(numbers={**saved.numbers, "certifier": {"believing": False}})  # kept from now on

    def check(
        self, problem: RunProblem, step: Step, weights: Floats, objective: float | None, lower_bound: float
    ) -> None:
        """Whether the first Step of a continued run is the saved one."""
        with self.refusing():
            check_first_step(problem, step, weights, objective, lower_bound)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Whatever does not fit within is told of this file."""
        try:
            yield
        except StateMismatch as mismatch:
            raise CheckpointError(
                f"The checkpoint {self.path} cannot be continued: {mismatch.fault}; start afresh without it."
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
                    "The checkpoint %s cannot be written (%s); training continues, and the next one may succeed.",
                    self.path,
                    error.strerror or error,
                )
            self.warned = True
        self.written = time.monotonic()


def fingerprint(problem: SavedProblem, solver: Solver, start: Floats) -> dict[str, Any]:
    """What the continuation of a run depends on, each part as a short text."""
    prior: Floats | None = getattr(problem, "prior", None)
    options: dict[str, Any] = dataclasses.asdict(solver)  # type: ignore[call-overload]
    return {
        "version": __version__,
        "corpus": digest(problem.corpus),
        "features": digest(problem.features),
        "penalty": [problem.c1, problem.c2],
        "prior": None if prior is None else digest([prior]),
        "solver": json.dumps([solver.name, options], default=repr),
        "number of threads": problem.n_jobs,
        "start": digest([start]),
    }


def describes(text: Any, solver: Solver) -> bool:
    """Whether the text in a fingerprint stands for this solver, its options under their names of today."""
    try:
        name, options = json.loads(text)
        return name == solver.name and registry.make(name, **renamed_options(name, options)) == solver
    except (AttributeError, TypeError, ValueError):
        return False


def digest(parts: Any) -> str:
    """Hash of arrays and numbers."""
    total = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(part)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.data)
    return total.hexdigest()[:24]
