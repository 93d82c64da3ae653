"""The shared part of L-BFGS, OWL-QN and proximal L-BFGS: options, the start with its preconditioner, and the descent.

    repeat
        search along the direction of the curvature pairs   lbfgs.py, owlqn.py, prox_lbfgs.py
        store the pair of the move                          Nocedal & Wright (2006), algorithm 7.5

A failed search is repeated without the pairs, then without the preconditioner, before the descent ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from fastcrf.core.solver_state import POINT, StateField
from fastcrf.core.types import NOTHING, Floats, Step
from fastcrf.objective.capabilities import SequenceGradientProblem
from fastcrf.objective.evaluation import Start, begin
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.line_search import Search
from fastcrf.solvers.options import check_choice, check_whole
from fastcrf.solvers.quasi_newton import curvature_pairs
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.preconditioner import counts_of, preconditioner_of

PRECONDITIONERS = ("none", "counts")


@solver
class QuasiNewton(ABC):
    """Declare the options that quasi-Newton solvers share.

    Parameters
    ----------
    pairs
        Curvature pairs (weight change, gradient change). More pairs mean fewer iterations and more memory.
    max_linesearch
        Limit on gradient evaluations per line search.
    preconditioner
        Diagonal H0 that the pairs start from: "none", a multiple of the identity, or "counts", which follows how often
        each feature occurs.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})  # and "sequences" for H0 by counts
    guarantee: ClassVar[str] = "optimum"
    precision: ClassVar[type] = np.float64  # of the pairs
    always_scaled: ClassVar[bool] = False  # whether D is kept even where it is I
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **POINT,
        **curvature_pairs.STATE_FIELDS,
        "scale": curvature_pairs.SCALE._replace(optional=True),
    }

    pairs: int = 6
    max_linesearch: int = 20
    preconditioner: str = "none"

    def __post_init__(self) -> None:
        check_whole(self.name, "pairs", self.pairs, 1)
        check_whole(self.name, "max_linesearch", self.max_linesearch, 1)
        check_choice(self.name, "preconditioner", self.preconditioner, PRECONDITIONERS)

    def iterate(
        self, problem: SequenceGradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        start, given = begin(self.name, problem, weights, state), state or NOTHING
        preconditioner = self._preconditioner(problem, start, given)
        pairs = CurvaturePairs(self.pairs, problem.n_weights, problem.n_jobs, self.precision, preconditioner)
        if state:
            pairs.restore(self.name, state)
        return (yield from descend(self.method(problem, pairs, given), start))

    def _preconditioner(
        self, problem: SequenceGradientProblem, start: Start, state: Mapping[str, Any]
    ) -> Floats | None:
        """Return D; with a given state, an array for its D."""
        if self.preconditioner == "counts" and not state:
            return preconditioner_of(1.0 + counts_of(problem, start))
        return np.ones(problem.n_weights) if self.always_scaled or "scale" in state else None

    @abstractmethod
    def method(self, problem: SequenceGradientProblem, pairs: CurvaturePairs, state: Mapping[str, Any]) -> Method:
        """Return the search method with these pairs; `state` is the one that the run resumes from."""


class Curvature(Protocol):
    """A curvature model: the pairs, or a model made of them."""

    @property
    def is_plain(self) -> bool: ...
    def fall_back(self) -> None: ...
    def add(self, weights: Floats, weights_before: Floats, gradient: Floats, gradient_before: Floats) -> None: ...
    def state(self) -> dict[str, Any]: ...


class Method(Protocol):
    """The part of a solver that differs within the family."""

    @property
    def curvature(self) -> Curvature: ...

    def search(self, w: Floats, value: float, g: Floats) -> Search:
        """Search for a lower point than w, where F and the gradient of its smooth part are `value` and g."""
        ...

    def facts(self, w: Floats) -> dict[str, float]:
        """Return the values of a row besides step size and trials."""
        ...

    def ending(self, w: Floats, g: Floats) -> str:
        """Return the reason for the end: no lower point was found."""
        ...


def descend(method: Method, start: Start) -> Generator[Step, None, str]:
    """Yield the Steps from an evaluated start, until no lower point is found."""
    w, value, g, passes = start
    info, curvature = method.facts(w), method.curvature
    while True:
        state = {"weights": w, "value": value, "gradient": g, **curvature.state()}
        yield Step(w, passes, value, g, info, state)
        found, passes = with_fallbacks(method, w, value, g)
        if found is None:
            break
        curvature.add(found.weights, w, found.gradient, g)
        w, value, g = found.weights, found.value, found.gradient
        info = {"step_size": found.step, "trials": passes, **method.facts(w)}
    if passes:  # the cost of the last search, which failed
        yield Step(w, passes, value, g, {"step_size": 0.0, "trials": passes, **method.facts(w)}, state)
    return method.ending(w, g)


def with_fallbacks(method: Method, w: Floats, value: float, g: Floats) -> Search:
    """Search; after a failure, search again without the pairs, then without the preconditioner."""
    found, trials = method.search(w, value, g)
    while found is None and not method.curvature.is_plain:
        method.curvature.fall_back()
        found, more = method.search(w, value, g)
        trials += more
    return Search(found, trials)
