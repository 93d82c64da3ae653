"""Pegasos: stochastic gradient descent with steps eta / (lambda t).

Shalev-Shwartz, Singer, Srebro & Cotter (2011), "Pegasos: primal estimated sub-gradient solver for SVM", Mathematical
Programming 127(1); a baseline of Schmidt et al. (2015), AISTATS.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    for t = 1, 2, ..., sequences i in random order
        a <- eta / (lambda t);   w <- (1 - a lambda) w - a grad nll_i(w)

A Step is one epoch. With eta = 1 the first step discards the start, and is n / (2 c2) gradients long: the first
iterates are far from the optimum. With average=True, the weights of a Step are the mean of all iterates.

Differs from the paper: the loss is that of a CRF; no projection on a ball, as in Schmidt et al. (2015); permutations
instead of independent samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_truth, seed_of
from fastcrf.solvers.sgd.asg import AVERAGE, averaged, averaging
from fastcrf.solvers.sgd.options import STATE_FIELDS, StochasticDescent
from fastcrf.solvers.sgd.run import Descent, start_of
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from fastcrf.solvers.sgd.schedules import Inverse, Schedule


@solver
class Pegasos(StochasticDescent):
    """Train with Pegasos, SGD with the step size 1 / (lambda t).

    Parameters
    ----------
    average
        Whether the result is the mean of all iterates.
    """

    name: ClassVar[str] = "pegasos"
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS | {
        item: kept._replace(optional=True) for item, kept in AVERAGE.items()
    }

    calibration: str = "powers"
    average: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_truth(self.name, "average", self.average)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> Descent:
        if self.average:
            return averaging(problem, weights, state, self.batch_size, seed_of(self))
        return ScaledDescent(problem, start_of(weights, state), self.batch_size, shrink_first=False)

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return Inverse(eta / descent.lam, offset=0.0)

    def reported(self, step: Step) -> Step:
        return averaged(step) if self.average else step
