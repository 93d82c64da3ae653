"""A run that survives being killed: the driver with a checkpoint of which a damaged or foreign one is thrown away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastcrf.exceptions import CheckpointError
from fastcrf.objective.capabilities import RunProblem
from fastcrf.solvers.contract import Solver
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import Result, minimize

CHECKPOINT_EVERY = 180.0  # seconds: that of L-BFGS on millions of weights is a gigabyte


def minimize_resumably(problem: RunProblem, solver: Solver, path: Path, **arguments: Any) -> Result:
    """Go on from the checkpoint at `path`, or start. Ctrl-C writes the checkpoint before it is KeyboardInterrupt."""
    checkpoint = Checkpoint(path, CHECKPOINT_EVERY, resume=True)
    try:
        result = minimize(problem, solver, checkpoint=checkpoint, **arguments)
    except CheckpointError:
        path.unlink(missing_ok=True)
        result = minimize(problem, solver, checkpoint=checkpoint, **arguments)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result
