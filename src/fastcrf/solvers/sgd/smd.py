"""Stochastic meta-descent: every weight has a step size of its own, which follows how it did so far.

Schraudolph (1999), "Local gain adaptation in stochastic gradient descent", ICANN; Vishwanathan, Schraudolph, Schmidt &
Murphy (2006), "Accelerated training of conditional random fields with stochastic gradient methods", ICML, pp. 969-976;
a baseline of Schmidt et al. (2015), AISTATS.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    p <- 1 (gains),  v <- 0
    for each batch B of the sequences in random order
        g <- (1/|B|) sum of grad nll_i(w) + lambda w;    h <- (1/|B|) sum of the Hessians of nll_i(w) times v + lambda v
        p <- p * max(1/2, 1 - meta_rate g * v)           v says how w would be if the step sizes had been larger
        w <- w - eta p * g
        v <- memory v - eta p * (g + memory h)

all products of vectors element by element. A Step is one epoch, of two passes: gradients and Hessians. Its memory holds
the gains and v.

Differs from the paper: step sizes are eta p, so that eta can be calibrated like that of others. An update moves every
weight, as printed, and costs what the model costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from fastcrf.memory import WEIGHTS, Kept
from fastcrf.objective.capabilities import AnyProblem, SequenceProblem
from fastcrf.solvers.options import check_not_negative
from fastcrf.solvers.sgd.run import Descent, start_of
from fastcrf.solvers.sgd.schedules import Constant, Schedule
from fastcrf.solvers.sgd.stochastic_descent import KEEPS, StochasticDescent
from fastcrf.types import Floats
from fastcrf.vectors import dot


@dataclass(frozen=True)
class SMD(StochasticDescent):
    """meta_rate: how quickly gains change; memory: how long v remembers, from 0 to 1; others: see StochasticDescent."""

    name: ClassVar[str] = "smd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences", "subset-gradient", "sequence-hessian"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    keeps: ClassVar[Mapping[str, Kept]] = KEEPS | {"gains": Kept("weights", fill=1.0, low=0.0), "direction": WEIGHTS}

    batch: int = 5
    calibration: str = "powers"
    meta_rate: float = 0.02
    memory: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative(self.name, "meta_rate", self.meta_rate)
        check_not_negative(self.name, "memory", self.memory)

    def descent(self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None) -> MetaDescent:
        return MetaDescent(cast(AnyProblem, problem), weights, memory, self.batch, self.meta_rate, self.memory)

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return Constant(eta)


class MetaDescent:
    """Dense weights, gains and directions; `kept` is where they were settled."""

    probabilities: Floats | None = None

    def __init__(
        self,
        problem: AnyProblem,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        batch: int,
        meta_rate: float,
        fading: float,
    ) -> None:
        self.problem, self.n_draws, self.unit = problem, problem.n_sequences, min(batch, problem.n_sequences)
        self.lam = problem.regulariser.mean_scale(self.n_draws)[1]
        self.meta_rate, self.fading, self.evaluations = meta_rate, fading, 0
        self.kept = {
            "weights": start_of(weights, memory),
            "gains": start_of(np.ones_like(weights), memory, "gains"),
            "direction": start_of(np.zeros_like(weights), memory, "direction"),
        }
        self.v: Floats
        self.restore()

    @property
    def weights(self) -> Floats:
        return self.kept["weights"]

    def n_updates(self, n_draws: int) -> int:
        return -(-n_draws // self.unit)

    def n_sequences(self, order: np.ndarray) -> int:
        return len(order)

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        total = 0.0
        for k, step in enumerate(steps):
            members = order[k * self.unit : (k + 1) * self.unit]
            loss, gradient = self.problem.subset_gradient(self.w, members)
            total += loss
            self.evaluations += len(members)
            if step != 0.0:
                self.update(step, gradient, members)
        return total

    def update(self, step: float, gradient: Floats, members: np.ndarray) -> None:
        """One batch: vishwanathan2006, section 3, in the order gains, weights, direction."""
        bent = self.problem.sequence_hessian_product(self.w, self.v, members) / len(members) + self.lam * self.v
        g = gradient / len(members) + self.lam * self.w
        self.evaluations += len(members)
        self.p *= np.maximum(0.5, 1.0 - self.meta_rate * g * self.v)
        self.w -= step * self.p * g
        self.v = self.fading * self.v - step * self.p * (g + self.fading * bent)

    def loss(self, order: np.ndarray) -> float:
        return self.descend(order, np.zeros(self.n_updates(len(order))))

    def penalty(self) -> float:
        return 0.5 * self.lam * dot(self.w, self.w) + 0.0 * float(self.w.sum())  # without a penalty, NaN is NaN, too

    def settle(self) -> None:
        for kept, now in zip(self.kept.values(), (self.w, self.p, self.v), strict=True):
            kept[:] = now

    def restore(self) -> None:
        self.w, self.p = self.kept["weights"].copy(), self.kept["gains"].copy()
        self.v = self.kept["direction"].copy()

    def state(self) -> dict[str, Any]:
        return dict(self.kept)
