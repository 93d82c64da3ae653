"""Limited-memory BFGS.

Liu & Nocedal (1989), "On the limited memory BFGS method for large scale optimization", Mathematical Programming 45,
pp. 503-528. For CRFs: Sha & Pereira (2003), "Shallow parsing with conditional random fields", NAACL.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat
        d ← -H g                                  two-loop recursion over the last m pairs, H0 = (y.s / y.y) I
        t ← step with the strong Wolfe conditions along d, tried first at 1 (at 1/|g| without pairs)
        s ← t d, y ← grad F(w + t d) - g          keep the pair if its curvature is positive
        w ← w + t d

With preconditioner="counts", H0 = (y.s / y.Dy) D, where D follows how often each feature occurs (`preconditioner.py`).

Differs from the paper: the two-loop recursion runs on inner products (`curvature_pairs.py`); the line search is Nocedal
& Wright's, not Moré & Thuente's; if no step is found, the pairs are dropped, then the preconditioner, and steepest
descent is tried once before giving up.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import Start
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.line_search import Search, SmoothRay, strong_wolfe
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.options import QuasiNewton
from fastcrf.solvers.quasi_newton.owlqn import OWLQN

NOTHING_TO_GAIN = 1e-6 * np.finfo(np.float64).eps  # a decrease far below the rounding of the objective, relative to it


@solver
class LBFGS(QuasiNewton):
    """Train with L-BFGS, limited-memory BFGS, for c1 = 0.

    With c1 > 0, `CRF` runs OWL-QN with the same options.
    """

    name: ClassVar[str] = "lbfgs"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    def for_penalty(self, c1: float, c2: float) -> LBFGS | OWLQN:
        """Return OWL-QN with the same options where there is an L1 penalty."""
        return OWLQN(**asdict(self)) if c1 > 0.0 else self

    def _descend(
        self, problem: GradientProblem, start: Start, pairs: CurvaturePairs, state: Mapping[str, Any]
    ) -> Generator[Step, None, str]:
        return descend(self.name, problem, start, pairs, self.max_linesearch)


def descend(
    name: str, problem: GradientProblem, start: Start, pairs: CurvaturePairs, max_linesearch: int
) -> Generator[Step, None, str]:
    """The steps of L-BFGS from an evaluated start, with the pairs that there are; `name` is that of the solver."""
    w, value, g, passes = start
    info: dict[str, float] = {}
    while True:
        state = {"weights": w, "value": value, "gradient": g, **pairs.state()}
        yield Step(w, passes, value, g, info, state)
        found, passes = search(problem, w, value, g, pairs, max_linesearch)
        if found is None:
            break
        pairs.add(found.weights, w, found.gradient, g)
        w, value, g = found.weights, found.value, found.gradient
        info = {"step_size": found.step, "trials": passes, "pairs": len(pairs)}
    if passes:  # what the last, vain search cost
        yield Step(w, passes, value, g, {"step_size": 0.0, "trials": passes, "pairs": 0}, state)
    return f"{name} has nothing left to gain: there is no lower point along the gradient of norm {norm(g):.3g}."


def search(
    problem: GradientProblem, w: Floats, value: float, g: Floats, pairs: CurvaturePairs, max_linesearch: int
) -> Search:
    """Along the quasi-Newton direction; if that fails, along steepest descent after forgetting the pairs, first in
    their preconditioner and then without it."""
    direction = pairs.direction(g)
    slope = dot(g, direction)
    found, trials = Search(None, 0)
    if slope < -NOTHING_TO_GAIN * max(1.0, abs(value)):
        first = 1.0 if len(pairs) else min(1.0, 1.0 / math.sqrt(-slope))
        ray = SmoothRay(problem, w, direction)
        found, trials = strong_wolfe(ray, value, slope, first, max_trials=max_linesearch)
    if found is None and not pairs.is_plain:
        if len(pairs):
            pairs.forget()
        else:
            pairs.forget_preconditioner()
        again = search(problem, w, value, g, pairs, max_linesearch)
        return Search(again.found, trials + again.trials)
    return Search(found, trials)
