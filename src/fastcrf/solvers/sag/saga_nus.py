"""SAGA with the non-uniform sampling of SAG-NUS: unseen sequences first, the others by their Lipschitz constants.

Schmidt, Le Roux & Bach (2013), "Minimizing finite sums with the stochastic average gradient", section 5.5, with the
step of Defazio, Bach & Lacoste-Julien (2014), "SAGA", NIPS; for CRFs as in Schmidt et al. (2015), AISTATS, section 5.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

Samples, Lipschitz constants and step size are those of `sag-nus` (the step size divided by 3, as SAGA's theory
requires); the step is that of `saga`, with the importance weight that makes it unbiased:

    p_i = 1/n for an unseen sequence, else m/n (L_i + mean L + 2 lambda) / sum of the same over the m seen
    w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/m ];   then d <- d - g_i + g,  g_i <- g

Differs from the papers: the 2013 paper has this sampling for SAG alone. d is divided by the number m of sequences seen,
as in `saga`; the penalty is exact instead of a part of each g_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.options import AverageGradient
from fastcrf.solvers.sag.schemes import unseen_first
from fastcrf.solvers.sag.schemes.unseen_first import UnseenFirst
from fastcrf.stochastic.sampling import first_order


@solver
class SAGANUS(AverageGradient):
    """Train with SAGA and non-uniform sampling by Lipschitz constants.

    Parameters
    ----------
    first_lipschitz
        First estimate of each Lipschitz constant; a line search corrects it.
    step_divisor
        Divisor of the step size: 3 is that of the theory, 1 that of SAG.
    """

    name: ClassVar[str] = "saga-nus"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | unseen_first.STATE_FIELDS
    correction: ClassVar[float] = 1.0

    first_lipschitz: float = 1.0
    step_divisor: float = 3.0

    def scheme(self, problem: SequenceProblem, n: int) -> UnseenFirst:
        return unseen_first.unseen_first(first_order(seed_of(self), n), self.first_lipschitz, self.step_divisor)
