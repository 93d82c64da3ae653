"""Check whether a solver handles a penalty, and name the change to make if it does not."""

from __future__ import annotations

from fastcrf.exceptions import PenaltyError
from fastcrf.penalties.regularizer import Regularizer
from fastcrf.solvers.contract import Solver

KINDS = {(False, False): "none", (True, False): "l1", (False, True): "l2", (True, True): "l1+l2"}


def check_penalty(solver: Solver, c1: float, c2: float) -> None:
    """Raise `PenaltyError` if the solver cannot handle the penalty. Needs no data, so that it runs before data
    is read.
    """
    if Regularizer(c1, c2).kind in solver.handles:
        return
    wanted = nearest(solver.handles, (c1 > 0.0, c2 > 0.0))
    given = ("L1", "c1", c1, wanted[0]), ("L2", "c2", c2, wanted[1])
    changes = [line for line in given if (line[2] > 0.0) != line[3]]
    given_both = " and ".join(f"{name}={value:g}" for _, name, value, _ in changes)
    faults = [fault(solver.handles, *line) for line in changes]
    if solver.handles == {"none"}:
        faults = [f"has no penalty, but {given_both}"]
    remedies = [f"{name} > 0" if needed else f"{name}=0" for _, name, _, needed in changes]
    other = ", or use lbfgs" if wanted[0] and c1 == 0.0 else ""
    raise PenaltyError(
        f"{solver.name} {' and '.join(faults)}: set {' and '.join(remedies)}{other}.", solver.name, c1, c2
    )


def nearest(handles: frozenset[str], given: tuple[bool, bool]) -> tuple[bool, bool]:
    """Return the penalties to use: as few changes as possible, and rather one penalty less than one more."""
    able = [pair for pair, kind in KINDS.items() if kind in handles]
    return min(able, key=lambda pair: (sum(a != b for a, b in zip(pair, given, strict=True)), sum(pair)))


def fault(handles: frozenset[str], kind: str, name: str, value: float, needed: bool) -> str:
    """Describe the fault of one penalty."""
    if needed:
        return f"requires an {kind} penalty, but {name}=0"
    if any(kind.lower() in each for each in handles):
        return f"cannot combine L1 and L2 penalties, but {name}={value:g}"
    return f"has no {kind} penalty, but {name}={value:g}"
