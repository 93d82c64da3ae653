"""Generalized iterative scaling with Anderson acceleration.

Anderson (1965), "Iterative procedures for nonlinear integral equations", Journal of the ACM 12(4), pp. 547-560; in the
form of Walker & Ni (2011), "Anderson acceleration for fixed-point iterations", SIAM J. Numerical Analysis 49(4),
pp. 1715-1735.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2,   where no feature is negative

    repeat                                              M: one step of penalized GIS, see gis.py
        v ← the combination of the last m + 1 images with the shortest step (anderson.py)
        w ← v if F(v) <= F(w), else M(w), and earlier points are discarded

This generalizes Aitken's rule, which has one ratio: here there are m of them, for m pairs of vectors.

Differs from the papers: proposals that increase F are rejected; normal equations instead of a QR factorization.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import CountProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.iterative_scaling import anderson, fixed_point
from fastcrf.solvers.iterative_scaling.anderson import Anderson
from fastcrf.solvers.iterative_scaling.maps import RULES, GeneralizedScaling
from fastcrf.solvers.options import check_choice, check_whole


@solver
class AndersonGIS:
    """Train with iterative scaling, accelerated by Anderson's method.

    Parameters
    ----------
    pairs
        Number of previous changes to combine.
    rule
        Penalized step: "exact", or "paper", that of Yang et al. (2012), which may increase the objective.
    """

    name: ClassVar[str] = "anderson-gis"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = {**fixed_point.STATE_FIELDS, **anderson.STATE_FIELDS}

    pairs: int = 6
    rule: str = "exact"

    def __post_init__(self) -> None:
        check_whole(self.name, "pairs", self.pairs, 1)
        check_choice(self.name, "rule", self.rule, RULES)

    def iterate(
        self, problem: CountProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        mapping, proposals = GeneralizedScaling(problem, self.rule), Anderson(self.pairs, problem.n_weights)
        return (yield from fixed_point.follow(self.name, mapping, proposals, weights, state))
