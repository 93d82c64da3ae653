"""Natural gradient descent on Bregman divergences in batch: one update per pass, from the counts of all sequences.

Cao (2015), "Training conditional random fields with natural gradient descent", arXiv:1508.02373, section 3.2.

Updates U1 to U6 before section 3.3 makes them stochastic.

Minimizes a Bregman divergence between the expected and the observed mean of the features, measured by the model's own
metric, and (lambda/2) |w|^2, lambda = 2 c2 / n. It does not minimize the log-likelihood.

    t <- 0
    repeat
        u <- E - O,    E, O: expected and observed counts of all sequences, each over n
        w <- (1 - a lambda) w - a psi(u),    a = eta / (1 + eta lambda t);   t <- t + 1

psi is that of `ngd`, feature by feature (bregman_updates.py). With p = 2 it is gradient descent.

The paper gives no step size for batches. Here a is as in section 3.5; without `eta`, the first of 1, 2, 4, ... before
the one with which the first step raises the objective, or else the first of 1/2, 1/4, ... with which it falls. Each
trial is a pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import COUNT, POINT, StateField
from fastcrf.core.types import Diverged, Floats, Step
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.objective.capabilities import CountProblem, GradientProblem
from fastcrf.objective.evaluation import begin
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_positive
from fastcrf.solvers.sgd.ngd.bregman_updates import COUNTING, direction
from fastcrf.solvers.sgd.ngd.options import BregmanUpdate

MOST_TRIALS = 60


@solver
class NGDBatch(BregmanUpdate):
    """Train with natural gradient descent on f-divergences, one update per pass over the data.

    Parameters
    ----------
    eta
        First step size; None: a power of two with which the first step lowers the objective.
    """

    name: ClassVar[str] = "ngd-batch"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[Mapping[str, StateField]] = {**POINT, "eta": StateField(low=0.0), "updates": COUNT}

    eta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eta is not None:
            check_positive(self.name, "eta", self.eta)
        if isinstance(self.transformation(table=False), COUNTING):
            object.__setattr__(self, "needs", frozenset({"gradient", "counts"}))

    def iterate(
        self, problem: GradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        w, value, g, passes = begin(self.name, problem, weights, state)
        eta, updates = (float(state["eta"]), int(state["updates"])) if state else (self.eta or 0.0, 0)
        rule, lam = self.transformation(table=False), 2.0 * problem.c2 / problem.n_sequences
        observed = self._observed(problem, rule)
        while True:
            reached = {"weights": w, "value": value, "gradient": g, "eta": eta, "updates": updates}
            yield Step(w, passes, value, g, {"step_size": eta / (1.0 + eta * lam * updates)}, reached)
            psi = (g - 2.0 * problem.c2 * w) / problem.n_sequences
            transform(rule, psi, observed)
            ahead, passes = psi + lam * w, 1
            if not eta:
                eta, trials = first_step(problem, w, value, ahead)
                passes += trials
            w = w - eta / (1.0 + eta * lam * updates) * ahead
            updates += 1
            value, g = problem.gradient(w)
            if not np.isfinite(value):
                raise Diverged(f"{self.name} reached a point with the objective {value}; try a smaller eta.")

    def _observed(self, problem: GradientProblem, rule: Any) -> Floats:
        """Return O, or zeros if the update does not use it."""
        if isinstance(rule, COUNTING) and isinstance(problem, CountProblem):
            return problem.observed_counts() / problem.n_sequences
        return np.zeros(problem.n_weights)


def first_step(problem: GradientProblem, w: Floats, value: float, ahead: Floats) -> tuple[float, int]:
    """Return (a power of two by which a step against `ahead` lowers the objective, the passes spent)."""
    eta, found = 1.0, 0.0
    for trials in range(1, MOST_TRIALS + 1):
        if problem.value(w - eta * ahead) < value:
            found = eta
            if eta < 1.0:
                return found, trials
            eta *= 2.0
        elif found:
            return found, trials
        else:
            eta *= 0.5
    return found or eta, MOST_TRIALS


@noalloc_kernel
def transform(update, gaps, observed):
    """Replace each gap by its direction. Writes: gaps."""
    for f in range(len(gaps)):
        gaps[f] = direction(update, gaps[f], observed[f])
