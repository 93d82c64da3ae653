"""Stochastic average gradient with a line search for the Lipschitz constant.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, Algorithms 1 and 2; Le Roux, Schmidt & Bach (2012), NIPS.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    d <- 0, g_i <- 0, m <- 0, L <- 1
    repeat
        sample i uniformly;  g <- grad nll_i(w);  m <- m + 1 if i is new
        d <- d - g_i + g;  g_i <- g                                          (lines 10, 11)
        if |g|^2 > 1e-8: while nll_i(w - g/L) > nll_i(w) - |g|^2 / (2L): L <- 2 L      (Algorithm 2)
        a <- 1 / (L + lambda);  w <- (1 - a lambda) w - (a/m) d              (lines 15, 16)
        L <- 2^(-1/n) L                                                      (line 17)

A Step is n samples. `info["gradient_norm_estimate"]` is n |d/n + lambda w|, infinite until every sequence has been seen
(the printed "m < n and" of line 3 must read "or").

Differs from the paper: the norm is the Euclidean one, while the paper stops by the largest component; line 17 is
skipped after a visit whose gradient is too small for a search; the search compares with > instead of >=, with slack for
rounding; the very first search also decreases L, so that too large a first L does no harm.
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.sag.options import AverageGradient
from fastcrf.solvers.sag.schemes.lipschitz import Constants, one_constant


@solver
class SAG(AverageGradient):
    """Train with SAG, the stochastic average gradient, uniform sampling.

    Parameters
    ----------
    first_lipschitz
        First estimate of the Lipschitz constant; a line search corrects it.
    """

    name: ClassVar[str] = "sag"

    first_lipschitz: float = 1.0

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        return one_constant(n, self.first_lipschitz)
