"""The registry of solvers by name.

To add a solver: write its file, add one line to `REGISTRY`. The command line, the documentation, the contract tests and
the lab find it there. A preset (a published variant that is another solver with other options) needs only the line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcrf.core.types import NOTHING
from fastcrf.exceptions import OptionError

if TYPE_CHECKING:  # names and tiers can be listed without Numba
    from fastcrf.objective.capabilities import Objective
    from fastcrf.solvers.contract import Solver

PENALTIES = ("none", "l1", "l2", "l1+l2")


class Line(NamedTuple):
    """The module of a solver's class, imported on first use, and the options of a preset."""

    module: str
    attribute: str
    options: Mapping[str, Any] = NOTHING


REGISTRY: dict[str, Line] = {
    "auto": Line("fastcrf.solvers.auto.auto", "Auto"),
    "lbfgs": Line("fastcrf.solvers.quasi_newton.lbfgs", "LBFGS"),
    "owlqn": Line("fastcrf.solvers.quasi_newton.owlqn", "OWLQN"),
    "prox-lbfgs": Line("fastcrf.solvers.quasi_newton.prox_lbfgs", "ProxLBFGS"),
    "sgd": Line("fastcrf.solvers.sgd.sgd", "SGD"),
    "l2sgd": Line("fastcrf.solvers.sgd.l2sgd", "L2SGD"),
    "adagrad": Line("fastcrf.solvers.sgd.adagrad", "AdaGrad"),
    "sg": Line("fastcrf.solvers.sgd.sgd", "SGD", {"schedule": "constant", "calibration": "powers"}),
    "asg": Line("fastcrf.solvers.sgd.asg", "ASG"),
    "pegasos": Line("fastcrf.solvers.sgd.pegasos", "Pegasos"),
    "sgd-qn": Line("fastcrf.solvers.sgd.sgd_qn", "SGDQN"),
    "smd": Line("fastcrf.solvers.sgd.smd", "SMD"),
    "sgd-l1": Line("fastcrf.solvers.sgd.l1.sgd_l1", "SGDL1"),
    "sgd-l1-clipping": Line("fastcrf.solvers.sgd.l1.sgd_l1_clipping", "SGDL1Clipping"),
    "sgd-l1-naive": Line("fastcrf.solvers.sgd.l1.sgd_l1_naive", "SGDL1Naive"),
    "sgd-l1-ball": Line("fastcrf.solvers.sgd.l1.sgd_l1_ball", "SGDL1Ball"),
    "sag": Line("fastcrf.solvers.sag.sag", "SAG"),
    "sag-nus": Line("fastcrf.solvers.sag.sag_nus", "SAGNUS"),
    "sag-nus-star": Line("fastcrf.solvers.sag.sag_nus_star", "SAGNUSStar"),
    "sg-nus": Line("fastcrf.solvers.sag.sg_nus", "SGNUS"),
    "saga": Line("fastcrf.solvers.sag.saga", "SAGA"),
    "saga-nus-star": Line("fastcrf.solvers.sag.saga_nus_star", "SAGANUSStar"),
    "saga-nus": Line("fastcrf.solvers.sag.saga_nus", "SAGANUS"),
    "saga-fixed-probabilities": Line("fastcrf.solvers.sag.saga_fixed_probabilities", "SAGAFixedProbabilities"),
    "saga-two-samples": Line("fastcrf.solvers.sag.saga_two_samples", "SAGATwoSamples"),
    "svrg": Line("fastcrf.solvers.sag.svrg.svrg", "SVRG"),
    "emgd": Line("fastcrf.solvers.sag.svrg.emgd", "EMGD"),
    "prox-sag": Line("fastcrf.solvers.sag.prox_sag", "ProxSAG"),
    "prox-saga": Line("fastcrf.solvers.sag.prox_saga", "ProxSAGA"),
    "prox-svrg": Line("fastcrf.solvers.sag.svrg.prox_svrg", "ProxSVRG"),
    "psa": Line("fastcrf.solvers.online.psa", "PSA"),
    "staggered-aitken": Line("fastcrf.solvers.online.staggered_aitken", "StaggeredAitken"),
    "accelerated-gradient": Line("fastcrf.solvers.batch.accelerated_gradient", "AcceleratedGradient"),
    "gis": Line("fastcrf.solvers.iterative_scaling.gis", "GIS"),
    "iis": Line("fastcrf.solvers.iterative_scaling.iis", "IIS"),
    "staggered-aitken-gis": Line("fastcrf.solvers.iterative_scaling.aitken_gis", "AitkenGIS"),
    "aitken-gis": Line("fastcrf.solvers.iterative_scaling.aitken_gis", "AitkenGIS", {"staggered": False}),
    "triple-jump": Line("fastcrf.solvers.iterative_scaling.aitken_gis", "AitkenGIS", {"gamma": 2}),
    "componentwise-triple-jump": Line(
        "fastcrf.solvers.iterative_scaling.aitken_gis", "AitkenGIS", {"gamma": 1, "componentwise": True, "limit": 0.9}
    ),
    "anderson-gis": Line("fastcrf.solvers.iterative_scaling.anderson_gis", "AndersonGIS"),
    "ngd": Line("fastcrf.solvers.sgd.ngd.ngd", "NGD"),
    "ngd-batch": Line("fastcrf.solvers.sgd.ngd.ngd_batch", "NGDBatch"),
    "conjugate-gradient": Line("fastcrf.solvers.batch.conjugate_gradient", "ConjugateGradient"),
    "steepest-descent": Line("fastcrf.solvers.batch.conjugate_gradient", "ConjugateGradient", {"beta": "none"}),
    "rprop": Line("fastcrf.solvers.batch.rprop", "RPROP"),
    "rprop-": Line("fastcrf.solvers.batch.rprop", "RPROP", {"backtrack": False}),
    "bcd": Line("fastcrf.solvers.batch.bcd", "BCD"),
    "perceptron": Line("fastcrf.solvers.margin.perceptron", "Perceptron"),
    "ap": Line("fastcrf.solvers.margin.perceptron", "Perceptron"),  # CRFsuite's name
    "pa": Line("fastcrf.solvers.margin.passive_aggressive", "PassiveAggressive"),
    "mira": Line("fastcrf.solvers.margin.mira", "MIRA"),
    "arow": Line("fastcrf.solvers.margin.arow", "AROW"),
    "hybrid": Line("fastcrf.solvers.quasi_newton.hybrid", "Hybrid"),
    "olbfgs": Line("fastcrf.solvers.quasi_newton.olbfgs", "OLBFGS"),
    "oeg": Line("fastcrf.solvers.dual.oeg", "OEG"),
    "eg": Line("fastcrf.solvers.dual.eg", "EG"),
    "sdca": Line("fastcrf.solvers.dual.sdca", "SDCA"),
    "newton-cg": Line("fastcrf.solvers.newton.newton_cg", "NewtonCG"),
    "newton-l1": Line("fastcrf.solvers.newton.newton_l1", "NewtonL1"),
}


# The core solvers are for training models. All others are published algorithms, for study and comparison.
CORE = ("auto", "lbfgs", "owlqn", "prox-lbfgs", "sag-nus-star", "sgd", "l2sgd", "adagrad", "psa", "ap", "pa", "arow")
TIERS = {"core": "for training models", "laboratory": "published algorithms, for study and comparison"}


def names(tier: str | None = None) -> tuple[str, ...]:
    """Return the names that `make` takes, of one tier or of all.

    Parameters
    ----------
    tier : {"core", "laboratory"}, default=None
        List the solvers of this tier. None: all.

    Returns
    -------
    tuple of str
        The names, in the order of the registry.
    """
    return tuple(name for name in REGISTRY if tier in (None, tier_of(name)))


def tier_of(name: str) -> str:
    return "core" if name in CORE else "laboratory"


def solver_class(name: str) -> Any:
    """Return the class behind a name."""
    if name not in REGISTRY:
        raise ValueError(f"There is no solver {name!r}; {alternatives(name, REGISTRY)}")
    return _loaded(REGISTRY[name])


def class_named(name: str) -> Any:
    """Return the class of a solver by the name of the class, such as LBFGS."""
    return _loaded(next(line for line in REGISTRY.values() if line.attribute == name))


def _loaded(line: Line) -> Any:
    return getattr(import_module(line.module), line.attribute)


def options_of(name: str) -> dict[str, Any]:
    """Return the options of a solver with their defaults."""
    defaults = {field.name: field.default for field in dataclasses.fields(solver_class(name))}
    return defaults | dict(REGISTRY[name].options)


def make(name: str, **options: Any) -> Solver:
    """Make a solver by name.

    Parameters
    ----------
    name : str
        One of `names()`.
    **options
        Options of the solver; others keep their defaults.

    Returns
    -------
    Solver
        The solver object.

    Raises
    ------
    OptionError
        If the solver has no such option, or its value is out of range.
    """
    return _called(name, solver_class(name), REGISTRY[name].options, options)


def changed(solver: Solver, **options: Any) -> Solver:
    """Return the solver with other options, under the same name."""
    before = {field.name: getattr(solver, field.name) for field in dataclasses.fields(solver)}  # type: ignore[arg-type]
    return _called(solver.name, type(solver), before, options)


def with_seed(solver: Solver, seed: int) -> Solver:
    """Return the solver with this seed if it is stochastic and has none of its own."""
    return changed(solver, seed=seed) if getattr(solver, "seed", 0) is None else solver


def as_solver(algorithm: str | Solver) -> Solver:
    """Return the solver of a name, or the solver object itself."""
    from fastcrf.solvers.contract import Solver

    if isinstance(algorithm, str):
        return make(algorithm)
    if isinstance(algorithm, type):
        raise ValueError(f"algorithm is the class {algorithm.__name__}; use an object: {algorithm.__name__}().")
    if not isinstance(algorithm, Solver):
        raise ValueError(f"algorithm must be a name or a solver object, such as LBFGS(pairs=10); got {algorithm!r}.")
    return algorithm


def for_penalty(solver: Solver, c1: float, c2: float) -> Solver:
    """Return the solver that runs for `solver` under this penalty: OWL-QN for L-BFGS where c1 > 0."""
    from fastcrf.solvers.contract import PenaltyDependent

    return solver.for_penalty(c1, c2) if isinstance(solver, PenaltyDependent) else solver


def _called(name: str, cls: Any, options: Mapping[str, Any], given: Mapping[str, Any]) -> Solver:
    """Return a solver of a class; a preset carries its own name, also in the messages of its checks."""
    known = [field.name for field in dataclasses.fields(cls)]
    for option, value in given.items():
        if option not in known:
            raise OptionError(f"{name} has no option {option!r}; {alternatives(option, known)}", name, option, value)
    solver: Solver = object.__new__(cls)
    object.__setattr__(solver, "name", name)
    solver.__init__(**{**options, **given})  # type: ignore[misc]
    return solver


def alternatives(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that is most similar to `word`, or list all of them."""
    near = get_close_matches(word.lower(), list(known), 1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {_listed(known)}."


def default_penalty(solver: Solver) -> tuple[float, float]:
    """Return (c1, c2) if the user gave neither: L2 if the solver handles it, else L1, else none."""
    if "l2" in solver.handles:
        return 0.0, 1.0
    return (1.0, 0.0) if "l1" in solver.handles else (0.0, 0.0)


def check(problem: Objective, solver: Solver) -> None:
    """Raise `ValueError` if `solver` cannot run on `problem`."""
    check_needs(solver, problem.provides)
    check_penalty(solver, problem.c1, problem.c2)


def check_needs(solver: Solver, provides: frozenset[str]) -> None:
    """Raise ValueError if `solver` needs what a problem does not provide; needs no data."""
    missing = solver.needs - provides
    if missing:
        provided = _listed(sorted(provides)) or "nothing"
        needed = _listed(sorted(missing))
        raise ValueError(f"{solver.name} requires a problem that provides {needed}; this one provides {provided}.")


def check_penalty(solver: Solver, c1: float, c2: float) -> None:
    """Raise PenaltyError if `solver` cannot handle the penalty; needs no data."""
    from fastcrf.solvers import penalty_check  # loads Numba

    penalty_check.check_penalty(solver, c1, c2)


def describe(name: str) -> dict[str, Any]:
    """Return the description of a solver for `fastcrf solvers`; only strings, numbers, lists and dicts."""
    cls = solver_class(name)
    return {
        "name": name,
        "tier": tier_of(name),
        "paper": _citation(REGISTRY[name].module),
        "penalties": [penalty for penalty in PENALTIES if penalty in cls.handles],
        "needs": sorted(cls.needs),
        "guarantee": cls.guarantee,
        "options": options_of(name),
    }


def _citation(module: str) -> str:
    """Return the second paragraph of a solver module's docstring, on one line."""
    paragraphs = (import_module(module).__doc__ or "").split("\n\n")
    return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
