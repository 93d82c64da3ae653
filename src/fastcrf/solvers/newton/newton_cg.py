"""Newton's method with conjugate gradients (truncated Newton), in a trust region.

Tsuboi, Unno, Kashima & Okazaki (2011), "Fast Newton-CG method for batch learning of conditional random fields", AAAI;
the trust region of Lin, Weng & Keerthi (2008), "Trust region Newton method for logistic regression", JMLR 9,
pp. 627-650.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat
        s ← conjugate gradients on  H s = -g  until |g + H s| <= xi |g|,  or at the boundary of |s| <= D
        actual ← F(w) - F(w + s),   predicted ← -g.s - s.Hs / 2
        w ← w + s  if actual > 1e-4 predicted
        D ← larger or smaller, by actual / predicted                                              trust_region.py

or, with globalization="line-search", for comparison: no ball, and then the first of s, s/2, s/4, ... with a decrease of
at least 1e-4 of the linear prediction. A trial in a ball that is not accepted is also a step: w does not change, and
the ball shrinks.

Differs from the papers: xi is min(forcing, sqrt(|g| / n)), for superlinear convergence; forcing alone with
superlinear=False. Gradient and objective of a trial are evaluated together, because most trials are accepted. After a
rejected one, the gradient at w is evaluated again for its cached inference (objective/curvature.py). If a reduction is
too small to be visible in the values, it is computed from the directional derivatives at both ends. With sample < 1,
products are over that share of the sequences, sampled again at each step (Byrd, Chin, Neveitt & Nocedal 2011, SIAM J.
Optimization 21).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import COUNT, POINT, StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import AnyProblem, PointOfCurvature
from fastcrf.objective.evaluation import begin_with_curvature
from fastcrf.simd.vectors import add_scaled, dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.newton.steihaug import Inner, steihaug
from fastcrf.solvers.newton.trust_region import ACCEPTED, halvings, next_radius, one_trial
from fastcrf.solvers.options import (
    check_choice,
    check_positive,
    check_seed,
    check_share,
    check_truth,
    check_whole,
    seed_of,
)

NOTHING_TO_GAIN = 1e-22  # a predicted reduction far below the rounding of the objective, relative to it
FLOOR = 0.05  # of the variance of a feature
SHORTEST = 1e-14  # radius, relative to the weights


@solver
class NewtonCG:
    """Train with Newton's method, its equations solved by conjugate gradients.

    Parameters
    ----------
    globalization
        "trust-region", or "line-search", a backtracking line search.
    forcing
        Residual of conjugate gradients, relative to the gradient.
    superlinear
        Whether that residual shrinks with the gradient.
    max_products
        Limit on Hessian-vector products per step.
    preconditioner
        Whether equations are scaled by the fourth root of a bound on the variance of each feature.
    sample
        Share of the sequences used for Hessian-vector products.
    seed
        Seed of that sample; None: the `random_state` of the estimator, or 0.
    cache
        Sequences whose inference is cached with a gradient for the products, or "all".
    hessian
        Products by the paper's "tables" or by algorithmic differentiation, "ad".
    """

    name: ClassVar[str] = "newton-cg"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient", "hessian"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {**POINT, "radius": StateField(low=0.0), "step": COUNT}

    globalization: str = "trust-region"
    forcing: float = 0.1
    superlinear: bool = True
    max_products: int = 250
    preconditioner: bool = False
    sample: float = 1.0
    seed: int | None = None
    cache: str | int = "all"
    hessian: str = "tables"

    def __post_init__(self) -> None:
        check_choice(self.name, "globalization", self.globalization, ("trust-region", "line-search"))
        check_positive(self.name, "forcing", self.forcing)
        check_truth(self.name, "superlinear", self.superlinear)
        check_whole(self.name, "max_products", self.max_products, 1)
        check_truth(self.name, "preconditioner", self.preconditioner)
        check_share(self.name, "sample", self.sample)
        check_seed(self.name, self.seed)
        check_choice(self.name, "hessian", self.hessian, ("tables", "ad"))
        if self.cache != "all":
            check_whole(self.name, "cache", self.cache, 0)

    def iterate(
        self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        point = problem.differentiated_curvature() if self.hessian == "ad" else problem.curvature(self._kept())
        w, value, g, passes = begin_with_curvature(self.name, point, weights, state)
        radius, number, known = 0.0, 0, not state  # known: whether `point` is at w
        if state:
            radius, number = float(state["radius"]), int(state["step"])
        info: dict[str, float] = {}
        while True:
            reached = {"weights": w, "value": value, "gradient": g, "radius": radius, "step": number}
            yield Step(w, passes, value, g, info, reached)
            passes = 0.0
            if not known and self.sample == 1.0:
                point.gradient(w)
                passes, known = 1.0, True
            in_ball = self.globalization == "trust-region"
            equation, cost = self._equation(problem, point, w, g, number)
            limit = (radius or norm(equation.gradient)) if in_ball else math.inf
            inner = self._solve(problem, equation, norm(g), limit)  # Lin et al. (2008), algorithm 2
            passes += cost * inner.products
            info = {"products": inner.products}
            if inner.broken_off:
                continue
            step = equation.unscaled(inner.step)
            slope, length = dot(g, step), norm(inner.step)
            predicted = 0.5 * (dot(inner.step, inner.residual) - slope)
            if not predicted > NOTHING_TO_GAIN * max(1.0, abs(value)):
                break
            trial = (one_trial if in_ball else halvings)(point, w, value, g, step)
            passes, known, number = passes + trial.trials, False, number + 1
            if in_ball:
                radius = min(limit, length) if number == 1 else limit
                # Lin et al. (2008), section 2.3
                radius = next_radius(radius, length, trial.reduction, predicted, slope, inner.at_boundary)
            # Lin et al. (2008), algorithm 1: eta_0
            if trial.reduction > ACCEPTED * (predicted if in_ball else -trial.share * slope):
                w, value, g, known = trial.weights, trial.value, trial.gradient, True
            elif not in_ball or radius <= SHORTEST * max(1.0, norm(w)):
                break
            info |= {"step_size": trial.share, "radius": radius, "ratio": trial.reduction / predicted}
        if passes:  # the cost of the last step, which failed
            yield Step(w, passes, value, g, {"products": inner.products}, reached)
        return f"{self.name} cannot improve further: the gradient has the norm {norm(g):.3g}."

    def _kept(self) -> int | None:
        """Return the number of sequences whose inference a gradient caches: 0 if products are over a sample."""
        if self.sample < 1.0:
            return 0
        return None if self.cache == "all" else int(self.cache)

    def _solve(self, problem: AnyProblem, equation: NewtonEquation, slope: float, radius: float) -> Inner:
        """Run conjugate gradients to a residual that shrinks with the gradient's norm `slope`."""
        forcing = min(self.forcing, math.sqrt(slope / problem.n_sequences)) if self.superlinear else self.forcing
        tolerance = forcing * norm(equation.gradient)
        stop = problem.asked_to_stop
        return steihaug(equation.product, equation.gradient, radius, tolerance, self.max_products, stop)

    def _equation(
        self, problem: AnyProblem, point: PointOfCurvature, w: Floats, g: Floats, number: int
    ) -> tuple[NewtonEquation, float]:
        """Return (the Newton equation at w, with the Hessian of a sample if `sample` < 1; passes per product)."""
        scales = None
        if self.preconditioner:
            scales = np.maximum(problem.variance_bounds(w, g), FLOOR) ** -0.25
        if self.sample == 1.0:
            return NewtonEquation(point.product, g if scales is None else scales * g, scales), 1.0
        n = problem.n_sequences
        size = max(1, round(self.sample * n))
        chosen = np.sort(np.random.default_rng([seed_of(self), number]).choice(n, size, replace=False))

        def product(direction: Floats) -> Floats:
            of_sample = problem.sequence_hessian_product(w, direction, chosen)
            of_sample *= n / size
            add_scaled(2.0 * problem.c2, direction, of_sample)
            return of_sample

        return NewtonEquation(product, g if scales is None else scales * g, scales), size / n


class NewtonEquation(NamedTuple):
    """H s = -g in the unknown s / scales, or in s itself without scales."""

    multiply: Callable[[Floats], Floats]  # with H
    gradient: Floats  # scaled
    scales: Floats | None

    def product(self, direction: Floats) -> Floats:
        if self.scales is None:
            return self.multiply(direction)
        return self.scales * self.multiply(self.scales * direction)

    def unscaled(self, step: Floats) -> Floats:
        return step if self.scales is None else self.scales * step
