"""SAGA with the non-uniform sampling of SAG-NUS*.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, section 5.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

Samples, Lipschitz constants and skipping are those of `sag-nus-star`, and its step size is divided by 3, as SAGA's
theory requires; the step is that of `saga` with the importance weight that makes it unbiased:

    p_i = 1/2 1/n + 1/2 L_i / sum L over the sequences seen    (1/2 1/n for an unseen one)
    w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/m ];   then d <- d - g_i + g,  g_i <- g

Differs from the paper: Proposition 1 proves rates for constants known in advance; here they are searched. As in `saga`,
d is divided by the number m of sequences seen.

step_divisor=3, the default, is the only one that solved every small test problem (see `saga`). step_divisor=1, SAG's
step, may cycle even on large ones (docs/explanation/sag-family.md).
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_truth
from fastcrf.solvers.sag.options import AverageGradient
from fastcrf.solvers.sag.schemes.lipschitz import Constants, own_constants


@solver
class SAGANUSStar(AverageGradient):
    """Train with SAGA and non-uniform sampling half of the time.

    Parameters
    ----------
    first_lipschitz
        First estimate of each Lipschitz constant; a line search corrects it.
    skipping
        Whether to skip line searches after several successes in a row (section 5.2 of the paper).
    step_divisor
        Divisor of the step size: 3 is that of the theory, 1 that of SAG.
    """

    name: ClassVar[str] = "saga-nus-star"
    correction: ClassVar[float] = 1.0

    first_lipschitz: float = 1.0
    skipping: bool = True
    step_divisor: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_truth(self.name, "skipping", self.skipping)

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        return own_constants(n, self.first_lipschitz, self.skipping, self.step_divisor)
