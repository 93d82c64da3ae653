"""Stochastic variance-reduced gradient (SVRG) with a line search for the Lipschitz constant.

Johnson & Zhang (2013), "Accelerating stochastic gradient descent using predictive variance reduction", NIPS; Xiao &
Zhang (2014), "A proximal stochastic gradient method with progressive variance reduction", SIAM Journal on Optimization.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    repeat
        w~ <- w;  g_i <- grad nll_i(w~) for all i;  d <- sum_i g_i                       (a snapshot)
        M times:  sample i with probability p_i;  g <- grad nll_i(w)
                  L's by Algorithm 2 of Schmidt et al. (2015);  a <- step size from the L's
                  w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/n ]

`sampling="uniform"`, Johnson & Zhang's: p_i = 1/n, one L for all sequences and a = 1 / (L + lambda), as in `sag`.
`sampling="nus"`: an L_i for each, p_i = 1/2 1/n + 1/2 L_i / sum L, and a from the largest and the mean L_i, as in
`sag-nus-star`, whose skipping of searches makes a sample cost little more than one evaluation instead of two.

A Step is M samples and the snapshot that follows, so that it has the exact objective and gradient of its weights. As in
the paper, a sample evaluates g and g_i again; with `storage` other than "none", the g_i are stored
(stochastic/gradient_storage.py), and a sample evaluates one gradient.

docs/explanation/sag-family.md has figures.

Differs from the papers: the penalty is exact instead of a part of each g_i; the L's are searched and the step is SAG's;
Xiao & Zhang sample in proportion to L_i alone, which needs all L_i in advance. The next w~ is the last w (Johnson &
Zhang's option I).
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.lazy_vectors.drifting_vector import make_drifting
from fastcrf.lazy_vectors.lazy_weights import Make
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.sag.svrg.periods import VarianceReduced


@solver
class SVRG(VarianceReduced):
    """Train with SVRG, stochastic variance-reduced gradient."""

    name: ClassVar[str] = "svrg"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    def vector(self, problem: SequenceProblem, n: int) -> Make:
        return make_drifting
