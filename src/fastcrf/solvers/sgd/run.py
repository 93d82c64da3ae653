"""A run of a stochastic method with any vector: epochs in random order, Steps, state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField
from fastcrf.core.types import NOTHING, Diverged, Floats, Longs, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.sgd.schedules import Schedule
from fastcrf.stochastic.sampling import epoch_permutation, epoch_uniforms
from fastcrf.stochastic.slices import Slices

COUNTED = ("epoch", "sampled", "updates", "wrong", "positions")
STATE_FIELDS = {
    "weights": WEIGHTS,
    "eta": StateField(low=0.0),
    **dict.fromkeys(COUNTED, COUNT),
    "loss": StateField(),
}
SCORES = "calibration_scores"
TUNED = {
    SCORES: StateField(n_axes=1, infinite=True, optional=True)
}  # scores of step sizes that were tuned by whole runs


def start_of(weights: Floats, state: Mapping[str, Any] | None, item: str = "weights") -> Floats:
    """Return the start: `weights`, or those of a state, which are read-only."""
    return np.array(state[item]) if state else weights


class Descent(Protocol):
    """Weights that descend sample by sample: scaled_descent.py, lazy_descent.py."""

    n_samples: int  # per epoch: sequences, or blocks of them
    unit: int  # samples per update
    lam: float  # the L2 penalty, mean scale
    evaluations: int  # sequences whose loss was computed
    lengths: Longs  # positions of each sample
    probabilities: Floats | None  # of the samples, with replacement; None if each occurs once per epoch

    @property
    def weights(self) -> Floats:
        """Return the weights of all features at the last `settle`."""
        ...

    @property
    def wrong(self) -> int | None:
        """Return the tokens predicted wrong, each before its update; None if they are not counted."""
        ...

    def n_updates(self, n_samples: int) -> int: ...

    def n_sequences(self, order: np.ndarray) -> int:
        """Return the number of sequences in these samples."""
        ...

    def descend(self, order: np.ndarray, steps: Floats) -> float:
        """Update with the samples `order`; return the sum of their losses, each before its update."""
        ...

    def loss(self, order: np.ndarray) -> float:
        """Return the summed loss of the samples `order` at the current weights."""
        ...

    def penalty(self) -> float:
        """Return the penalty at the current weights, mean scale."""
        ...

    def settle(self) -> None:
        """Flush into `weights`; later updates depend on nothing but `state()`."""
        ...

    def restore(self) -> None:
        """Return to the last `settle`, or to the start."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the entries of the state."""
        ...


class Run:
    """The state of one run and its epochs; solvers provide their schedule and yield its Steps."""

    def __init__(
        self,
        name: str,
        problem: SequenceProblem,
        state: Mapping[str, Any] | None,
        descent: Descent,
        *,
        seed: int = 0,
        steps: int = 1,
    ) -> None:
        self.name, self.problem, self.descent, self.seed = name, problem, descent, seed
        known = state or {"eta": 0.0, "loss": 0.0, **dict.fromkeys(COUNTED, 0)}
        self.eta = float(known["eta"])  # the first step size; 0 until it is known
        self.epoch, self.updates = int(known["epoch"]), int(known["updates"])  # of those that are done
        self.loss = float(known["loss"])  # of the epoch so far, like the next two
        self.wrong, self.positions = int(known["wrong"]), int(known["positions"])
        self.scores = [float(score) for score in known.get(SCORES, ())]  # of whole runs that were tried
        n, done = descent.n_samples, min(int(known["sampled"]), descent.n_samples)
        size = max(1, problem.slice_size * n // problem.n_sequences)
        self.slices = Slices(problem, n, size, steps, unit=descent.unit, done=done)

    def run_epoch(self, schedule: Schedule) -> Step:
        """Visit all samples in random order (or the rest before the next Step), in slices short enough for Ctrl-C."""
        order = self.order(self.epoch + 1)  # number 0 is for calibration
        info: dict[str, float] = {}
        for some in self.slices:
            steps = schedule.over(self.updates, self.descent.n_updates(some.stop - some.start))
            self.learn(order[some], steps)
            info = {"step_size": float(steps[-1])}
        if self.descent.wrong is not None:
            info["progressive_error"] = self.wrong / max(1, self.positions)
        if self.slices.finished:
            info["online_objective"] = self.loss + self.problem.n_sequences * self.descent.penalty()
            self.epoch, self.loss, self.wrong, self.positions = self.epoch + 1, 0.0, 0, 0
            self.slices.start_again()
        return self.step(info)

    def learn(self, samples: np.ndarray, steps: Floats) -> None:
        """Update with some samples, and add their losses and errors."""
        before = self.descent.wrong or 0  # calibration also counts
        self.loss += self.descent.descend(samples, steps)
        self.wrong += (self.descent.wrong or 0) - before
        self.positions += int(self.descent.lengths[samples].sum())
        self.updates += len(steps)

    def order(self, number: int) -> np.ndarray:
        """Return the samples of an epoch by its number."""
        n, p = self.descent.n_samples, self.descent.probabilities
        if p is None:
            return epoch_permutation(self.seed, number, n)
        sums = np.cumsum(p)
        return np.searchsorted(sums, epoch_uniforms(self.seed, number, n) * sums[-1], side="right")

    def step(self, info: Mapping[str, float] = NOTHING) -> Step:
        """Return the current Step, flushed: the run continues exactly as one that starts with these weights."""
        self.descent.settle()
        self.descent.restore()
        if not np.isfinite(self.descent.penalty() + self.loss + info.get("online_objective", 0.0)):
            raise Diverged(
                f"The weights or the losses of {self.name} are not finite after {self.updates} updates; "
                "try a smaller eta."
            )
        passes, self.descent.evaluations = self.descent.evaluations / self.problem.n_sequences, 0
        return Step(self.descent.weights, passes, info=info, state=self.state())

    def state(self) -> dict[str, Any]:
        """Return the state of a flushed run."""
        numbers = {name: getattr(self, name) for name in ("eta", "epoch", "updates", "loss", "wrong", "positions")}
        scores = {SCORES: np.array(self.scores)} if self.scores else {}
        return {**self.descent.state(), "sampled": self.slices.done, **numbers, **scores}
