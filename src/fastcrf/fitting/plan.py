"""From an estimator's parameters to what a run needs: a solver, a penalty and stopping rules.

The parameters have the names and meanings of `sklearn_crfsuite.CRF`, plus `tol`, `max_passes` and `random_state`; each
is described in `docs/parameters.md`. None always means "the default", and a wrong value is one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from fastcrf.core.checks import above, at_least, one_of, seed_of, whole
from fastcrf.features.histories import check_order
from fastcrf.fitting.solver_choice import AUTO, resolve_solver
from fastcrf.solvers import registry
from fastcrf.solvers.contract import Policy, Solver
from fastcrf.stopping import CertifiedGap, GradientNorm, MaxIterations, MaxPasses, Rule
from fastcrf.training.stopping import Epochs, GradientRatio, Improvement, MeanLoss

Given = Mapping[str, Any]  # parameters that are not None


class StoppingDefaults(NamedTuple):
    """When an algorithm stops by default; None where it has no such rule."""

    max_iterations: int
    period: int | None = 10
    delta: float | None = 1e-5
    epsilon: float | None = 1e-5


# CRFsuite's defaults for its five algorithms, which sklearn_crfsuite shares.
CRFSUITE = {
    "lbfgs": StoppingDefaults(2**31 - 1),
    "l2sgd": StoppingDefaults(1000, delta=1e-6, epsilon=None),
    "ap": StoppingDefaults(100, period=None, delta=None, epsilon=0.0),
    "pa": StoppingDefaults(100, period=None, delta=None, epsilon=0.0),
    "arow": StoppingDefaults(100, period=None, delta=None, epsilon=0.0),
}
SYNONYMS = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}
OURS = StoppingDefaults(1000)
LIMITS = CRFSUITE | {"perceptron": CRFSUITE["ap"], "mira": CRFSUITE["pa"], "ngd": CRFSUITE["l2sgd"]}
NO_GOAL = StoppingDefaults(100, period=None, delta=None, epsilon=None)  # of other solvers that minimize no objective
DEFAULT_TOL = 1e-3

# Parameters that are options of a solver, under the same name except one.
CALIBRATION = tuple(f"calibration_{name}" for name in ("eta", "rate", "samples", "candidates", "max_trials"))
MARGIN = ("pa_type", "c", "error_sensitive", "averaging", "variance", "gamma")
SOLVER_PARAMETERS = ("num_memories", "max_linesearch", *CALIBRATION, *MARGIN)
RENAMED = {"num_memories": "pairs"}
SLOPES: dict[str, Callable[[float], Rule]] = {
    "gradient_tol": GradientNorm,
    "mean_gradient_tol": partial(GradientNorm, per_sequence=True),
}
STOPPING = ("tol", "max_iterations", "max_passes", "epsilon", "period", "delta", *SLOPES)
PARAMETERS = frozenset({"c1", "c2", "linesearch", *STOPPING, *SOLVER_PARAMETERS})  # besides algorithm and random_state

LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")


class Plan(NamedTuple):
    """How to train."""

    solver: Solver
    c1: float
    c2: float
    stop: tuple[Rule, ...]
    tol: float  # the certified relative gap that is the goal, or 0 where only CRFsuite's rules are


def make_plan(parameters: Given) -> Plan:
    """The plan for an estimator's parameters; those that are None or missing have their defaults."""
    plan = _plan_for_any_order({name: value for name, value in parameters.items() if value is not None})
    check_order(1 if parameters.get("order") is None else parameters["order"])
    return plan


def _plan_for_any_order(given: Given) -> Plan:
    algorithm = given.get("algorithm", AUTO)
    if isinstance(algorithm, str):
        name = canonical_name(algorithm)
        solver, penalty = _named(name, algorithm, given)
        limits = LIMITS.get(name, OURS)
    else:
        solver = _checked(algorithm, given)
        penalty = _penalty(given, registry.default_penalty(solver))
        solver = registry.for_penalty(solver, *penalty)
        limits = OURS
    if "engine" in given and isinstance(solver, Policy):
        solver = solver.for_shards(penalty[0])
    if solver.guarantee == "no objective":
        return _plan_without_objective(solver, penalty, given)
    registry.check_penalty(solver, *penalty)
    _check_known(solver.name, given, limits)
    c1, c2 = penalty
    goals = _goals(given, limits, certifiable=c2 > 0.0 or (c1 > 0.0 and "tol" in given))
    tol = next((goal.tol for goal in goals if isinstance(goal, CertifiedGap)), 0.0)
    if isinstance(solver, Policy):
        solver = solver.with_target(tol if tol > 0.0 and len(goals) == 1 else None)
    return Plan(solver, *penalty, (*_limits(given, limits), *goals), tol)


def _plan_without_objective(solver: Solver, penalty: tuple[float, float], given: Given) -> Plan:
    """Where the objective says nothing, the loss of an epoch does; without a goal a run has a number of epochs."""
    limits = LIMITS.get(solver.name, NO_GOAL)
    registry.check_penalty(solver, *penalty)
    _check_known(solver.name, given, limits)
    for name in ("tol", *SLOPES):
        if name in given:
            raise ValueError(
                f"{name}={given[name]!r} has no meaning for {solver.name}, which does not minimize the objective; "
                "leave it None."
            )
    first, *others = _limits(given, limits)
    goals: list[Rule] = []
    if limits.delta is not None:
        period, delta = given.get("period", limits.period), given.get("delta", limits.delta)
        goals.append(Improvement(whole("period", period, 0), at_least("delta", delta, 0.0)))
    if limits.epsilon is not None:
        epsilon = at_least("epsilon", given.get("epsilon", limits.epsilon), 0.0)
        goals.append(MeanLoss(epsilon, or_equal=solver.name == "arow"))
    if isinstance(first, MaxIterations) and not {"period", "delta", "epsilon"} & given.keys():
        first = Epochs(first.limit)
    return Plan(solver, *penalty, (first, *others, *goals), 0.0)


def canonical_name(algorithm: str) -> str:
    """CRFsuite takes its names in any case, and two of them in full."""
    name = algorithm.lower()
    return SYNONYMS.get(name, name)


def _named(name: str, algorithm: str, given: Given) -> tuple[Solver, tuple[float, float]]:
    """Solver and penalty for a name. The penalty decides between lbfgs and owlqn, so it is settled first."""
    known = ", ".join(registry.names())
    if name not in registry.names():
        raise ValueError(f"There is no algorithm {algorithm!r}; use one of {known}, or a Solver object.")
    penalty = _penalty(given, registry.default_penalty(registry.solver_class(resolve_solver(name, c1=0.0))))
    name = resolve_solver(name, penalty[0])
    return registry.make(name, **_options(name, given)), penalty


def _checked(algorithm: Any, given: Given) -> Solver:
    """A Solver object, which comes with its own options."""
    for name in (*SOLVER_PARAMETERS, "linesearch"):
        if name in given:
            raise ValueError(f"{name}={given[name]!r} has no effect on a Solver object; set its own option instead.")
    return registry.with_seed(registry.as_solver(algorithm), seed_of(given.get("random_state")))


def _penalty(given: Given, default: tuple[float, float]) -> tuple[float, float]:
    return at_least("c1", given.get("c1", default[0]), 0.0), at_least("c2", given.get("c2", default[1]), 0.0)


def _options(name: str, given: Given) -> dict[str, Any]:
    """The options of a named solver, among them the seed."""
    known = registry.options_of(name)
    options = {}
    for parameter in filter(given.__contains__, SOLVER_PARAMETERS):
        option = RENAMED.get(parameter, parameter)
        if option not in known:
            raise _unknown(name, parameter, given)
        options[option] = given[parameter]
    if "linesearch" in given:
        _check_linesearch(name, given, known)
    seed = seed_of(given.get("random_state"))
    return options | ({"seed": seed} if "seed" in known else {})


def _check_linesearch(name: str, given: Given, known: Mapping[str, Any]) -> None:
    """CRFsuite's choice of line search is understood, but each solver here has the one that suits it."""
    if "max_linesearch" not in known:
        raise _unknown(name, "linesearch", given)
    one_of("linesearch", given["linesearch"], LINE_SEARCHES)


def _check_known(name: str, given: Given, limits: StoppingDefaults) -> None:
    """Of CRFsuite's stopping rules each of its algorithms knows some."""
    for parameter in ("period", "delta", "epsilon"):
        if parameter in given and getattr(limits, parameter) is None:
            raise _unknown(name, parameter, given)


def _unknown(name: str, parameter: str, given: Given) -> ValueError:
    asked = f"{parameter}={given[parameter]!r}"
    return ValueError(f"{name} does not know the parameter {asked}; leave it None, or choose another algorithm.")


def _limits(given: Given, limits: StoppingDefaults) -> list[Rule]:
    rules: list[Rule] = [MaxIterations(whole("max_iterations", given.get("max_iterations", limits.max_iterations), 1))]
    if "max_passes" in given:
        rules.append(MaxPasses(above("max_passes", given["max_passes"], 0.0)))
    return rules


def _goals(given: Given, limits: StoppingDefaults, certifiable: bool) -> list[Rule]:
    """The rules that mean convergence: `tol`, CRFsuite's three (period and delta make one rule), slopes, or several.

    An explicit `tol` replaces the three, except those that are given too; so does a limit of slopes, which replaces the
    default tol, too. Without either, CRFsuite's algorithms, and whoever gives one of the three, get the three; all
    others get the default tol. Where no penalty allows a certificate, or L1 alone a loose one that nobody asked for,
    the three are there unless slopes are.
    """
    three, slopes = {"period", "delta", "epsilon"} & given.keys(), [name for name in SLOPES if name in given]
    certified = "tol" in given or (limits is OURS and not three and not slopes)
    all_three = not (certified and certifiable) and not slopes
    goals: list[Rule] = [SLOPES[name](at_least(name, given[name], 0.0)) for name in slopes]
    if certified:
        goals.append(CertifiedGap(at_least("tol", given.get("tol", DEFAULT_TOL), 0.0)))
    period, delta, epsilon = (given.get(name, getattr(limits, name)) for name in ("period", "delta", "epsilon"))
    if delta is not None and (all_three or three - {"epsilon"}):
        goals.append(Improvement(whole("period", period, 0), at_least("delta", delta, 0.0)))
    if epsilon is not None and (all_three or "epsilon" in three):
        goals.append(GradientRatio(at_least("epsilon", epsilon, 0.0)))
    return goals
