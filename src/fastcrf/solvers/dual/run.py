"""The shared state of dual solvers: weights that follow a dual point, its entropies, and the progress of the run.

With alpha_i a distribution over the label sequences of sequence i and s_i its weight, in the sum scale:

    w(alpha) = sum_i s_i ( F(x_i, y_i) - E_{alpha_i} F ) / (2 c2)
    D(alpha) = sum_i s_i H(alpha_i) - c2 |w(alpha)|^2   <=   F*   <=   F(w(alpha))

A sequence that was not visited yet is at its gold label sequence, where entropy and residuals are 0. That is also a
dual point, so D is a lower bound at any time. The drift d of the lazy vector is the sum of the residuals, and w = -d /
(2 c2). With a prior, that w is the difference from it, and D has one more term, prior . d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.certificates.certificate import dual_bound
from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField, take
from fastcrf.core.types import NOTHING, Diverged, Floats, Step
from fastcrf.lazy_vectors.drifting_vector import make_drifting
from fastcrf.lazy_vectors.lazy_weights import LazyWeights
from fastcrf.objective.blocks import Blocks, Workspace, make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.simd.vectors import dot
from fastcrf.stochastic.slices import Slices
from fastcrf.system.memory_budget import require_memory

STATE_FIELDS = {
    "weights": WEIGHTS,
    "drift": WEIGHTS,
    "entropies": StateField("sequences"),
    **dict.fromkeys(("epoch", "sampled", "filled"), COUNT),
}


class DualWeights(NamedTuple):
    """The weights that follow a dual point, its entropies, and the arrays to evaluate a sequence at them."""

    blocks: Blocks
    vector: Any  # w and d (lazy_vectors/drifting_vector.py)
    entropies: Floats  # [N] s_i H(alpha_i)
    ridge: float  # 2 c2
    space: Workspace


class DualRun:
    """One run; the solver provides the work on a slice of sequences, and the arrays of its dual point by name.

    size_of: bytes that the dual point of a corpus takes;
    steps: number of Steps per epoch.
    """

    def __init__(
        self,
        name: str,
        problem: SequenceProblem,
        weights: Floats,
        state: Mapping[str, Any] | None,
        size_of: Callable[[Blocks], int],
        steps: int = 1,
    ) -> None:
        if weights.any() and not state:
            raise ValueError(
                f"{name} starts at the weights of its own first dual point and cannot start from given weights; omit "
                "them, or use a primal solver such as lbfgs or sag-nus-star."
            )
        self.name, self.problem, self.ridge = name, problem, 2.0 * problem.c2
        self.part = problem.part(np.zeros_like(weights))
        self.blocks = self.part.blocks
        remedy = "use a solver with a smaller state, such as lbfgs or sag-nus-star"
        require_memory(size_of(self.blocks), f"The dual point of {name} for these data", remedy)
        n = problem.n_sequences
        self.space = make_workspace(self.blocks)
        self.entropies = np.zeros(n)  # weighted
        self.filled, self.slices = (Slices(problem, n, problem.slice_size, stops) for stops in (1, steps))
        self.epoch, self.evaluations = 0, 0
        self.dual: dict[str, np.ndarray] = {}
        drift = np.zeros_like(weights)
        if state:
            weights, drift = np.array(state["weights"]), np.array(state["drift"])
            take(name, "entropies", state, self.entropies)
            self.epoch = int(state["epoch"])
            self.slices.done = min(int(state["sampled"]), n)
            self.filled.done = min(int(state["filled"]), n)
        self.lazy = LazyWeights(self.part, weights, drift, make_drifting)

    @property
    def following(self) -> DualWeights:
        """Return the arrays that kernels read and write."""
        return DualWeights(self.blocks, self.lazy.vector, self.entropies, self.ridge, self.space)

    def remember(self, state: Mapping[str, Any] | None, **arrays: np.ndarray) -> None:
        """Register arrays of the dual point, with their current values or those of `state`. Writes: arrays."""
        self.dual |= arrays
        for item, array in arrays.items() if state else ():
            take(self.name, item, state or NOTHING, array)

    def fill(self, work: Callable[[int, int], None]) -> None:
        """Run work(first, last) on the remaining sequences, or on fewer if asked to stop: their first dual point."""
        for some in self.filled:
            work(some.start, some.stop)
            self.evaluations += some.stop - some.start

    def end_epoch(self) -> None:
        """Begin the next epoch if all samples of this one are done."""
        if self.slices.finished:
            self.epoch += 1
            self.slices.start_again()

    def step(self, **info: float) -> Step:
        """Return the current Step, with lazy updates applied. The driver evaluates the objective there, outside the
        solver's clock.
        """
        square, w = self.lazy.settle(self.ridge), self.lazy.weights
        entropy, penalty = float(self.entropies.sum()), self.problem.c2 * dot(w, w)
        along_prior = self.part.along_prior(self.lazy.settled[1])
        if not math.isfinite(square + entropy + penalty):
            raise Diverged(f"The weights or the entropies of {self.name} are not finite after {self.epoch} epochs.")
        memory_bytes = sum(array.nbytes for array in self.dual.values())
        info = {"dual": entropy + along_prior - penalty, **info, "memory_bytes": memory_bytes}
        passes, self.evaluations = self.evaluations / self.problem.n_sequences, 0
        bound = dual_bound(entropy, self.lazy.settled[1], 0.0, self.problem.c2, along_prior)
        return Step(w, passes, info=info, state=self.state(), lower_bound=bound)

    def state(self) -> dict[str, Any]:
        numbers = {"epoch": self.epoch, "sampled": self.slices.done, "filled": self.filled.done}
        return {**self.lazy.state(), "entropies": self.entropies, **self.dual, **numbers}
