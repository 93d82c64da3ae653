"""Stochastic gradient descent with a calibrated step size.

Bottou (2010), "Large-scale machine learning with stochastic gradient descent", COMPSTAT, pp. 177-186, and his program
crfsgd; Shalev-Shwartz, Singer & Srebro (2007), ICML, for the scaled vector; schedules of Collins et al. (2008), JMLR 9,
and Tsuruoka, Tsujii & Ananiadou (2009), ACL.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    k <- 0
    repeat
        for each batch B of the sequences in random order
            g <- (1/|B|) sum of grad nll_i(w), i in B
            w <- (1 - a_k lambda) w - a_k g;   k <- k + 1

With sampling="nus", i is drawn half of the time at random and half in proportion to a bound on its Lipschitz constant
(objective/lipschitz_bounds.py), and its gradient is divided by n p_i (Needell, Srebro & Ward 2014, NIPS). Schmidt et
al. (2015), footnote 10, use the constants of SAG's line search; here they are bounds from the data.

A Step is one epoch. With the schedule "bottou", a_k = eta / (1 + eta lambda k) = 1 / (lambda (t0 + k)). Without `eta`,
short runs on a subset choose it (`calibration.py`); their evaluations count. `info["online_objective"]` is the sum of
the losses of the epoch, each before its update, plus c2 |w|^2 after it.

Differs from crfsgd: penalty and gradient are evaluated at the same weights; crfsgd shrinks after the gradient step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.lipschitz_bounds import bounds_of_blocks
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_positive
from fastcrf.solvers.sgd import schedules
from fastcrf.solvers.sgd.options import StochasticDescent
from fastcrf.solvers.sgd.run import Descent, start_of
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule


@solver
class SGD(StochasticDescent):
    """Train with stochastic gradient descent.

    Parameters
    ----------
    schedule
        Step sizes: "bottou", "constant", "sqrt", "inverse", "epoch" or "exponential".
    offset
        Of the schedule "inverse": update t has the step size eta / (offset + t).
    decay
        Of the schedule "exponential": factor per epoch.
    sampling
        "uniform", every sequence once per epoch, or "nus", in proportion to bounds on Lipschitz constants.
    """

    name: ClassVar[str] = "sgd"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    streams: ClassVar[bool] = True

    schedule: str = "bottou"
    offset: float = 1.0
    decay: float = 0.85
    sampling: str = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "schedule", self.schedule, schedules.NAMES)
        check_positive(self.name, "offset", self.offset)
        check_positive(self.name, "decay", self.decay)
        check_choice(self.name, "sampling", self.sampling, ("uniform", "nus"))

    @property
    def tunable(self) -> frozenset[str]:
        return frozenset({"eta", "decay"} if self.schedule == "exponential" else {"eta"})

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> ScaledDescent:
        probabilities = half_by_lipschitz(problem) if self.sampling == "nus" else None
        return ScaledDescent(problem, start_of(weights, state), self.batch_size, False, probabilities)

    def rates(self, descent: Descent, eta: float) -> Schedule:
        updates = descent.n_updates(descent.n_samples)
        return make_schedule(self.schedule, eta, descent.lam, updates, self.offset, self.decay)


def half_by_lipschitz(problem: SequenceProblem) -> Floats:
    """Return p_i = 1/(2n) + L_i / (2 sum of the L's)."""
    L = bounds_of_blocks(problem.corpus, problem.features, problem.n_sequences, seed=0)
    return 0.5 / len(L) + 0.5 * L / L.sum()
