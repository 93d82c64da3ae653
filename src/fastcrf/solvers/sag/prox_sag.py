"""Proximal SAG: SAG for L1 and elastic net, with exact zeros.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, section 7, which names it without an equation.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda2/2) |w|^2 + lambda1 |w|_1,   lambda2 = 2 c2/n,  lambda1 = c1/n

    sample i;  g <- grad nll_i(w);  d <- d - g_i + g;  g_i <- g;  L's by Algorithm 2;  a <- step size from the L's
    w <- soft((1 - a lambda2) w - (a/n) d, a lambda1)

where soft(x, t) moves x towards zero by t and stops there. Samples, L's and step size are those of `sag-nus-star`, or
those of `sag` with sampling="uniform". A Step is n samples.

Differs from `sag`: d is divided by n from the start, because a lazy update cannot apply thresholds that change with the
number of sequences seen (lazy_vectors/proximal_vector.py). Differs from `prox-saga`: the step follows the new d alone.
No proof of convergence is known; without an L1 penalty, this is `sag-nus-star` or `sag`.
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
class ProxSAG(AverageGradient):
    """Train with proximal SAG, with L1 and L2 penalties.

    Parameters
    ----------
    first_lipschitz
        First estimate of the Lipschitz constants; a line search corrects it.
    sampling
        "uniform" or "nus", by Lipschitz constants.
    """

    name: ClassVar[str] = "prox-sag"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})

    first_lipschitz: float = 1.0
    sampling: str = "nus"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "sampling", self.sampling, ("uniform", "nus"))

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        if self.sampling == "nus":
            return own_constants(n, self.first_lipschitz, skipping=True)
        return one_constant(n, self.first_lipschitz)

    def vector(self, problem: SequenceProblem, n: int) -> Make:
        return soft_thresholds(problem, n)
