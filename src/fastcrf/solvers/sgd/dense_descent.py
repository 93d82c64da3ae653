"""Stochastic descent on plain vectors, for methods whose updates move every weight by individual rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import AnyProblem
from fastcrf.simd.vectors import dot
from fastcrf.solvers.sgd.run import start_of

COUNT = "counted"


class DenseDescent(ABC):
    """Vectors by name, including "weights": their values in `now`, and at the last `settle`.

    first: the initial values of the others, by name; count: updates so far.
    """

    probabilities: Floats | None = None
    wrong: int | None = None

    def __init__(
        self,
        problem: AnyProblem,
        weights: Floats,
        state: Mapping[str, Any] | None,
        batch_size: int,
        first: Mapping[str, float],
    ) -> None:
        self.problem, self.n_samples, self.unit = problem, problem.n_sequences, min(batch_size, problem.n_sequences)
        self.lam = problem.regularizer.mean_scale(self.n_samples)[1]
        self.evaluations, self.lengths = 0, np.diff(problem.corpus.starts)
        self.settled = {"weights": start_of(weights, state)}
        for name, value in first.items():
            self.settled[name] = start_of(np.full_like(weights, value), state, name)
        self.settled_count = int(state[COUNT]) if state else 0
        self.restore()

    @abstractmethod
    def update(self, step: float, gradient: Floats, members: np.ndarray) -> None:
        """Move by the mean gradient of the loss of some sequences. Writes: now."""

    def mean_gradient(self, members: np.ndarray) -> tuple[float, Floats]:
        """Return (summed loss, mean gradient) of some sequences at the current weights."""
        self.evaluations += len(members)
        loss, gradient = self.problem.subset_gradient(self.now["weights"], members)
        return loss, gradient / len(members)

    @property
    def weights(self) -> Floats:
        return self.settled["weights"]

    def n_updates(self, n_samples: int) -> int:
        return -(-n_samples // self.unit)

    def n_sequences(self, order: np.ndarray) -> int:
        return len(order)

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        total = 0.0
        for k, step in enumerate(steps):
            members = order[k * self.unit : (k + 1) * self.unit]
            loss, gradient = self.mean_gradient(members)
            total += loss
            if step != 0.0:
                self.update(step, gradient, members)
                self.count += 1
        return total

    def loss(self, order: np.ndarray) -> float:
        return self.descend(order, np.zeros(self.n_updates(len(order))))

    def penalty(self) -> float:
        w = self.now["weights"]
        return 0.5 * self.lam * dot(w, w)  # NaN if w is, whatever lambda

    def settle(self) -> None:
        for name, values in self.now.items():
            self.settled[name][:] = values
        self.settled_count = self.count

    def restore(self) -> None:
        self.now = {name: values.copy() for name, values in self.settled.items()}
        self.count = self.settled_count

    def state(self) -> dict[str, Any]:
        return {**self.settled, COUNT: self.settled_count}
