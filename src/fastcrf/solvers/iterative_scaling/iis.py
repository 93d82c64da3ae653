"""Improved iterative scaling for chains: Algorithm T.

Lafferty, McCallum & Pereira (2001), "Conditional random fields: probabilistic models for segmenting and labeling
sequence data", ICML, pp. 282-289, section 3; after Della Pietra, Della Pietra & Lafferty (1997), "Inducing features of
random fields", IEEE Transactions on Pattern Analysis and Machine Intelligence 19(4), pp. 380-393.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2,   where no feature is negative

    T(x) ← the largest sum of features over all label sequences of x
    repeat
        E_t ← expected counts at w of the sequences with T(x) = t
        d_f ← root of  sum_t E_tf e^(t d) + 2 c2 (w_f + d) = O_f
        w ← w + d

Short sequences then take longer steps than in generalized iterative scaling, which uses the largest sum of all. F never
increases.

Differs from the paper: feature values may be real, and if there are more distinct sums than `groups`, sequences with
similar sums are counted together, with the largest sum among them (which bounds all of them). The paper has no penalty.
T(x) is found by Viterbi's algorithm (`objective/feature_sums.py`). Without a penalty, the weight of a feature that
never occurs decreases by steps that change the odds by 1e8.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import CountProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.iterative_scaling.fixed_point import STATE_FIELDS, Plain, follow
from fastcrf.solvers.iterative_scaling.maps import ImprovedScaling
from fastcrf.solvers.options import check_whole


@solver
class IIS:
    """Train with improved iterative scaling.

    Parameters
    ----------
    groups
        Groups of sequences by the sum of their features; each needs memory for one vector of weights.
    """

    name: ClassVar[str] = "iis"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum, slowly"
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS

    groups: int = 16

    def __post_init__(self) -> None:
        check_whole(self.name, "groups", self.groups, 1)

    def iterate(
        self, problem: CountProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        return (yield from follow(self.name, ImprovedScaling(problem, self.groups), Plain(), weights, state))
