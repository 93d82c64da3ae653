"""Stochastic average gradient with the first scheme of non-uniform sampling (SAG-NUS).

Schmidt, Le Roux & Bach (2013), "Minimizing finite sums with the stochastic average gradient", arXiv:1309.2388, section
5.5; for CRFs in Schmidt et al. (2015), AISTATS, section 6.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

As `sag`, with a Lipschitz constant L_i for each sequence, all 1 at first, and max L <- 1; m is the number seen:

    sample i: with probability (n - m)/n an unseen one, else a seen one in proportion to L_i + mean L + 2 lambda
    later visits: L_i <- L_i / 2;   then Algorithm 2 of Schmidt et al. (2015) on L_i;   max L <- max(max L, L_i)
    a <- (n - m)/n 1 / (max L + lambda)  +  m/n (1/2 1 / (max L + lambda) + 1/2 1 / (mean L + lambda))
    w <- (1 - a lambda) w - (a/m) d
    max L <- 2^(-1/n) max L

Differs from the paper: max L does not decay after a visit whose gradient is too small for a search; the search compares
with > instead of >=, with slack for rounding; the very first search also decreases L. The other L_i and max L still
start at `first_lipschitz`: if that is 2^k times too large, they take about k visits each to decrease. `sag-nus-star`
starts each L_i from the mean of the known ones, decreases them less, and skips needless searches.
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
class SAGNUS(AverageGradient):
    """Train with SAG and non-uniform sampling by Lipschitz constants.

    Parameters
    ----------
    first_lipschitz
        First estimate of each Lipschitz constant; a line search corrects it.
    """

    name: ClassVar[str] = "sag-nus"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | unseen_first.STATE_FIELDS

    first_lipschitz: float = 1.0

    def scheme(self, problem: SequenceProblem, n: int) -> UnseenFirst:
        return unseen_first.unseen_first(first_order(seed_of(self), n), self.first_lipschitz)
