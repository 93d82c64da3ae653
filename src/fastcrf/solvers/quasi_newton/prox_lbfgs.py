"""Proximal L-BFGS: quasi-Newton models of the smooth part, minimized together with the L1 penalty.

Lee, Sun & Saunders (2014), "Proximal Newton-type methods for minimizing composite functions", SIAM J. Optimization
24(3), pp. 1420-1443; Scheinberg & Tang (2016), "Practical inexact proximal quasi-Newton method with global complexity
analysis", Mathematical Programming 160, pp. 495-529.

Minimizes   F(w) = f(w) + c1 |w|_1,   f(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat
        d ← argmin  grad f(w).d + d.B d / 2 + c1 |w + d|_1          B of the last m pairs; `sparse_model.py`
        t ← first of 1, 1/2, 1/4, ...  with  F(w + t d) <= F(w) + 1e-4 t (grad f(w).d + c1 |w + d|_1 - c1 |w|_1)
        s ← t d, y ← difference of the smooth gradients;  w ← w + t d

OWL-QN truncates the direction of the smooth problem at zero, which distorts the curvature model. Here the kinks are
part of the model, so that more pairs mean fewer evaluations.

Differs from the papers: the model is minimized by semi-smooth Newton over the weights that can move, until a round adds
less than 20 % to the gain, not by some sweeps of coordinate descent; pairs may have a preconditioner
(`curvature_pairs.py`) and are stored in single precision; if the search fails, the pairs and then the preconditioner
are dropped before the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import evaluate
from fastcrf.penalties.orthant import shortest_subgradient
from fastcrf.simd.vectors import norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.line_search import Search, Trial, backtrack
from fastcrf.solvers.quasi_newton import curvature_pairs, sparse_model
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.options import QuasiNewton
from fastcrf.solvers.quasi_newton.sparse_model import SparseModel


@solver
class ProxLBFGS(QuasiNewton):
    """Train with proximal L-BFGS, for c1 > 0."""

    name: ClassVar[str] = "prox-lbfgs"
    handles: ClassVar[frozenset[str]] = frozenset({"l1", "l1+l2"})
    precision: ClassVar[type] = np.float32
    always_scaled: ClassVar[bool] = True
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **QuasiNewton.state_fields,
        "basis": curvature_pairs.STATE_FIELDS["basis"]._replace(dtype="float32"),
        "scale": curvature_pairs.SCALE,
        **sparse_model.STATE_FIELDS,
    }

    pairs: int = 20

    def method(self, problem: GradientProblem, pairs: CurvaturePairs, state: Mapping[str, Any]) -> ProximalMethod:
        return ProximalMethod(self.name, problem, SparseModel(self.name, pairs, state), self.max_linesearch)


class ProximalMethod(NamedTuple):
    """Searches of proximal L-BFGS; `name` is that of the solver that runs."""

    name: str
    problem: GradientProblem
    curvature: SparseModel
    max_linesearch: int

    def search(self, w: Floats, value: float, g: Floats) -> Search:
        """Search toward the minimum of the model (Lee, Sun & Saunders 2014, algorithm 1)."""
        step = self.curvature.lowest(w, g, float(self.problem.c1), self.problem.c1_factors)
        if step is None:
            return Search(None, 0)
        return backtrack(ProximalRay(self.problem, w, *step), value, 1.0, max_trials=self.max_linesearch)

    def facts(self, w: Floats) -> dict[str, float]:
        return {"non_zeros": int(np.count_nonzero(w))}

    def ending(self, w: Floats, g: Floats) -> str:
        steepest = norm(shortest_subgradient(w, g, float(self.problem.c1), self.problem.c1_factors))
        return (
            f"{self.name} cannot improve further: there is no lower point along the pseudo-gradient of norm "
            f"{steepest:.3g}."
        )


class ProximalRay(NamedTuple):
    """F between `weights` and `target`; trial.slope is the change predicted by the gradient and the penalty."""

    problem: GradientProblem
    weights: Floats
    target: Floats
    promised: float

    def at(self, step: float) -> Trial:
        moved = self.target if step == 1.0 else self.weights + step * (self.target - self.weights)
        value, gradient = evaluate(self.problem, moved)
        return Trial(step, value, step * self.promised, moved, gradient)
