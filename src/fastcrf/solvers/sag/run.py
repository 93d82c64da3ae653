"""The state of a run of SAG's family: weights, stored gradients and their sum d, Lipschitz constants, samples done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fastcrf.certificates.certificate import dual_bound
from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField, take
from fastcrf.core.types import Diverged, Floats, Step
from fastcrf.lazy_vectors.lazy_weights import MovedWeights
from fastcrf.objective.blocks import make_workspace
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.movable import MovablePart
from fastcrf.penalties.proximal import proximal_step
from fastcrf.simd.vectors import norm
from fastcrf.solvers.sag.loop import Average, State, average_gradient_samples, fill_gradients
from fastcrf.solvers.sag.schemes.lipschitz_search import make_direction
from fastcrf.solvers.sag.schemes.scheme import Scheme, restore, step_size
from fastcrf.stochastic.block_evaluation import ENTROPY, LOSS
from fastcrf.stochastic.gradient_storage import make_gradients, restore_gradients, stored_arrays
from fastcrf.stochastic.recomputed_gradients import make_recomputed, take_snapshot
from fastcrf.stochastic.sampling import epoch_uniforms
from fastcrf.stochastic.slices import Slices

Samples = Callable[[Floats], int]  # from uniforms to the number of recursions

STORED = StateField("sequences", optional=True)
STATE_FIELDS = {
    "weights": WEIGHTS,
    "drift": WEIGHTS,
    **dict.fromkeys(("nodes", "rows", "cells", "edges"), STORED),
    "snapshot": WEIGHTS._replace(optional=True),
    "figures": StateField("sequences"),
    **dict.fromkeys(("epoch", "sampled", "filled", "covered"), COUNT),
    **dict.fromkeys(("whole", "moved", "filling"), StateField(dtype="int64", low=0, high=1)),
    "loss": StateField(),
}


class Method(NamedTuple):
    """The choices of a solver of the family for a run.

    growth, correction: see loop.py; storage, precision: see stochastic/gradient_storage.py.
    """

    name: str  # of the solver, for messages
    scheme: Scheme
    lazy: Callable[[MovablePart, Floats, Floats], MovedWeights]  # creates the weights that samples move
    seed: int
    filling: bool  # whether the gradients of all blocks are stored before the first sample
    storage: str
    precision: str
    growth: float = 1.0
    correction: float = 0.0
    n_samples: int | None = None  # per epoch, if not equal to the number of blocks
    steps: int = 1  # number of Steps per epoch


class Run:
    """One run of a method; a solver of the family determines when it fills and when it samples."""

    def __init__(
        self, method: Method, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None
    ) -> None:
        self.name, self.problem, self.seed = method.name, problem, method.seed
        self.filling = filling = bool(state["filling"]) if state else method.filling
        self.ridge = 2.0 * problem.c2
        n_blocks = len(method.scheme.seen)
        weights = np.array(state["weights"]) if state else weights
        drift = np.array(state["drift"]) if state else np.zeros_like(weights)
        self.part = problem.part(weights, n_blocks, self.seed, whole=bool(state and state["whole"]))
        self.sizes = np.diff(self.part.blocks.chains.bounds)  # sequences of each block
        self.recomputing = method.storage == "none"
        self.lazy = method.lazy(self.part, weights, drift)
        self.arrays = self._arrays(method)
        self.provable = method.precision == "double" and method.growth > 0.0  # rounded gradients certify nothing
        size = max(1, problem.slice_size * n_blocks // problem.n_sequences)
        self.slices = Slices(problem, n_blocks if method.n_samples is None else method.n_samples, size, method.steps)
        self.filled = Slices(problem, n_blocks, size, done=0 if filling else n_blocks)
        self.epoch, self.evaluations, self.loss, self.moved = 0, 0, 0.0, not filling
        if state:
            self._restore(state)
        self.snapshot = np.array(state["snapshot"]) if state and "snapshot" in state else np.zeros_like(weights)
        if self.recomputing:
            take_snapshot(self.arrays.average.gradients, self.part, self.snapshot)

    def _arrays(self, method: Method) -> State:
        blocks, problem = self.part.blocks, self.problem
        stored = None if self.recomputing else make_gradients(blocks, method.storage, method.precision)
        direction = make_direction(blocks)
        average = Average(
            blocks,
            vector=self.lazy.vector,
            gradients=stored or make_recomputed(self.part),
            figures=np.zeros((self.n_blocks, 2)),  # the gold label sequences' figures at first
            space=make_workspace(blocks),
            scores=direction.scores,
        )
        return State(
            average,
            scheme=method.scheme,
            covered=np.array([problem.n_sequences if self.filling or problem.c1 > 0.0 else 0]),
            direction=direction,
            lam=problem.regularizer.mean_scale(problem.n_sequences)[1],
            growth=method.growth,
            correction=method.correction,
        )

    @property
    def n_blocks(self) -> int:
        return len(self.sizes)

    def fill(self) -> None:
        """Evaluate the remaining blocks, or fewer if asked to stop: their gradients are stored, and d is their sum."""
        if self.filled.done == 0:
            self._begin_fill()
        for some in self.filled:
            self.loss += fill_gradients(self.arrays.average, some.start, some.stop, self.lazy.lanes)
            self.evaluations += int(self.sizes[some].sum())

    def _begin_fill(self) -> None:
        self.loss, self.moved = 0.0, False
        if self.recomputing:
            self.lazy.clear_drift()
            np.copyto(self.snapshot, self.lazy.weights)
            take_snapshot(self.arrays.average.gradients, self.part, self.snapshot)

    def sample(self, advance: Samples | None = None, per_sample: int = 1) -> None:
        """Take the remaining samples before the next Step, or fewer if asked to stop."""
        uniforms = epoch_uniforms(self.seed, self.epoch, per_sample * self.slices.n).reshape(self.slices.n, per_sample)
        uniforms = uniforms[:, 0] if per_sample == 1 else uniforms
        for some in self.slices:
            self.evaluations += (advance or self.average_gradient_samples)(uniforms[some])
            self.moved = True

    def average_gradient_samples(self, uniforms: Floats) -> int:
        """Take a sample for each of the uniforms by the loop of loop.py; return the number of recursions."""
        return average_gradient_samples(self.arrays, uniforms, self.lazy.lanes)

    def begin_epoch(self) -> None:
        self.epoch += 1
        self.slices.start_again()

    def step(self) -> Step:
        """Return the current Step, with lazy updates applied; right after a fill, with its exact objective and
        gradient.
        """
        square = self.lazy.settle(self.ridge)
        if not math.isfinite(square + self.loss):
            raise Diverged(f"The weights or the losses of {self.name} are not finite after {self.epoch} epochs.")
        passes, self.evaluations = self.evaluations / self.problem.n_sequences, 0
        step = Step(
            self.lazy.weights, passes, info=self._info(square), state=self.state(), lower_bound=self._lower_bound()
        )
        if self.moved or not self.filled.finished:
            return step
        objective = self.loss + self.problem.regularizer.value(self.lazy.weights)
        gradient = self.lazy.drift + self.ridge * self.lazy.weights
        if self.problem.c1 == 0.0:
            step = step._replace(info={**step.info, "gradient_norm_estimate": norm(gradient)})
        return step._replace(objective=objective, gradient=gradient)

    def _info(self, square: float) -> dict[str, float]:
        a, c1 = float(step_size(self.arrays.scheme, self.arrays.lam)), self.problem.c1
        known = (
            self.filled.finished if self.filling else bool(self.arrays.scheme.seen.all())
        )  # something of every block
        kept = (self.snapshot,) if self.recomputing else stored_arrays(self.arrays.average.gradients).values()
        stored = sum(array.nbytes for array in kept)
        seen = self.problem.n_sequences if self.filling else int(self.sizes[self.arrays.scheme.seen > 0].sum())
        info = {"seen": seen, "step_size": a, "memory_bytes": stored}
        if known and self.moved:  # losses of the last visits, the oldest from about an epoch ago
            losses = float(self.arrays.average.figures[:, LOSS].sum())
            info["objective_estimate"] = losses + self.problem.regularizer.value(self.lazy.weights)
        near = known and (self.arrays.growth > 0.0 or not self.moved)  # d is a gradient near w, not one at w~
        info["largest_slope_estimate"] = self._largest_component(c1) if near else math.inf
        if c1 > 0.0:
            return info | {"proximal_gradient_norm_estimate": self._proximal_norm(a, c1) if near else math.inf}
        return info | {"gradient_norm_estimate": math.sqrt(square) if near else math.inf}

    def _lower_bound(self) -> float | None:
        """Return the lower bound from the table of gradients: it is a dual point, d its gradient (certificate.py)."""
        if not self.provable:
            return None
        entropy = float(self.arrays.average.figures[:, ENTROPY].sum())
        slopes = self.lazy.settled[1]
        return dual_bound(entropy, slopes, self.problem.c1, self.problem.c2, self.part.along_prior(slopes))

    def _proximal_norm(self, a: float, c1: float) -> float:
        """Return |w - soft(w - s (d + 2 c2 w), s c1)| / s, with s = a / n: the gradient norm if there are no
        thresholds.
        """
        (w, d), s = self.lazy.settled, a / self.problem.n_sequences
        return norm(w - proximal_step(w, d + self.ridge * w, s, c1)) / s

    def _largest_component(self, c1: float) -> float:
        """Return n times the paper's |d/n + lambda w|_inf; with thresholds, of the minimum-norm subgradient."""
        w, d = self.lazy.settled
        slopes = d + self.ridge * w
        sizes = np.abs(slopes + c1 * np.sign(w)) if c1 > 0.0 else np.abs(slopes)
        if c1 > 0.0:
            sizes[w == 0.0] = np.maximum(sizes[w == 0.0] - c1, 0.0)
        return float(sizes.max(initial=0.0))

    def state(self) -> dict[str, Any]:
        """Return the state of a Step: STATE_FIELDS, plus the entries of the weights and the scheme."""
        numbers = {"epoch": self.epoch, "sampled": self.slices.done, "filled": self.filled.done, "loss": self.loss}
        flags = {"moved": self.moved, "filling": self.filling, "whole": not len(self.part.places)}
        numbers |= {"covered": int(self.arrays.covered[0])} | {name: int(flag) for name, flag in flags.items()}
        kept = {"snapshot": self.snapshot} if self.recomputing else stored_arrays(self.arrays.average.gradients)
        known = {**kept, "figures": self.arrays.average.figures, **self.arrays.scheme.state()}
        return {**self.lazy.state(), **known, **numbers}

    def _restore(self, state: Mapping[str, Any]) -> None:
        restore_gradients(self.arrays.average.gradients, state)
        take(self.name, "figures", state, self.arrays.average.figures)
        restore(self.arrays.scheme, state, partial(take, self.name))
        self.epoch, self.loss, self.moved = int(state["epoch"]), float(state["loss"]), bool(state["moved"])
        self.slices.done = min(int(state["sampled"]), self.slices.n)
        self.filled.done = min(int(state["filled"]), self.filled.n)
        self.arrays.covered[0] = min(int(state["covered"]), self.problem.n_sequences)
