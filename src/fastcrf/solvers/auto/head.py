"""The head of a quasi-Newton method: a dense block of its first Hessian, sampled from the model during training.

With typical features of names and addresses, nearly all curvature is in some hundred weights: the labels of frequent
attributes (the bias, the previous tag, "is a title") and the transitions. They are also nearly collinear. A diagonal
first Hessian cannot show that, so that L-BFGS needs a pair for each such direction. With H the Hessian of the loss on
the head:

    at steps 0 and 10
        v <- variance of each feature's count at w                                                             one pass
        head <- the weights with the largest v; stop here if they hold less than SHARE of the sum of v
        y, y' ~ p(. | x_i, w), some pairs for each sequence                                                    one pass
        B <- sum_i s_i (mean of c c' / 2 over the pairs of i), c = f(x_i, y) - f(x_i, y') on the head; E B = H
        r <- 2 c2 + c1              curvature of the penalty: c1 |w| is at most c1 (1 + w^2) / 2, and equal at |w| = 1
        L L' <- B + r I;                D <- 1 / sqrt(v + r) on the tail, times the factor that makes the mean of
                                             log(D (v + r)) zero there: a step along the tail as long as a Newton step
        H0 <- (y.s / y.H0 y) times (L L')^-1 on the head and D on the tail; the pairs are kept         `CurvaturePairs`

The relative error of B is about sqrt(d / n) if d weights are estimated from n pairs that differ; n is 8 d, but each
sequence gets 16 pairs at most, of which few differ where the model is certain. A head takes d^3 operations when it is
made and 8 d^2 in a step, which limits its size by the time of a gradient.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, Protocol

import numpy as np

from fastcrf.core.types import Floats, Longs, Step
from fastcrf.objective.capabilities import SampledCurvatureProblem, SampledPoint, SequenceGradientProblem
from fastcrf.solvers.quasi_newton.dense_head import DenseHead, dense_head
from fastcrf.system.blas_threads import one_blas_thread

STEPS = (0, 10)  # of quasi-Newton, at which a head is made
SHARE = 0.85  # of the variances that the head must hold: with 0.65-0.75 it saved nothing, with 0.88 much
LEAST = 8  # pairs that should differ per weight of the head: an error of 35 %
STREAM = 1  # of the random numbers, beside those of the AdaGrad pass
SECONDS_A_CUBE = 2.3e-11  # seconds per d^3 that making a head of d weights takes
PRICE = 2.0  # gradients that a head may take each time; with 5, passes fell by 10 % more and time rose
SECONDS_A_PRODUCT = 7e-10  # that adding one entry of c c' to B takes
MOST_SUMS = 20.0  # gradients that these sums may take; with 100 numbers a token they take hundreds
LONG = 0.004  # seconds of a gradient on one core: a fit of half a second; compiling takes one, once per machine


class Base(Protocol):
    """Curvature whose first Hessian can change."""

    def rebase(self, scale: Floats, head: DenseHead | None) -> None: ...


class HeadRule(NamedTuple):
    """What heads are made of: at most `most` weights; `seed` of the draws. seconds: of a gradient."""

    problem: SampledCurvatureProblem
    most: int
    seed: int
    seconds: float

    def renew(self, base: Base, weights: Floats, step: int) -> tuple[bool, int]:
        """Make a head at `weights`; return whether it pays, and the passes spent. Writes: base."""
        point = self.problem.sampled_curvature(weights, [self.seed, STREAM, step])
        if point is None:
            return False, 0
        members = largest(point.variances, self.most)
        head = None if members is None else self._head(point, members)
        if head is None:
            return False, point.passes
        base.rebase(scale_of(point.variances + self.ridge, head.members), head)
        return True, point.passes

    def _head(self, point: SampledPoint, members: Longs) -> DenseHead | None:
        block = point.block(members, LEAST * len(members), MOST_SUMS * max(self.seconds, LONG) / SECONDS_A_PRODUCT)
        if block is None:
            return None
        block[np.diag_indices(len(block))] += self.ridge
        return dense_head(members, block)

    @property
    def ridge(self) -> float:
        """Return the penalty's curvature: that of c2, and of c1 |w| bounded by c1 (1 + w^2) / 2."""
        return 2.0 * self.problem.c2 + self.problem.c1


def head_limit(problem: SequenceGradientProblem, seconds: float, given: int | None = None) -> int:
    """Return how many weights a head may have; 0: none. seconds: of a gradient; given: the option."""
    if "sampled-curvature" not in problem.provides:
        return 0
    affordable = int((PRICE * seconds / SECONDS_A_CUBE) ** (1.0 / 3.0)) if seconds >= LONG else 0
    return min(affordable if given is None else given, problem.n_weights)


def largest(variances: Floats, most: int) -> Longs | None:
    """Return the weights with the largest variances, in ascending order; None if they hold too little of the sum."""
    members = np.sort(np.argsort(-variances, kind="stable")[:most])
    return members if variances[members].sum() >= SHARE * variances.sum() else None


def scale_of(curvature: Floats, members: Longs) -> Floats:
    """Return sqrt(D) for the tail, and 1 on the head."""
    scale = curvature**-0.25
    tail = np.ones(len(curvature), np.bool_)
    tail[members] = False
    if tail.any():
        scale *= np.exp(-0.5 * np.mean(np.log(scale[tail] ** 2 * curvature[tail])))
    scale[members] = 1.0
    return scale


def with_heads(steps: Generator[Step, None, str], base: Base, rule: HeadRule, taken: int) -> Generator[Step, None, str]:
    """Yield the steps of a descent, and make heads between them. taken: steps before; -1: no more heads."""
    spent = 0
    while True:
        try:
            with one_blas_thread():
                step = next(steps)
        except StopIteration as end:
            return str(end.value)
        yield step._replace(passes=step.passes + spent, state={**step.state, "taken": taken})
        spent = 0
        if taken in STEPS:
            with one_blas_thread():
                pays, spent = rule.renew(base, step.weights, taken)
            taken = taken if pays else -1
        if taken >= 0:
            taken += 1
