"""Proximal SAGA: SAGA for L1 and elastic net, with exact zeros.

Defazio, Bach & Lacoste-Julien (2014), "SAGA: a fast incremental gradient method with support for non-strongly convex
composite objectives", NIPS; for CRFs as in Schmidt et al. (2015), AISTATS, section 7.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda2/2) |w|^2 + lambda1 |w|_1,   lambda2 = 2 c2/n,  lambda1 = c1/n

    sample i with probability p_i;  g <- grad nll_i(w);  L's by Algorithm 2 of Schmidt et al. (2015);  a <- step size
    w <- soft((1 - a lambda2) w - a [ (g - g_i) / (n p_i) + d/n ], a lambda1);   then d <- d - g_i + g,  g_i <- g

where soft(x, t) moves x towards zero by t and stops there. A sample updates the weights of its sequence alone. Lazy
updates apply d and the thresholds to the others when they are next needed, with exact zeros
(lazy_vectors/proximal_vector.py). Samples, L's and step size are those of `saga-nus-star`, or those of `saga` with
sampling="uniform".

A Step is n samples. `info["proximal_gradient_norm_estimate"]` is |w - soft(w - s (d + 2 c2 w), s c1)| / s, s = a / n;
it is zero at the optimum, and infinite until every sequence has been seen.

Differs from the paper: the L2 penalty is exact instead of a part of each g_i. Differs from `saga`: d is divided by n
from the start, because lazy updates require thresholds that do not change with the number of sequences seen. Without an
L1 penalty, this is `saga` or `saga-nus-star`.

step_divisor=3 is the step of the theory; docs/explanation/sag-family.md has figures for it and for step_divisor=1. With
few sequences step_divisor=1 may cycle (see `saga`). With L1 alone the objective is not strongly convex, and the last
digits take thousands of passes.
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.lazy_vectors.lazy_weights import Make
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice
from fastcrf.solvers.sag.options import AverageGradient, soft_thresholds
from fastcrf.solvers.sag.schemes.lipschitz import Constants, one_constant, own_constants


@solver
class ProxSAGA(AverageGradient):
    """Train with proximal SAGA, with L1 and L2 penalties.

    Parameters
    ----------
    first_lipschitz
        First estimate of the Lipschitz constants; a line search corrects it.
    sampling
        "uniform" or "nus", by Lipschitz constants.
    step_divisor
        Divisor of the step size: 3 is that of the theory, 1 that of SAG.
    """

    name: ClassVar[str] = "prox-saga"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})
    correction: ClassVar[float] = 1.0

    first_lipschitz: float = 1.0
    sampling: str = "nus"
    step_divisor: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "sampling", self.sampling, ("uniform", "nus"))

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        if self.sampling == "nus":
            return own_constants(n, self.first_lipschitz, skipping=True, step_divisor=self.step_divisor)
        return one_constant(n, self.first_lipschitz, self.step_divisor)

    def vector(self, problem: SequenceProblem, n: int) -> Make:
        return soft_thresholds(problem, n)
