"""Proximal SVRG: stochastic variance-reduced gradient for L1 and elastic net, with exact zeros.

Xiao & Zhang (2014), "A proximal stochastic gradient method with progressive variance reduction", SIAM Journal on
Optimization 24(4), pp. 2057-2075.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda2/2) |w|^2 + lambda1 |w|_1,   lambda2 = 2 c2/n,  lambda1 = c1/n

As `svrg`, with a soft threshold after each step:

    repeat
        w~ <- w;  g_i <- grad nll_i(w~) for all i;  d <- sum_i g_i                       (a snapshot)
        M times:  sample i with probability p_i;  g <- grad nll_i(w)
                  L's by Algorithm 2 of Schmidt et al. (2015);  a <- step size from the L's
                  w <- soft((1 - a lambda2) w - a [ (g - g_i) / (n p_i) + d/n ], a lambda1)

where soft(x, t) moves x towards zero by t and stops there. Weights that a sample does not use are updated when they are
next needed, with exact zeros (lazy_vectors/proximal_vector.py). Samples, L's and a are those of `svrg`, here
non-uniform by default: that and the threshold are the paper's contribution.

A Step is M samples and the snapshot that follows, so that it has the exact objective and gradient of its weights.

Differs from the paper: the L2 penalty is exact instead of a part of each g_i; the L's are searched instead of known in
advance, so half of the samples are uniform; the next w~ is the last w instead of the mean over a period. Without an L1
penalty, this is `svrg`.

docs/explanation/sag-family.md has figures.
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.lazy_vectors.lazy_weights import Make
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.sag.options import soft_thresholds
from fastcrf.solvers.sag.svrg.periods import VarianceReduced


@solver
class ProxSVRG(VarianceReduced):
    """Train with proximal SVRG, with L1 and L2 penalties."""

    name: ClassVar[str] = "prox-svrg"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})

    sampling: str = "nus"

    def vector(self, problem: SequenceProblem, n: int) -> Make:
        return soft_thresholds(problem, n)
