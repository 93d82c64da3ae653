"""Which solver runs: for a name or an object, under an L1 penalty, and which ones to compare."""

from __future__ import annotations

from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

from fastcrf.penalties.regularizer import make_regularizer
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import changed, make, names, solver_class

AUTO = "auto"
USUAL = (AUTO, "lbfgs", "l2sgd", "sgd", "sag-nus-star")  # what one would choose among in practice
USUAL_SPARSE = (AUTO, "owlqn", "prox-saga", "prox-svrg")  # the same where there is an L1 penalty


def quasi_newton(c1: float) -> str:
    """The quasi-Newton method of the literature for the penalty."""
    return "owlqn" if c1 > 0.0 else "lbfgs"


def solver_for(algorithm: Any, c1: float, c2: float, seed: int) -> Solver:
    """Return the solver that runs for a name or a Solver object, a name with its default options and this seed."""
    if isinstance(algorithm, str):
        return for_penalty(seeded(named(algorithm), seed), c1)
    if isinstance(algorithm, type):
        raise ValueError(f"algorithm is the class {algorithm.__name__}; use an object: {algorithm.__name__}().")
    if not isinstance(algorithm, Solver):
        raise ValueError(f"algorithm must be a name or a Solver object, such as LBFGS(pairs=10); got {algorithm!r}.")
    return for_penalty(algorithm, c1)


def named(name: str) -> Solver:
    """Return a solver by its exact name, with its default options."""
    if name in names():
        return make(name)
    close = get_close_matches(name.lower(), names(), n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(f"There is no algorithm {name!r}; {guess}`fastcrf solvers` lists all {len(names())}.")


def seeded(solver: Solver, seed: int) -> Solver:
    """Return the solver with this seed, if it has one."""
    return changed(solver, seed=seed) if hasattr(solver, "seed") else solver


def for_penalty(solver: Solver, c1: float) -> Solver:
    """Return the solver that runs: under an L1 penalty `lbfgs` is OWL-QN, as in CRFsuite."""
    return make("owlqn", **asdict(solver)) if solver.name == "lbfgs" and c1 > 0.0 else solver  # type: ignore[call-overload]


def usual_solvers(c1: float, c2: float) -> list[str]:
    """The handful that is worth comparing under this penalty."""
    return able_solvers(c1, c2, USUAL_SPARSE if c1 > 0.0 else USUAL)


def able_solvers(c1: float, c2: float, among: tuple[str, ...] | None = None) -> list[str]:
    """Those that handle the penalty, of all or of some."""
    kind = make_regularizer(c1, c2).kind
    return [name for name in among or names() if kind in solver_class(name).handles]
