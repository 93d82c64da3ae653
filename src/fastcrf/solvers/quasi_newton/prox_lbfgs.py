"""Proximal L-BFGS: quasi-Newton models of the smooth part, minimized together with the L1 penalty.

Lee, Sun & Saunders (2014), "Proximal Newton-type methods for minimizing composite functions", SIAM J. Optimization
24(3), pp. 1420-1443; Scheinberg & Tang (2016), "Practical inexact proximal quasi-Newton method with global complexity
analysis", Mathematical Programming 160, pp. 495-529.

Minimizes   F(w) = f(w) + c1 |w|_1,   f(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat
        d ← argmin  grad f(w).d + d.B d / 2 + c1 |w + d|_1          B of the last m pairs; `sparse_model.py`
        t ← first of 1, 1/2, 1/4, ...  with  F(w + t d) <= F(w) + 1e-4 t (grad f(w).d + c1 |w + d|_1 - c1 |w|_1)
        s ← t d, y ← difference of the smooth gradients;  w ← w + t d

OWL-QN takes the direction of the smooth problem and cuts it off at zero, which spoils the curvature it has learnt; here
the kinks are part of the model, so that more pairs mean fewer evaluations.

Differs from the papers: the model is minimized by semi-smooth Newton over the weights that can move, until a round adds
less than a fifth to the gain, not by some sweeps of coordinate descent; pairs may have a preconditioner
(`curvature_pairs.py`) and are kept in single precision; if no step is found, pairs and then preconditioner are dropped
before the end.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import NOTHING, Floats, Step
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import Start, evaluate
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

    def _descend(
        self, problem: GradientProblem, start: Start, pairs: CurvaturePairs, state: Mapping[str, Any]
    ) -> Generator[Step, None, str]:
        return descend(self.name, problem, start, pairs, self.max_linesearch, state)


def descend(
    name: str,
    problem: GradientProblem,
    start: Start,
    pairs: CurvaturePairs,
    max_linesearch: int,
    state: Mapping[str, Any] = NOTHING,
) -> Generator[Step, None, str]:
    """The steps from an evaluated start, with the pairs that there are; `name` is that of the solver, `state` what it
    goes on from."""
    model = SparseModel(name, pairs, state)
    w, value, g, passes = start
    info: dict[str, float] = {"non_zeros": int(np.count_nonzero(w))}
    while True:
        reached = {"weights": w, "value": value, "gradient": g, **pairs.state(), **model.state()}
        yield Step(w, passes, value, g, info, reached)
        found, passes = search(problem, w, value, g, model, max_linesearch)
        if found is None:
            break
        model.settle(found.weights)
        pairs.add(found.weights, w, found.gradient, g)
        w, value, g = found.weights, found.value, found.gradient
        info = {"step_size": found.step, "trials": passes, "non_zeros": int(np.count_nonzero(w))}
    if passes:  # what the last, vain search cost
        yield Step(w, passes, value, g, info | {"step_size": 0.0, "trials": passes}, reached)
    steepest = norm(shortest_subgradient(w, g, float(problem.c1), problem.c1_factors))
    return (
        f"{name} has nothing left to gain: there is no lower point, and the pseudo-gradient's norm is {steepest:.3g}."
    )


def search(
    problem: GradientProblem, w: Floats, value: float, g: Floats, model: SparseModel, max_linesearch: int
) -> Search:
    """Along the step to the model's lowest point; if that fails, again without pairs, then without preconditioner."""
    step = model.lowest(w, g, float(problem.c1), problem.c1_factors)
    found, trials = Search(None, 0)
    if step is not None:
        found, trials = backtrack(ProximalRay(problem, w, *step), value, 1.0, max_trials=max_linesearch)
    if found is None and not model.pairs.is_plain:
        model.forget()
        again = search(problem, w, value, g, model, max_linesearch)
        return Search(again.found, trials + again.trials)
    return Search(found, trials)


class ProximalRay(NamedTuple):
    """F on the way from `weights` to `target`; trial.slope is what the gradient and the penalty promise."""

    problem: GradientProblem
    weights: Floats
    target: Floats
    promised: float

    def at(self, step: float) -> Trial:
        moved = self.target if step == 1.0 else self.weights + step * (self.target - self.weights)
        value, gradient = evaluate(self.problem, moved)
        return Trial(step, value, step * self.promised, moved, gradient)
