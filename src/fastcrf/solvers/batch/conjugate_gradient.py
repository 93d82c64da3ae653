"""Nonlinear conjugate gradients, and steepest descent.

Polak & Ribière (1969), "Note sur la convergence de méthodes de directions conjuguées", RIRO 3, pp. 35-43; Fletcher &
Reeves (1964), "Function minimization by conjugate gradients", Computer Journal 7, pp. 149-154. These are the batch
baselines of Yang et al. (2012) and others.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat
        b ← max(0, g.(g - g_before) / |g_before|^2)     beta="polak-ribiere";   |g|^2 / |g_before|^2   "fletcher-reeves"
        d ← -g + b d_before                             beta="none": steepest descent;   -g if d does not descend
        t ← step with the strong Wolfe conditions along d; first trial: the decrease of the last step
        w ← w + t d

Differs from the papers: Polak & Ribière's b is cut off at 0 (Powell 1984), which restarts; the line search is Nocedal &
Wright's, with a curvature constant of 0.1, since directions are conjugate only after an accurate search; if the search
fails, steepest descent is tried once before the end.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import POINT, WEIGHTS, StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.objective.evaluation import begin
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.line_search import Search, SmoothRay, strong_wolfe
from fastcrf.solvers.options import check_choice, check_whole

BETAS = ("polak-ribiere", "fletcher-reeves", "none")
CURVATURE = 0.1
NOTHING_TO_GAIN = 1e-6 * np.finfo(np.float64).eps  # a decrease far below the rounding of the objective, relative to it


@solver
class ConjugateGradient:
    """Train with nonlinear conjugate gradients, or with steepest descent.

    Parameters
    ----------
    beta
        Conjugacy: "polak-ribiere", "fletcher-reeves", or "none" for steepest descent.
    max_linesearch
        Limit on gradient evaluations per line search.
    """

    name: ClassVar[str] = "conjugate-gradient"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {**POINT, "direction": WEIGHTS, "gain": StateField(low=0.0)}

    beta: str = "polak-ribiere"
    max_linesearch: int = 20

    def __post_init__(self) -> None:
        check_choice(self.name, "beta", self.beta, BETAS)
        check_whole(self.name, "max_linesearch", self.max_linesearch, 1)

    def iterate(
        self, problem: GradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        w, value, g, passes = begin(self.name, problem, weights, state)
        d, gain = -g, 0.0  # gain: the predicted decrease of the last step
        if state:
            d, gain = np.array(state["direction"]), float(state["gain"])
        info: dict[str, float] = {}
        while True:
            reached = {"weights": w, "value": value, "gradient": g, "direction": d, "gain": gain}
            yield Step(w, passes, value, g, info, reached)
            found, passes, d = self._search(problem, w, value, g, d, gain)
            if found is None:
                break
            gain = -found.step * dot(g, d)
            d = self._direction(found.gradient, g, d)
            w, value, g = found.weights, found.value, found.gradient
            info = {"step_size": found.step, "trials": passes}
        if passes:  # the cost of the last search, which failed
            yield Step(w, passes, value, g, {"step_size": 0.0, "trials": passes}, reached)
        return f"{self.name} cannot improve further: there is no lower point along the gradient of norm {norm(g):.3g}."

    def _direction(self, g: Floats, g_before: Floats, d: Floats) -> Floats:
        """Return the next direction, in a new array."""
        square = dot(g_before, g_before)
        beta = 0.0
        if self.beta == "polak-ribiere":
            beta = max(0.0, (dot(g, g) - dot(g, g_before)) / square)
        elif self.beta == "fletcher-reeves":
            beta = dot(g, g) / square
        ahead = beta * d - g
        return ahead if dot(g, ahead) < 0.0 else -g

    def _search(
        self, problem: GradientProblem, w: Floats, value: float, g: Floats, d: Floats, gain: float
    ) -> tuple[Any, int, Floats]:
        """Search along d, or else steepest descent; return (the trial that was found, its gradients, the direction)."""
        slope = dot(g, d)
        search = Search(None, 0)
        if slope < -NOTHING_TO_GAIN * max(1.0, abs(value)):
            first = gain / -slope if gain > 0.0 else min(1.0, 1.0 / math.sqrt(-slope))
            ray = SmoothRay(problem, w, d)
            search = strong_wolfe(ray, value, slope, first, max_trials=self.max_linesearch, curvature=CURVATURE)
        if search.found is None and not np.array_equal(d, -g):
            found, trials, d = self._search(problem, w, value, g, -g, 0.0)
            return found, search.trials + trials, d
        return search.found, search.trials, d
