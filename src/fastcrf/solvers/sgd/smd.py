"""Stochastic meta-descent: every weight has its own step size, adapted by the effect of earlier steps.

Schraudolph (1999), "Local gain adaptation in stochastic gradient descent", ICANN; Vishwanathan, Schraudolph, Schmidt &
Murphy (2006), "Accelerated training of conditional random fields with stochastic gradient methods", ICML, pp. 969-976;
a baseline of Schmidt et al. (2015), AISTATS.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    p <- 1 (gains),  v <- 0
    for each batch B of the sequences in random order
        g <- (1/|B|) sum of grad nll_i(w) + lambda w;    h <- (1/|B|) sum of the Hessians of nll_i(w) times v + lambda v
        p <- p * max(1/2, 1 - meta_rate g * v)           v: the change of w for larger step sizes
        w <- w - eta p * g
        v <- decay v - eta p * (g + decay h)

All products of vectors are elementwise. A Step is one epoch, of two passes: gradients and Hessians. Its state holds the
gains and v.

Differs from the paper: step sizes are eta p, so that eta can be calibrated as for other solvers.

An update moves every weight, as printed, so its cost is proportional to the model size. Without a penalty, updates of
weights that a batch does not use could be lazy: only their v decays. With a penalty, g = lambda w and h = lambda v
change their p, w and v, each by the other two. No closed form replaces k such updates, so lazy updates save nothing.
(There is one for constant p: with a = 1 - eta p lambda, w becomes a^k w, and v becomes (decay a)^k v - eta p lambda
a^(k-1) w sum of decay^i, i < k. But the gains that the penalty moves are part of the method.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from fastcrf.core.solver_state import COUNT as A_COUNT
from fastcrf.core.solver_state import WEIGHTS, StateField
from fastcrf.core.types import Floats
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.objective.capabilities import AnyProblem, SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_not_negative
from fastcrf.solvers.sgd.dense_descent import COUNT, DenseDescent
from fastcrf.solvers.sgd.options import STATE_FIELDS, StochasticDescent
from fastcrf.solvers.sgd.run import Descent
from fastcrf.solvers.sgd.schedules import Constant, Schedule


@solver
class SMD(StochasticDescent):
    """Train with stochastic meta-descent, a gain for each weight.

    Parameters
    ----------
    meta_rate
        Step size of the gains, mu.
    decay
        Decay factor of the trace v of earlier updates, lambda of the paper, from 0 to 1.
    """

    name: ClassVar[str] = "smd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences", "subset-gradient", "sequence-hessian"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS | {
        "gains": StateField("weights", fill=1.0, low=0.0),
        "direction": WEIGHTS,
        COUNT: A_COUNT,
    }

    batch_size: int = 5
    calibration: str = "powers"
    meta_rate: float = 0.02
    decay: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative(self.name, "meta_rate", self.meta_rate)
        check_not_negative(self.name, "decay", self.decay)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> DenseDescent:
        return MetaDescent(cast(AnyProblem, problem), weights, state, self.batch_size, self.meta_rate, self.decay)

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return Constant(eta)


class MetaDescent(DenseDescent):
    """Weights, gains and directions."""

    def __init__(
        self,
        problem: AnyProblem,
        weights: Floats,
        state: Mapping[str, Any] | None,
        batch_size: int,
        meta_rate: float,
        fading: float,
    ) -> None:
        super().__init__(problem, weights, state, batch_size, {"gains": 1.0, "direction": 0.0})
        self.meta_rate, self.fading = float(meta_rate), float(fading)

    def update(self, step: float, gradient: Floats, members: np.ndarray) -> None:
        """Update gains, weights and directions in this order (Vishwanathan et al. 2006, section 3)."""
        w, p, v = self.now["weights"], self.now["gains"], self.now["direction"]
        self.evaluations += len(members)
        bent = self.problem.sequence_hessian_product(w, v, members) / len(members)
        move_and_learn(w, p, v, gradient, bent, Rates(self.lam, step, self.meta_rate, self.fading))


class Rates(NamedTuple):
    """lambda, the step size, mu and the decay of v, in the notation of the paper."""

    lam: float
    step: float
    meta: float
    fading: float


@noalloc_kernel
def move_and_learn(w, p, v, gradient, bent, rates):
    """Update with the gradient of a batch and its Hessian times v, both without the penalty. Writes: w, p, v."""
    lam, step, fading = rates.lam, rates.step, rates.fading
    for f in range(len(w)):
        g, h = gradient[f] + lam * w[f], bent[f] + lam * v[f]
        factor = 1.0 - rates.meta * g * v[f]
        p[f] *= 0.5 if factor < 0.5 else factor  # Vishwanathan et al. (2006), section 3: the gains,
        w[f] -= step * p[f] * g  # the weights,
        v[f] = fading * v[f] - step * p[f] * (g + fading * h)  # and their derivative with respect to the gains
