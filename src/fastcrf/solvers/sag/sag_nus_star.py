"""Stochastic average gradient with non-uniform sampling, as proposed by Schmidt et al. (2015) (SAG-NUS*).

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, section 5.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

As `sag`, with a Lipschitz constant L_i for each sequence:

    sample i: with probability 1/2 uniformly, else among the sequences seen, in proportion to L_i
    first visit: L_i <- mean L / 2 (the very first: 1);   later visits: L_i <- 0.9 L_i;   then Algorithm 2 on L_i
    a <- 1/2 (1 / (max L + lambda) + 1 / (mean L + lambda))
    skipping (5.2): after xi searches in a row without a doubling, the next 2^(xi-1) visits neither search nor shrink

Differs from the paper: lambda in the step size (the text of section 5 omits it, Algorithm 1 does not); searches of
first visits do not count towards skipping, because they start from a guess; the very first search also decreases L, so
that too large a first L does no harm. A visit whose squared gradient is at most 1e-8 does not search, as in the paper
(line 12), and decreases L_i no further than to the mean, while the paper's fades without limit; a search ends after 60
doublings, while the paper's has no limit. A run that does not start at zero stores all gradients first (m = n).
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_truth
from fastcrf.solvers.sag.options import AverageGradient
from fastcrf.solvers.sag.schemes.lipschitz import Constants, own_constants


@solver
class SAGNUSStar(AverageGradient):
    """Train with SAG-NUS*, SAG with non-uniform sampling half of the time.

    Parameters
    ----------
    first_lipschitz
        First estimate of each Lipschitz constant; a line search corrects it.
    skipping
        Whether to skip line searches after several successes in a row (section 5.2 of the paper).
    """

    name: ClassVar[str] = "sag-nus-star"

    first_lipschitz: float = 1.0
    skipping: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_truth(self.name, "skipping", self.skipping)

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        return own_constants(n, self.first_lipschitz, self.skipping)
