"""Hybrid deterministic-stochastic L-BFGS: batches grow to the entire corpus.

Friedlander & Schmidt (2012), "Hybrid deterministic-stochastic methods for data fitting", SIAM Journal on Scientific
Computing 34(3), pp. A1351-A1379; Schmidt et al. (2015) compare with it.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    b ← 1
    repeat
        f ← the objective on the first b sequences of a random permutation (sample.py)
        d ← -H grad f(w)                          two-loop recursion over the last m pairs
        t ← 1, 1/2, 1/4, ... until Armijo's condition holds along d (first 1/|g| without pairs)
        s ← t d, y ← grad f(w + t d) - grad f(w)  of the same sample;   w ← w + t d
        b ← min(ceil(growth b + 1), n)
    until b = n; from there on it is L-BFGS (lbfgs.py), with the pairs that it has

Differs from the paper: samples are nested, so that a pair is also valid for the next sample. A nonzero start is assumed
to be good, and a sample of one sequence would spoil it: the run then begins with all sequences.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import COUNT, POINT, StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import AnyProblem
from fastcrf.simd.vectors import dot
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.line_search import Trial, backtrack
from fastcrf.solvers.options import check_positive, check_seed, check_whole, seed_of
from fastcrf.solvers.quasi_newton import curvature_pairs
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.sample import Sample
from fastcrf.stochastic.sampling import first_order


class Advance(NamedTuple):
    """The result of an iteration on a sample."""

    weights: Floats
    passes: float
    info: Mapping[str, float]


@solver
class Hybrid:
    """Train with L-BFGS on a sample that grows to the entire data.

    Parameters
    ----------
    growth
        Factor of the sample's size per iteration.
    pairs
        Curvature pairs.
    max_linesearch
        Limit on gradient evaluations per line search.
    seed
        Seed of the order in which sequences join the sample; None: the `random_state` of the estimator, or 0.
    """

    name: ClassVar[str] = "hybrid"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient", "subset-gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **{item: kept._replace(optional=item != "weights") for item, kept in POINT.items()},
        **curvature_pairs.STATE_FIELDS,
        "batch_size": COUNT,
    }

    growth: float = 1.1
    pairs: int = 10
    max_linesearch: int = 20
    seed: int | None = None

    def __post_init__(self) -> None:
        check_positive(self.name, "growth", self.growth)
        check_whole(self.name, "pairs", self.pairs, 1)
        check_whole(self.name, "max_linesearch", self.max_linesearch, 1)
        check_seed(self.name, self.seed)

    def iterate(
        self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        n, pairs = problem.n_sequences, CurvaturePairs(self.pairs, problem.n_weights, problem.n_jobs)
        order = first_order(seed_of(self), n)
        batch = min(int(state["batch_size"]), n) if state else n if weights.any() else 0
        now = Advance(np.array(state["weights"]) if state else weights, 0.0, {})
        if batch == n:
            return (yield from self._whole(problem, now.weights, state))
        if state:
            pairs.restore(self.name, state)
        while True:
            reached = {"weights": now.weights, **pairs.state(), "batch_size": batch}
            yield Step(now.weights, now.passes, info=now.info, state=reached)
            batch = min(math.ceil(self.growth * batch + 1.0), n)
            if batch == n:
                break
            now = self._advance(Sample(problem, order[:batch]), now.weights, pairs)
        value, gradient = problem.gradient(now.weights)
        known = {"weights": now.weights, "value": value, "gradient": gradient, **pairs.state()}
        return (yield from self._whole(problem, now.weights, known, passes=1.0))

    def _advance(self, sample: Sample, w: Floats, pairs: CurvaturePairs) -> Advance:
        """Run one iteration on a sample. If no step lowers its objective, w does not change and the pairs are
        dropped.
        """
        value, g = sample.gradient(w)
        direction = pairs.direction(g)
        if len(pairs) and not dot(g, direction) < 0.0:
            pairs.forget()
            direction = -g
        slope = dot(g, direction)
        first = 1.0 if len(pairs) else min(1.0, 1.0 / math.sqrt(-slope)) if slope < 0.0 else 0.0
        search = backtrack(ArmijoRay(sample, w, direction, slope), value, first, max_trials=self.max_linesearch)
        found = search.found
        if found is None:
            pairs.forget()
        else:
            pairs.add(found.weights, w, found.gradient, g)
        info = {
            "batch_size": len(sample.sequences),
            "sample_objective": value if found is None else found.value,
            "step_size": 0.0 if found is None else found.step,
            "trials": search.trials,
            "pairs": len(pairs),
        }
        return Advance(w if found is None else found.weights, sample.share * (1 + search.trials), info)

    def _whole(
        self, problem: AnyProblem, w: Floats, state: Mapping[str, Any] | None, passes: float = 0.0
    ) -> Generator[Step, None, str]:
        """Run L-BFGS from here, or from a state that took `passes` to compute."""
        known = {item: value for item, value in state.items() if item != "batch_size"} if state else None
        steps = LBFGS(pairs=self.pairs, max_linesearch=self.max_linesearch).iterate(problem, w, known)
        n = problem.n_sequences
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                return str(end.value)
            info, reached = {"batch_size": n, **step.info}, {**step.state, "batch_size": n}
            yield step._replace(passes=step.passes + passes, info=info, state=reached)
            passes = 0.0


class ArmijoRay(NamedTuple):
    """The objective of a sample along `direction`; trial.slope is the change predicted by its derivative at the
    start.
    """

    sample: Sample
    weights: Floats
    direction: Floats
    slope: float

    def at(self, step: float) -> Trial:
        moved = self.weights + step * self.direction
        value, gradient = self.sample.gradient(moved)
        return Trial(step, value, step * self.slope, moved, gradient)
