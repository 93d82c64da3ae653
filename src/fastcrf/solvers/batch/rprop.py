"""RPROP: a step size for each weight, from the signs of its gradient component alone.

Riedmiller & Braun (1993), "A direct adaptive method for faster backpropagation learning: the RPROP algorithm", IEEE
International Conference on Neural Networks, pp. 586-591. For CRFs, with L1: Wapiti (Lavergne, Cappé & Yvon 2010).

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2  +  c1 |w|_1

    v ← gradient of F, the minimum-norm subgradient if c1 > 0;  for each weight, with g_before the previous component
        same sign as g_before:   step ← min(1.2 step, 5),       w ← w - step sign(v)
        the other sign:          step ← max(0.5 step, 1e-8),    w ← its previous value, and g_before ← 0 once
        g_before = 0:            w ← w - step sign(v)

That is rprop+; rprop- (backtrack=False) always moves, and undoes no step. With c1 > 0 a weight that would change its
sign stops at exactly zero, and g_before is v.

Differs from Wapiti: if c1 > 0, its code compares gradient components of the smooth part, and moves a weight only if
that component and v have the same sign. A weight that only the penalty pulls back then never moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import POINT, WEIGHTS, StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import begin, evaluate
from fastcrf.penalties.orthant import pseudo_gradient, step_within_orthant
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_positive, check_truth


@solver
class RPROP:
    """Train with RPROP, step sizes from the signs of the gradient.

    Parameters
    ----------
    backtrack
        Whether to undo the step of a weight whose gradient component changes sign (RPROP+).
    first_step
        First step of every weight.
    shortest
        Shortest step.
    longest
        Longest step.
    shrink
        Factor of a step after a change of sign.
    grow
        Factor of a step without one.
    """

    name: ClassVar[str] = "rprop"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **POINT,
        "weights_before": WEIGHTS,
        "gradient_before": WEIGHTS,
        "steps": StateField("weights", low=0.0),
    }

    backtrack: bool = True
    first_step: float = 0.1
    shortest: float = 1e-8
    longest: float = 5.0
    shrink: float = 0.5
    grow: float = 1.2

    def __post_init__(self) -> None:
        check_truth(self.name, "backtrack", self.backtrack)
        for option in ("first_step", "shortest", "longest", "shrink", "grow"):
            check_positive(self.name, option, getattr(self, option))

    def iterate(
        self, problem: GradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        w, value, g, passes = begin(self.name, problem, weights, state)
        before, slopes, steps = w.copy(), np.zeros_like(w), np.full_like(w, self.first_step)
        if state:
            before, slopes, steps = (np.array(state[item]) for item in ("weights_before", "gradient_before", "steps"))
        while True:
            reached = {"weights": w, "value": value, "gradient": g}
            reached |= {"weights_before": before, "gradient_before": slopes, "steps": steps}
            yield Step(w, passes, value, g, {"mean_step": float(steps.mean())}, reached)
            w, before, slopes, steps = self._moved(w, g, before, slopes, steps, float(problem.c1))
            (value, g), passes = evaluate(problem, w), 1

    def _moved(
        self, w: Floats, g: Floats, before: Floats, slopes: Floats, steps: Floats, c1: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return (weights, previous weights, gradient to compare with, steps) after a step, in new arrays."""
        v = pseudo_gradient(w, g, c1)
        agreement = np.sign(slopes) * np.sign(v)
        steps = np.where(agreement > 0.0, np.minimum(self.grow * steps, self.longest), steps)
        steps = np.where(agreement < 0.0, np.maximum(self.shrink * steps, self.shortest), steps)
        moved = step_within_orthant(w, -np.sign(v) * steps, 1.0) if c1 > 0.0 else w - np.sign(v) * steps
        returning = (agreement < 0.0) & self.backtrack
        moved, before = np.where(returning, before, moved), np.where(returning, before, w)
        return moved, before, np.where(returning, 0.0, v), steps
