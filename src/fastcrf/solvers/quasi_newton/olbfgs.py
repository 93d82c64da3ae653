"""Online L-BFGS: quasi-Newton steps from small batches, without a line search.

Schraudolph, Yu & Günter (2007), "A stochastic quasi-Newton method for online convex optimization", AISTATS.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2

    repeat: the next sequences of a random order, f their objective (sample.py)
        p ← -H grad f(w)            two-loop recursion over the last m pairs, H0 = mean of (y.s / y.y) over them;
                                    without pairs p ← -grad f(w) 1e-3 / |grad f(w)|
        s ← eta tau / (tau + t) p;   w ← w + s
        y ← grad f(w) - grad f(w before) + trust s           of the same batch: two evaluations per update

Differs from the paper: its factor c, a scale of H that its step sizes cancel, is omitted; the first direction has the
length 1e-3, because a pair from 1e-10 grad f(w) would be mostly rounding; samples are without replacement; gradients
are dense, so that an update costs some sums over all weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField
from fastcrf.core.types import Diverged, Floats, Step
from fastcrf.objective.capabilities import AnyProblem
from fastcrf.simd.vectors import dot, norm
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_not_negative, check_positive, check_seed, check_whole, seed_of
from fastcrf.solvers.quasi_newton import curvature_pairs
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.sample import Sample
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stochastic.slices import Slices

FIRST_LENGTH = 1e-3  # of the direction, before there is a pair


@solver
class OLBFGS:
    """Train with online L-BFGS.

    Parameters
    ----------
    batch_size
        Sequences per update.
    pairs
        Curvature pairs.
    eta
        First step size.
    tau
        Updates after which the step size has halved.
    trust
        Number added to the curvature of each pair.
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "olbfgs"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences", "subset-gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        "weights": WEIGHTS,
        **curvature_pairs.STATE_FIELDS,
        **dict.fromkeys(("epoch", "sampled", "updates"), COUNT),
    }

    batch_size: int = 8
    pairs: int = 10
    eta: float = 0.1
    tau: float = 2e4
    trust: float = 0.0
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        for option in ("batch_size", "pairs", "steps_per_epoch"):
            check_whole(self.name, option, getattr(self, option), 1)
        check_positive(self.name, "eta", self.eta)
        check_positive(self.name, "tau", self.tau)
        check_not_negative(self.name, "trust", self.trust)
        check_seed(self.name, self.seed)

    def iterate(self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None = None) -> Iterator[Step]:
        n, batch_size = problem.n_sequences, min(self.batch_size, problem.n_sequences)
        pairs = CurvaturePairs(self.pairs, problem.n_weights, problem.n_jobs, averaged=True)
        known = state or {"weights": weights, "epoch": 0, "sampled": 0, "updates": 0}
        w, epoch, updates = np.array(known["weights"]), int(known["epoch"]), int(known["updates"])
        if state:
            pairs.restore(self.name, state)
        done = min(int(known["sampled"]), n)
        slices = Slices(problem, n, batch_size, self.steps_per_epoch, unit=batch_size, done=done)
        passes = 0.0
        info: dict[str, float] = {}
        while True:
            reached = {"weights": w, **pairs.state(), "epoch": epoch, "sampled": slices.done, "updates": updates}
            yield Step(w, passes, info=info, state=reached)
            order, losses, passes = epoch_permutation(seed_of(self), epoch, n), 0.0, 0.0
            for some in slices:
                sample = Sample(problem, order[some])
                step = self.eta * self.tau / (self.tau + updates)
                w, value = self._update(sample, w, step, pairs)
                losses, passes, updates = losses + sample.share * value, passes + 2.0 * sample.share, updates + 1
                if not math.isfinite(value):
                    raise Diverged(
                        f"The objective of a batch is {value} after {updates} updates of olbfgs; try a smaller eta."
                    )
            info = {"step_size": step, "pairs": len(pairs), "online_estimate": 2.0 * losses / passes}
            if slices.finished:
                epoch += 1
                slices.start_again()

    def _update(self, sample: Sample, w: Floats, step: float, pairs: CurvaturePairs) -> tuple[Floats, float]:
        """Return (w after an update, objective of the sample before)."""
        value, g = sample.gradient(w)
        p = pairs.direction(g)
        if not len(pairs):
            p *= FIRST_LENGTH / max(norm(g), FIRST_LENGTH)
        moved = w + step * p
        after = sample.gradient(moved)[1]
        if self.trust > 0.0:
            after += self.trust * (moved - w)
        if dot(p, p) > 0.0:
            pairs.add(moved, w, after, g)
        return moved, value
