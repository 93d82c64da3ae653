"""Convert CRFsuite's parameters to a plan of training: a solver, a penalty, stopping rules and a choice of features."""

from __future__ import annotations

from typing import Any, NamedTuple

from fastcrf.compat.pycrfsuite._meanings import Criterion, Feature, Option, Penalty
from fastcrf.compat.pycrfsuite._parameters import Parameters
from fastcrf.compat.pycrfsuite._stopping import GradientRatio, Improvement, MeanLoss
from fastcrf.core.checks import at_least, one_of, whole
from fastcrf.solvers import registry
from fastcrf.solvers.contract import Solver
from fastcrf.stopping import MaxIterations, Rule

SOLVERS = {
    "lbfgs": "lbfgs",
    "l2sgd": "l2sgd",
    "averaged-perceptron": "ap",
    "passive-aggressive": "pa",
    "arow": "arow",
}
SEED = 0  # of random orders
LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")


class Plan(NamedTuple):
    """A solver, a penalty, stopping rules and a choice of features."""

    solver: Solver
    c1: float
    c2: float
    rules: tuple[Rule, ...]


def planned(parameters: Parameters) -> Plan:
    """Plan a run for an algorithm and its parameters. Raise ValueError before anything runs if they do not fit."""
    penalty = parameters.meaning(Penalty)
    c1, c2 = (at_least(name, penalty.get(name, 0.0), 0.0) for name in ("c1", "c2"))
    solver = _solver(parameters, c1)
    registry.check_penalty(solver, c1, c2)
    return Plan(solver, c1, c2, _rules(parameters))


def feature_options(parameters: Parameters) -> dict[str, Any]:
    """Return arguments of `build_feature_map`. As in CRFsuite, pairs whose values sum to less than 0 are left out."""
    chosen = parameters.meaning(Feature)
    return {
        "min_freq": chosen["min_freq"],
        "all_states": chosen["all_possible_states"],
        "all_transitions": chosen["all_possible_transitions"],
        "drop_negative": True,
    }


def _solver(parameters: Parameters, c1: float) -> Solver:
    """Return the solver with its options. CRFsuite's lbfgs is OWL-QN under an L1 penalty."""
    name = "owlqn" if c1 > 0.0 else SOLVERS[parameters.algorithm]
    options = parameters.meaning(Option)
    if "linesearch" in parameters.known:
        one_of("linesearch", parameters.get("linesearch"), LINE_SEARCHES)
    if "calibration_samples" in options:
        options["calibration_samples"] = int(options["calibration_samples"])  # CRFsuite reads a number with a fraction
    if "seed" in registry.options_of(name):
        options["seed"] = SEED
    return registry.make(name, **options)


def _rules(parameters: Parameters) -> tuple[Rule, ...]:
    criteria = parameters.meaning(Criterion)
    rules: list[Rule] = [MaxIterations(whole("max_iterations", criteria["max_iterations"], 1))]
    if "period" in criteria:
        rules.append(Improvement(whole("period", criteria["period"], 0), at_least("delta", criteria["delta"], 0.0)))
    if "ratio" in criteria:
        rules.append(GradientRatio(at_least("epsilon", criteria["ratio"], 0.0)))
    if "mean_loss" in criteria:
        epsilon = at_least("epsilon", criteria["mean_loss"], 0.0)
        rules.append(MeanLoss(epsilon, or_equal=parameters.algorithm == "arow"))
    return tuple(rules)
