"""Which solver runs: what `lbfgs` becomes under an L1 penalty, and which ones to compare."""

from __future__ import annotations

from fastcrf.penalties.regularizer import make_regularizer
from fastcrf.solvers.registry import names, solver_class

AUTO = "auto"
USUAL = (AUTO, "lbfgs", "l2sgd", "sgd", "sag-nus-star")  # what one would choose among in practice
USUAL_SPARSE = (AUTO, "owlqn", "prox-saga", "prox-svrg")  # the same where there is an L1 penalty


def quasi_newton(c1: float) -> str:
    """The quasi-Newton method of the literature for the penalty."""
    return "owlqn" if c1 > 0.0 else "lbfgs"


def resolve_solver(name: str, c1: float) -> str:
    """The solver that runs under a name: under an L1 penalty `lbfgs` is OWL-QN, as in CRFsuite."""
    return quasi_newton(c1) if name == "lbfgs" else name


def usual_solvers(c1: float, c2: float) -> list[str]:
    """The handful that is worth comparing under this penalty."""
    return able_solvers(c1, c2, USUAL_SPARSE if c1 > 0.0 else USUAL)


def able_solvers(c1: float, c2: float, among: tuple[str, ...] | None = None) -> list[str]:
    """Those that handle the penalty, of all or of some."""
    kind = make_regularizer(c1, c2).kind
    return [name for name in among or names() if kind in solver_class(name).handles]
