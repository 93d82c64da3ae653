"""Generalised iterative scaling.

Darroch & Ratcliff (1972), "Generalized iterative scaling for log-linear models", Annals of Mathematical Statistics 43,
pp. 1470-1480. With a penalty: Chen & Rosenfeld (2000), "A survey of smoothing techniques for ME models", IEEE
Transactions on Speech and Audio Processing 8(1), pp. 37-50. For CRFs: Yang, Suk & Lee (2012), "Accelerating generalized
iterative scaling based on staggered Aitken method for on-line conditional random fields", IJWMIP 10(6).

Minimises   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2,   where no feature is negative

    S ← the largest sum of features that any labelling of any sequence has
    repeat
        E ← expected counts at w
        d_f ← root of  E_f e^(S d) + 2 c2 (w_f + d) = O_f        O: observed counts; without a penalty ln(O_f/E_f) / S
        w ← w + d

F never rises: what is minimised for each weight by itself is an upper bound on F that touches it at w. The steps are
about 1/S of what they would be if features did not compete for labellings, so this is slow.

Differs from yang2012: its penalised step, eq. 3.9, is the logarithm of O / (E + 2 c2 w), which is undefined for
features that do not occur and for large negative weights, and is no minimum of anything elsewhere; `rule="paper"` takes
it where it exists. S is the largest mass of all labellings, not of the gold ones, which bound nothing
(`objective/masses.py`). Without a penalty, no step changes the odds of a labelling by more than 1e8.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.memory import Kept
from fastcrf.objective.capabilities import CountProblem
from fastcrf.solvers.options import check_choice
from fastcrf.solvers.scaling.fixed_point import KEEPS, Plain, follow
from fastcrf.solvers.scaling.maps import RULES, GeneralisedScaling
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class GIS:
    """rule: the penalised step, "exact" or as the "paper" has it, which may raise the objective."""

    name: ClassVar[str] = "gis"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    promises: ClassVar[str] = "slow optimum"
    keeps: ClassVar[Mapping[str, Kept]] = KEEPS

    rule: str = "exact"

    def __post_init__(self) -> None:
        check_choice(self.name, "rule", self.rule, RULES)

    def iterate(
        self, problem: CountProblem, weights: Floats, memory: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        return (yield from follow(self.name, GeneralisedScaling(problem, self.rule), Plain(), weights, memory))
