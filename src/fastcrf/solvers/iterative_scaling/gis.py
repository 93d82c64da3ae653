"""Generalized iterative scaling.

Darroch & Ratcliff (1972), "Generalized iterative scaling for log-linear models", Annals of Mathematical Statistics 43,
pp. 1470-1480. With a penalty: Chen & Rosenfeld (2000), "A survey of smoothing techniques for ME models", IEEE
Transactions on Speech and Audio Processing 8(1), pp. 37-50. For CRFs: Yang, Suk & Lee (2012), "Accelerating generalized
iterative scaling based on staggered Aitken method for on-line conditional random fields", IJWMIP 10(6).

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2,   where no feature is negative

    S ← the largest sum of features over all label sequences of all sequences
    repeat
        E ← expected counts at w
        d_f ← root of  E_f e^(S d) + 2 c2 (w_f + d) = O_f        O: observed counts; without a penalty ln(O_f/E_f) / S
        w ← w + d

F never increases: each step minimizes, for each weight separately, an upper bound on F that touches it at w. The steps
are shorter by a factor of about 1/S than steps for independent features, so this method is slow.

Differs from Yang et al. (2012): its penalized step, eq. 3.9, is the logarithm of O / (E + 2 c2 w), which is undefined
for features that do not occur and for large negative weights, and does not minimize a bound elsewhere; `rule="paper"`
takes it where it is defined. S is the largest feature sum of all label sequences, not of the gold ones, which give no
bound (`objective/feature_sums.py`). Without a penalty, no step changes the odds of a label sequence by more than 1e8.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import CountProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.iterative_scaling.fixed_point import STATE_FIELDS, Plain, follow
from fastcrf.solvers.iterative_scaling.maps import RULES, GeneralizedScaling
from fastcrf.solvers.options import check_choice


@solver
class GIS:
    """Train with generalized iterative scaling.

    Parameters
    ----------
    rule
        Penalized step: "exact", or "paper", that of Yang et al. (2012), which may increase the objective.
    """

    name: ClassVar[str] = "gis"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum, slowly"
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS

    rule: str = "exact"

    def __post_init__(self) -> None:
        check_choice(self.name, "rule", self.rule, RULES)

    def iterate(
        self, problem: CountProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        return (yield from follow(self.name, GeneralizedScaling(problem, self.rule), Plain(), weights, state))
