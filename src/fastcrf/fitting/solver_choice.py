"""Which solver runs: for a name or an object, under an L1 penalty, and which ones to compare."""

from __future__ import annotations

from typing import Any

from fastcrf.penalties.regularizer import make_regularizer
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import as_solver, for_penalty, names, solver_class, with_seed

AUTO = "auto"
USUAL = (AUTO, "lbfgs", "l2sgd", "sgd", "sag-nus-star")  # what one would choose among in practice
USUAL_SPARSE = (AUTO, "owlqn", "prox-saga", "prox-svrg")  # the same where there is an L1 penalty


def quasi_newton(c1: float) -> str:
    """The quasi-Newton method of the literature for the penalty."""
    return "owlqn" if c1 > 0.0 else "lbfgs"


def solver_for(algorithm: Any, c1: float, c2: float, seed: int) -> Solver:
    """Return the solver that runs for a name or a solver object; one without a seed of its own gets this seed."""
    return for_penalty(with_seed(as_solver(algorithm), seed), c1, c2)


def usual_solvers(c1: float, c2: float) -> list[str]:
    """The handful that is worth comparing under this penalty."""
    return able_solvers(c1, c2, USUAL_SPARSE if c1 > 0.0 else USUAL)


def able_solvers(c1: float, c2: float, among: tuple[str, ...] | None = None) -> list[str]:
    """Those that handle the penalty, of all or of some."""
    kind = make_regularizer(c1, c2).kind
    return [name for name in among or names() if kind in solver_class(name).handles]
