"""Stochastic gradient descent within an L1 ball.

Duchi, Shalev-Shwartz, Singer & Chandra (2008), "Efficient projections onto the l1-ball for learning in high
dimensions", ICML, pp. 272-279; Tsuruoka, Tsujii & Ananiadou (2009), section 5, name it as the alternative to a penalty.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w)   subject to   |w|_1 <= radius

    for each sequence i in random order
        a <- step size
        w <- nearest point of the ball to w - a grad nll_i(w)       soft(., theta), theta such that |w|_1 = radius

It has no penalty: with the radius |w*|_1 of a penalized optimum w*, it has the same optimum, and objectives can be
compared. A Step is one epoch. The first update projects a start outside the ball.

Differs from the paper: theta is found by a few sums per update over a list of the nonzero weights, not from a red-black
tree (l1_ball_vector.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_positive, seed_of
from fastcrf.solvers.sgd.l1.l1_ball_vector import make_l1_ball
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent
from fastcrf.solvers.sgd.options import SparseSteps, StochasticDescent


@solver
class SGDL1Ball(SparseSteps, StochasticDescent):
    """Train with SGD, projected on the L1 ball, without a penalty.

    Parameters
    ----------
    radius
        Radius of the ball: the largest sum of |w|.
    """

    name: ClassVar[str] = "sgd-l1-ball"
    handles: ClassVar[frozenset[str]] = frozenset({"none"})
    guarantee: ClassVar[str] = "no objective"

    radius: float = 1000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self.name, "radius", self.radius)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> LazyDescent:
        make = partial(make_l1_ball, radius=self.radius)
        return LazyDescent(problem, weights, state, make, Keeping(), self.batch_size, seed_of(self))
