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
& Wright's, not Moré & Thuente's; if the search fails, the pairs are dropped, then the preconditioner, and steepest
descent is tried once before the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.types import NOTHING, Floats
from fastcrf.objective.capabilities import GradientProblem
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
        """Return OWL-QN with the same options for c1 > 0."""
        return OWLQN(**asdict(self)) if c1 > 0.0 else self

    def method(
        self, problem: GradientProblem, pairs: CurvaturePairs, state: Mapping[str, Any] = NOTHING
    ) -> SmoothMethod:
        return SmoothMethod(self.name, problem, pairs, self.max_linesearch)


class SmoothMethod(NamedTuple):
    """Searches of L-BFGS; `name` is that of the solver that runs."""

    name: str
    problem: GradientProblem
    curvature: CurvaturePairs
    max_linesearch: int

    def search(self, w: Floats, value: float, g: Floats) -> Search:
        """Search along d = -H g with the strong Wolfe conditions (Liu & Nocedal 1989, eqs. 2.4 and 2.5)."""
        direction = self.curvature.direction(g)  # Liu & Nocedal (1989), eq. 2.7; Nocedal & Wright (2006), algorithm 7.4
        slope = dot(g, direction)
        if not slope < -NOTHING_TO_GAIN * max(1.0, abs(value)):
            return Search(None, 0)
        first = 1.0 if len(self.curvature) else min(1.0, 1.0 / math.sqrt(-slope))
        ray = SmoothRay(self.problem, w, direction)
        return strong_wolfe(ray, value, slope, first, max_trials=self.max_linesearch)

    def facts(self, w: Floats) -> dict[str, float]:
        return {"pairs": len(self.curvature)}

    def ending(self, w: Floats, g: Floats) -> str:
        return f"{self.name} cannot improve further: there is no lower point along the gradient of norm {norm(g):.3g}."
