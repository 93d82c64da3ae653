"""AdaGrad: each weight has its own step size, from the squares of its gradients so far.

Duchi, Hazan & Singer (2011), "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 12,
with proximal (composite mirror descent) updates; a baseline of Schmidt et al. (2015), AISTATS.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda2/2) |w|^2 + lambda1 |w|_1,   lambda2 = 2 c2/n,  lambda1 = c1/n

    G <- 0
    for each block B of sequences in random order
        g <- (1/|B|) sum of grad nll_i(w), i in B            the loss alone
        for all weights j:
            G_j <- G_j + g_j^2;   a_j <- eta / (delta + sqrt(floor + G_j))
            w_j <- soft(w_j - a_j g_j, a_j lambda1) / (1 + a_j lambda2)

where soft(x, t) moves x towards zero by t and stops there. A sample updates the weights of its sequences alone. Lazy
updates apply the penalty to the others exactly when they are next needed (lazy_vectors/adaptive_vector.py).

A Step is one epoch; its state holds the weights and G. `info["online_objective"]` is the sum of the losses of the
epoch, each before its update, plus the penalty after it. One epoch from zero is a good start for a batch solver.

The form of Schmidt et al. (2015) is delta=1, floor=0, with eta among powers of ten. The defaults, delta=0 and floor=1,
need no calibration: on chunking, one epoch with eta=0.2 matched the best eta of the other form.

Differs from the paper: the composite term is the penalty alone; blocks are formed once, before the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.exceptions import OptionError
from fastcrf.lazy_vectors.adaptive_vector import make_adaptive
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_not_negative, seed_of
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent
from fastcrf.solvers.sgd.options import STATE_FIELDS, StochasticDescent
from fastcrf.solvers.sgd.run import Descent
from fastcrf.solvers.sgd.schedules import Constant, Schedule

KEEPING = Keeping("squared_gradients")


@solver
class AdaGrad(StochasticDescent):
    """Train with AdaGrad, a step size for each weight, with L1 and L2 penalties.

    Parameters
    ----------
    delta
        Number added to the square root of the sum of squared gradients.
    floor
        Number added to the sum of squared gradients, under the root. `delta` or `floor` must be above 0.
    """

    name: ClassVar[str] = "adagrad"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS | {KEEPING.drift: StateField("weights", low=0.0)}
    streams: ClassVar[bool] = True

    eta: float | None = 0.2
    calibration: str = "powers"
    delta: float = 0.0
    floor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative(self.name, "delta", self.delta)
        check_not_negative(self.name, "floor", self.floor)
        if self.delta + self.floor == 0.0:
            message = (
                f"{self.name}: delta and floor are both 0, so the first step is unbounded; set one of them above 0."
            )
            raise OptionError(message, self.name, "delta", self.delta)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> LazyDescent:
        penalty = problem.regularizer.mean_scale(problem.n_sequences)
        make = partial(make_adaptive, penalty=penalty, delta=self.delta, floor=self.floor)
        return LazyDescent(problem, weights, state, make, KEEPING, self.batch_size, seed_of(self))

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return Constant(eta)
