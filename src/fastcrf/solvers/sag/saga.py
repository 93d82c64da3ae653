"""SAGA with a line search for the Lipschitz constant.

Defazio, Bach & Lacoste-Julien (2014), "SAGA: a fast incremental gradient method with support for non-strongly convex
composite objectives", NIPS; for CRFs as in Schmidt et al. (2015), AISTATS, section 5.1.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

As `sag`, but the step is unbiased:

    w <- (1 - a lambda) w - a [ (g - g_i) + d/m ];   then d <- d - g_i + g,  g_i <- g

with i sampled uniformly, L searched by Algorithm 2 of Schmidt et al. (2015), and a = 1 / (3 (L + lambda)), the step of
the theory.

Differs from the paper: the penalty is exact instead of a part of each g_i; d is divided by the number m of sequences
seen, as SAG does, so that the first epoch is not wasted on zeros; the very first search also decreases L.

step_divisor=3 is the step of the theory. step_divisor=1 is SAG's step, with which SAGA is as fast as SAG on many
sequences. On few sequences it cycles around the optimum (docs/explanation/sag-family.md has figures), so the default is
3.
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.sag.options import AverageGradient
from fastcrf.solvers.sag.schemes.lipschitz import Constants, one_constant


@solver
class SAGA(AverageGradient):
    """Train with SAGA, uniform sampling.

    Parameters
    ----------
    first_lipschitz
        First estimate of the Lipschitz constant; a line search corrects it.
    step_divisor
        Divisor of the step size: 3 is that of the theory, 1 that of SAG.
    """

    name: ClassVar[str] = "saga"
    correction: ClassVar[float] = 1.0

    first_lipschitz: float = 1.0
    step_divisor: float = 3.0

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        return one_constant(n, self.first_lipschitz, self.step_divisor)
