"""SGD-QN: stochastic gradient descent scaled by a diagonal of the inverse Hessian.

Bordes, Bottou & Gallinari (2009), "SGD-QN: careful quasi-Newton stochastic gradient descent", JMLR 10, pp. 1737-1754,
and its erratum, JMLR 11 (2010), pp. 2229-2240.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    D <- 1 (lambda times the paper's B),  r <- 2
    for t = 0, 1, ..., sequences i in random order;   a <- eta / (1 + eta lambda t)
        w' <- w - a D * grad nll_i(w)
        in every skip-th update but the first:
            ratio <- lambda (w' - w) / (lambda (w' - w) + grad nll_i(w') - grad nll_i(w)),   1 where w' = w
            D <- D + (2/r) (ratio - D), at least 1/100 and at most 100;   r <- r + 2
        in the update before each of those:  w' <- w' - skip a lambda D * w'         the penalty of skip updates at once
        w <- w'

All products of vectors are elementwise. A Step is one epoch; it counts the second gradients, one per `skip` updates.

Differs from the paper: the loss is that of a CRF, whose Hessian is not of rank one; 1 / t0 is lambda eta. An update
moves every weight, so its cost is proportional to the model size; the paper's depends on its features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np

from fastcrf.core.solver_state import COUNT as A_COUNT
from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import AnyProblem, SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_whole
from fastcrf.solvers.sgd.dense_descent import COUNT, DenseDescent
from fastcrf.solvers.sgd.options import STATE_FIELDS, StochasticDescent
from fastcrf.solvers.sgd.run import Descent
from fastcrf.solvers.sgd.schedules import Bottou, Schedule

LEAST, MOST = 0.01, 100.0  # of D


@solver
class SGDQN(StochasticDescent):
    """Train with SGD-QN, SGD with a diagonal scale for each weight.

    Parameters
    ----------
    skip
        Number of updates between two updates of the diagonal and of the penalty.
    """

    name: ClassVar[str] = "sgd-qn"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences", "subset-gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS | {
        "scales": StateField("weights", fill=1.0, low=0.0),
        COUNT: A_COUNT,
    }

    skip: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "skip", self.skip, 1)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> DenseDescent:
        return QuasiNewtonDescent(cast(AnyProblem, problem), weights, state, self.batch_size, self.skip)

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return Bottou(eta, descent.lam)


class QuasiNewtonDescent(DenseDescent):
    """Weights and the diagonal D."""

    def __init__(
        self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None, batch_size: int, skip: int
    ) -> None:
        super().__init__(problem, weights, state, batch_size, {"scales": 1.0})
        self.skip = skip

    def update(self, step: float, gradient: Floats, members: np.ndarray) -> None:
        moved = -step * self.now["scales"] * gradient
        self.now["weights"] += moved
        if self.count > 0 and self.count % self.skip == 0:
            self.learn_scales(moved, gradient, members)
        if (self.count + 1) % self.skip == 0:
            self.now["weights"] -= self.skip * step * self.lam * self.now["scales"] * self.now["weights"]

    def learn_scales(self, moved: Floats, gradient: Floats, members: np.ndarray) -> None:
        """Update the diagonal from the gradients of one sample before and after the update."""
        bent = self.lam * moved + self.mean_gradient(members)[1] - gradient
        ratio = np.divide(self.lam * moved, bent, out=np.ones_like(moved), where=(moved != 0.0) & (bent != 0.0))
        r = 2.0 * (self.count // self.skip)
        self.now["scales"] += 2.0 / r * (ratio - self.now["scales"])
        np.clip(self.now["scales"], LEAST, MOST, out=self.now["scales"])
