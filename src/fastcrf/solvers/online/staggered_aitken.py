"""Online learning by staggered Aitken acceleration.

Yang, Suk & Lee (2012), "Accelerating generalized iterative scaling based on staggered Aitken method for on-line
conditional random fields", IJWMIP 10(6), after Hesterberg (2005) and Hsu, Huang, Chang & Lee (2009).

Minimizes   sum_i -log p(y_i | x_i, w) + c2 |w|^2   or   ... + c1 |w|_1,   n sequences

PSA (psa.py) with one gamma for all weights, of D1 = theta^b - theta^0 and D2 = theta^2b - theta^b:

    gamma = 1:   D2 . D1 / |D1|^2        (4.8)
    gamma = 2:   |D2| / |D1|             (4.9)
    gamma = 3:   |D2|^2 / (D2 . D1)      (4.10), the paper's choice
    eta <- v eta,   v by eqs. 4.18, 4.19 (periods.py)

With scope="component" each weight has its own gamma: then 1 and 3 are PSA's ratio, and 2 its absolute value.

Differs from the paper: the inner products are over the weights that the double period used (the others move by their
penalty alone). The direction is the gradient of the batch, as in the software that the paper extends, not the step of
iterative scaling on each sequence (eq. 4.1), whose mean over sequences is not 0 at the optimum, so that no eta
converges there (docs/notes/iterative-scaling-by-sequence.md). Penalties are those of psa.py.
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.exceptions import OptionError
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.online.periods import GAMMAS, ByComponent, ByProducts
from fastcrf.solvers.online.run import PeriodicStepSizes
from fastcrf.solvers.options import check_choice

SCOPES = ("global", "component")


@solver
class StaggeredAitken(PeriodicStepSizes):
    """Train online by staggered Aitken acceleration.

    Parameters
    ----------
    gamma
        Estimate of the ratio of two moves: 1, 2 or 3 (equations 4.8 to 4.10).
    scope
        "global", one ratio for all weights, or "component", one for each.
    """

    name: ClassVar[str] = "staggered-aitken"

    gamma: int = 3
    scope: str = "global"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "scope", self.scope, SCOPES)
        if isinstance(self.gamma, bool) or self.gamma not in GAMMAS:
            message = f"{self.name}: gamma must be 1, 2 or 3; got gamma={self.gamma!r}."
            raise OptionError(message, self.name, "gamma", self.gamma)

    def rule(self) -> ByComponent | ByProducts:
        if self.scope == "component":
            return ByComponent(self.period, self.discount(), negative=1.0 if self.gamma == 2 else -1.0)
        return ByProducts(self.period, self.discount(), self.gamma)
