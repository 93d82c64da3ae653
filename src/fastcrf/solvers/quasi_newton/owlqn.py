"""OWL-QN: orthant-wise limited-memory quasi-Newton.

Andrew & Gao (2007), "Scalable training of L1-regularized log-linear models", ICML, pp. 33-40.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2  +  c1 |w|_1

    repeat
        v ← pseudo-gradient of F at w             the shortest sub-gradient
        d ← -H v                                  two-loop recursion over plain gradient differences of the smooth part
        d_j ← 0 where d_j and -v_j differ in sign
        t ← first of 1, 1/2, 1/4, ...  with  F(w') <= F(w) + 1e-4 v.(w' - w),
            w' = w + t d with exactly 0 where a weight would change its sign
            (without pairs: first of 1/|v|, 0.1/|v|, ...)
        s ← w' - w, y ← difference of the smooth gradients;  w ← w'

Differs from the paper: the smooth part may contain c2 |w|^2 (elastic net), as in CRFsuite; pairs without positive
curvature are skipped; if no step is found, the pairs are dropped, then the preconditioner (preconditioner="counts", as
in lbfgs), and the pseudo-gradient is tried once before the end.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import Start, evaluate
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

    def _descend(
        self, problem: GradientProblem, start: Start, pairs: CurvaturePairs, state: Mapping[str, Any]
    ) -> Generator[Step, None, str]:
        return descend(self.name, problem, start, pairs, self.max_linesearch)


def descend(
    name: str, problem: GradientProblem, start: Start, pairs: CurvaturePairs, max_linesearch: int
) -> Generator[Step, None, str]:
    """The steps of OWL-QN from an evaluated start, with the pairs that there are; `name` is that of the solver."""
    w, value, g, passes = start
    info: dict[str, float] = {"non_zeros": int(np.count_nonzero(w))}
    while True:
        state = {"weights": w, "value": value, "gradient": g, **pairs.state()}
        yield Step(w, passes, value, g, info, state)
        steepest = pseudo_gradient(w, g, float(problem.c1))
        found, passes = search(problem, w, value, steepest, pairs, max_linesearch)
        if found is None:
            break
        pairs.add(found.weights, w, found.gradient, g)
        w, value, g = found.weights, found.value, found.gradient
        info = {"step_size": found.step, "trials": passes, "non_zeros": int(np.count_nonzero(w))}
    if passes:  # what the last, vain search cost
        yield Step(w, passes, value, g, info | {"step_size": 0.0, "trials": passes}, state)
    return f"{name} found no lower point along the pseudo-gradient of norm {norm(steepest):.3g}."


def search(
    problem: GradientProblem, w: Floats, value: float, steepest: Floats, pairs: CurvaturePairs, max_linesearch: int
) -> Search:
    """Along the quasi-Newton direction; if that fails, along the pseudo-gradient after forgetting the pairs, first in
    their preconditioner and then without it."""
    direction = pairs.direction(steepest)
    keep_descending(direction, steepest)
    ray = OrthantRay(problem, w, direction, steepest)
    length = norm(direction)
    found, trials = Search(None, 0)
    if length > 0.0 and len(pairs):
        found, trials = backtrack(ray, value, 1.0, shrink=0.5, max_trials=max_linesearch)
    elif length > 0.0:
        found, trials = backtrack(ray, value, min(1.0, 1.0 / length), shrink=0.1, max_trials=max_linesearch)
    if found is None and not pairs.is_plain:
        if len(pairs):
            pairs.forget()
        else:
            pairs.forget_preconditioner()
        again = search(problem, w, value, steepest, pairs, max_linesearch)
        return Search(again.found, trials + again.trials)
    return Search(found, trials)


class OrthantRay(NamedTuple):
    """smooth + c1 |w|_1 along `direction`, where weights stop at zero; trial.slope is steepest . (moved - weights)."""

    problem: GradientProblem
    weights: Floats
    direction: Floats
    steepest: Floats  # pseudo-gradient at `weights`

    def at(self, step: float) -> Trial:
        moved = step_within_orthant(self.weights, self.direction, step)
        value, gradient = evaluate(self.problem, moved)
        return Trial(step, value, dot(self.steepest, moved - self.weights), moved, gradient)
