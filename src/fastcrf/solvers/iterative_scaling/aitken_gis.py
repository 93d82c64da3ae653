"""Generalized iterative scaling with Aitken acceleration.

Yang, Suk & Lee (2012), "Accelerating generalized iterative scaling based on staggered Aitken method for on-line
conditional random fields", IJWMIP 10(6); after Hesterberg (2005), "Staggered Aitken acceleration for EM", ASA Section
on Statistical Computing, pp. 2101-2110, and Huang, Yang & Hsu (2005), "Triple jump acceleration for the EM algorithm",
ICDM.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2,   where no feature is negative

    repeat                                              M: one step of penalized GIS, see gis.py
        w' ← M(w),  w'' ← M(w')
        g ← ratio of w'' - w' to w' - w                 estimate 1, 2 or 3, or that of each component (aitken.py)
        v ← w' + (w'' - w') / (1 - g)                   eq. 4.6
        w ← v if F(v) <= F(w'), else w''

That is staggered: a plain step between two accelerations, and two evaluations of M per cycle. Otherwise every step is
accelerated, with J estimated from the last two points, accelerated or not: w - v and M(w) - M(v).

Presets: `triple-jump` is estimate 2; `componentwise-triple-jump` (CTJPIS) has a ratio for each component, within ±0.9;
`aitken-gis` is not staggered.

Differs from the paper: this is the batch form, with the exact penalized step. Ratios are limited to 0.9999 (those of
long sentences exceed 0.99, where all estimates would be one), and no acceleration is tried if the two moves have
opposite directions. Haemmerlin & Hoffmann's r = 2 / (2 - l_max - l_min) uses the third and the first estimate for the
extreme eigenvalues, which the paper does not specify. F(v) is compared with F(w'), which is known, rather than with
F(w''), which is not: F never increases, and an evaluation is saved.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.exceptions import OptionError
from fastcrf.objective.capabilities import CountProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.iterative_scaling import aitken, fixed_point
from fastcrf.solvers.iterative_scaling.aitken import GAMMAS, LENGTHS, Aitken, Extrapolation
from fastcrf.solvers.iterative_scaling.maps import RULES, GeneralizedScaling
from fastcrf.solvers.options import check_choice, check_positive, check_truth, check_whole


@solver
class AitkenGIS:
    """Train with iterative scaling, accelerated by Aitken's method.

    Parameters
    ----------
    gamma
        Estimate of the ratio of two moves: 1, 2 or 3.
    staggered
        Whether each accelerated step is followed by a plain one.
    componentwise
        Whether each weight has its own ratio.
    length
        "aitken", 1 / (1 - ratio), or "haemmerlin-hoffmann".
    limit
        Largest ratio, below 1.
    rule
        Penalized step: "exact", or "paper", that of Yang et al. (2012), which may increase the objective.
    """

    name: ClassVar[str] = "staggered-aitken-gis"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {**fixed_point.STATE_FIELDS, **aitken.STATE_FIELDS}

    gamma: int = 3
    staggered: bool = True
    componentwise: bool = False
    length: str = "aitken"
    limit: float = 0.9999
    rule: str = "exact"

    def __post_init__(self) -> None:
        check_whole(self.name, "gamma", self.gamma, 1)
        check_truth(self.name, "staggered", self.staggered)
        check_truth(self.name, "componentwise", self.componentwise)
        check_choice(self.name, "length", self.length, LENGTHS)
        check_positive(self.name, "limit", self.limit)
        check_choice(self.name, "rule", self.rule, RULES)
        if self.gamma not in GAMMAS:
            message = f"{self.name}: gamma must be 1, 2 or 3; got gamma={self.gamma!r}."
            raise OptionError(message, self.name, "gamma", self.gamma)
        if self.limit >= 1.0:
            message = f"{self.name}: limit must be below 1; got limit={self.limit!r}."
            raise OptionError(message, self.name, "limit", self.limit)

    def iterate(
        self, problem: CountProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        how = Extrapolation(self.gamma, self.componentwise, self.length, self.limit)
        mapping = GeneralizedScaling(problem, self.rule)
        return (yield from fixed_point.follow(self.name, mapping, Aitken(how, self.staggered), weights, state))
