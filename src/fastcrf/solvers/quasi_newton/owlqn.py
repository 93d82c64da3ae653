"""OWL-QN: orthant-wise limited-memory quasi-Newton.

Andrew & Gao (2007), "Scalable training of L1-regularized log-linear models", ICML, pp. 33-40.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2  +  c1 |w|_1

    repeat
        v ← pseudo-gradient of F at w             the minimum-norm subgradient
        d ← -H v                                  two-loop recursion over plain gradient differences of the smooth part
        d_j ← 0 where d_j and -v_j differ in sign
        t ← first of 1, 1/2, 1/4, ...  with  F(w') <= F(w) + 1e-4 v.(w' - w),
            w' = w + t d with exactly 0 where a weight would change its sign
            (without pairs: first of 1/|v|, 0.1/|v|, ...)
        s ← w' - w, y ← difference of the smooth gradients;  w ← w'

Differs from the paper: the smooth part may contain c2 |w|^2 (elastic net), as in CRFsuite; pairs without positive
curvature are skipped; if the search fails, the pairs are dropped, then the preconditioner (preconditioner="counts", as
in lbfgs), and the pseudo-gradient is tried once before the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import evaluate
from fastcrf.penalties.orthant import keep_descending, pseudo_gradient, step_within_orthant
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.line_search import Search, Trial, backtrack
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.options import QuasiNewton


@solver
class OWLQN(QuasiNewton):
    """Train with OWL-QN, orthant-wise L-BFGS, for c1 > 0."""

    name: ClassVar[str] = "owlqn"
    handles: ClassVar[frozenset[str]] = frozenset({"l1", "l1+l2"})

    def method(self, problem: GradientProblem, pairs: CurvaturePairs, state: Mapping[str, Any]) -> OrthantMethod:
        return OrthantMethod(self.name, problem, pairs, self.max_linesearch)


class OrthantMethod(NamedTuple):
    """Searches of OWL-QN."""

    name: str
    problem: GradientProblem
    curvature: CurvaturePairs
    max_linesearch: int

    def search(self, w: Floats, value: float, g: Floats) -> Search:
        """Search along the projected quasi-Newton direction, within the orthant of w and the pseudo-gradient."""
        steepest = pseudo_gradient(w, g, float(self.problem.c1))  # Andrew & Gao (2007), eq. 4
        direction = self.curvature.direction(steepest)
        keep_descending(direction, steepest)  # the projection pi(.; -v) of section 3.2
        ray = OrthantRay(self.problem, w, direction, steepest)
        length = norm(direction)
        if not length > 0.0:
            return Search(None, 0)
        if len(self.curvature):
            return backtrack(ray, value, 1.0, shrink=0.5, max_trials=self.max_linesearch)
        return backtrack(ray, value, min(1.0, 1.0 / length), shrink=0.1, max_trials=self.max_linesearch)

    def facts(self, w: Floats) -> dict[str, float]:
        return {"non_zeros": int(np.count_nonzero(w))}

    def ending(self, w: Floats, g: Floats) -> str:
        steepest = norm(pseudo_gradient(w, g, float(self.problem.c1)))
        return (
            f"{self.name} cannot improve further: there is no lower point along the pseudo-gradient of norm "
            f"{steepest:.3g}."
        )


class OrthantRay(NamedTuple):
    """smooth + c1 |w|_1 along `direction`, stopping at zero; trial.slope is steepest . (moved - weights)."""

    problem: GradientProblem
    weights: Floats
    direction: Floats
    steepest: Floats  # pseudo-gradient at `weights`

    def at(self, step: float) -> Trial:
        # Andrew & Gao (2007), section 3.2: the projection on the orthant, and its sufficient decrease
        moved = step_within_orthant(self.weights, self.direction, step)
        value, gradient = evaluate(self.problem, moved)
        return Trial(step, value, dot(self.steepest, moved - self.weights), moved, gradient)
