"""The certificate of a run: the best lower bound on F*, from all evaluations of its solver.

A lower bound stays valid. Each evaluated step adds its cutting plane to a bundle (certificates/bundle.py), at the cost
of a few sums over the weights. The search for the best combination costs some fifty such sums. It runs when the bundle
is full, but not before the objective has nearly converged, and again when the run ends. If a step was evaluated only
for the certificate, it runs at once.

A solver with its own lower bound yields it with its Step, and the objective that it expects as
`info["objective_estimate"]`. No step is then evaluated before both together indicate that the target gap is near.

After resuming from an untrusted checkpoint these claims are ignored, because they depend on the solver's state; points
are then evaluated here.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from fastcrf.certificates.bundle import Bundle
from fastcrf.certificates.certificate import Certificate
from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step

logger = logging.getLogger("fastcrf")

BUDGET = 2**30  # bytes
LEAST = 4  # cutting planes that make a bundle useful
FIRST_OPTIMISM = 0.5  # estimates of the objective lag behind the weights by half an epoch on average
ARRAYS = {  # of the bundle, in a checkpoint
    "bundle_rows": StateField("weights", "float32", n_axes=2, optional=True),
    "bundle_figures": StateField(infinite=True, n_axes=2, optional=True),
    "bundle_rest": StateField(infinite=True, n_axes=1, optional=True),
}
NUMBERS = {
    "lower_bound": StateField(infinite=True, high=sys.float_info.max),
    "learnt": StateField(dtype="int64", low=-1),
    "unmixed": StateField(dtype="bool"),
    "believing": StateField(dtype="bool", optional=True),
    "objective_before": StateField(infinite=True),
    "optimism": StateField(low=0.0, high=1.0),
}
# While F falls by more than this fraction from one full bundle to the next, the gap was at least that large and remains
# about as large. The bound of a combination would be several times as far, and is not worth computing.
NEAR = 0.02


class RunPoint(Protocol):
    """The part of a Step within a run that the certifier reads. The driver's points implement it
    (training/trace.py).
    """

    step: Step
    number: int

    @property
    def weights(self) -> Floats: ...
    @property
    def is_evaluated(self) -> bool: ...
    @property
    def evaluation(self) -> tuple[float, Floats]: ...
    @property
    def estimated_gap(self) -> float | None: ...
    @property
    def own_certificate(self) -> Certificate: ...


class BoundedProblem(Protocol):
    """The part of a problem that a bundle needs: the penalty and the number of weights."""

    @property
    def c1(self) -> float: ...
    @property
    def c1_factors(self) -> Floats: ...
    @property
    def c2(self) -> float: ...
    @property
    def n_weights(self) -> int: ...
    @property
    def is_convex(self) -> bool: ...


class Certifier:
    """The certificate of a run. budget: memory budget of the bundle, in bytes."""

    def __init__(self, problem: BoundedProblem, budget: int = BUDGET) -> None:
        self.lower_bound = -math.inf
        self.bundle = make_bundle(problem, budget)
        self.learnt = -1  # number of the newest step in the bundle
        self.unmixed = False  # whether the newest plane is not yet part of a combination
        self.believing = True  # whether the objective, gradient and bound of Steps are trusted
        self.objective_before = math.inf  # when the bundle was last full
        self.optimism = FIRST_OPTIMISM  # certified gap / estimated gap, when both were last known

    def hear(self, step: Step) -> None:
        """Add the lower bound of a solver."""
        self._raise_to(step.lower_bound)

    def may_be_within(self, tol: float, point: RunPoint) -> bool:
        """Return whether the relative gap may be as small as `tol`, as far as known without evaluating the step."""
        if point.is_evaluated:
            return True
        if point.estimated_gap is None:  # a solver with its own bound will soon have an estimate
            return point.step.lower_bound is None
        return self.optimism * point.estimated_gap <= tol

    def learn(self, point: RunPoint) -> None:
        """Add the cutting plane of an evaluated step, once."""
        if point.number <= self.learnt:
            return
        self.learnt = point.number
        if self.bundle is None:
            return
        objective, gradient = point.evaluation
        self._raise_to(self.bundle.add(point.weights, objective, gradient))
        self.unmixed = bool(self.bundle.planes)
        if self.bundle.is_full:
            if self.objective_before - objective <= NEAR * objective:
                self.mix(point)
            self.objective_before = objective
            self.bundle.thin()

    def certify(self, point: RunPoint) -> Certificate:
        """Return the certificate of a step, which is evaluated if it was not."""
        own = point.own_certificate
        self._raise_to(own.lower_bound)
        self.learn(point)
        if point.step.gradient is None:
            self.mix(point)
        certificate = replace(own, objective=point.evaluation[0], lower_bound=self.lower_bound)
        if point.estimated_gap:
            self.optimism = min(1.0, certificate.relative_gap / point.estimated_gap)
        return certificate

    def mix(self, point: RunPoint) -> None:
        """Find the best combination now; `point` is the newest one added."""
        if self.bundle is not None and self.unmixed and point.number == self.learnt:
            self._raise_to(self.bundle.mix(point.weights, point.evaluation[0]))
            self.unmixed = False

    def _raise_to(self, bound: float | None) -> None:
        if bound is not None and bound > self.lower_bound:  # false for a NaN
            self.lower_bound = bound

    def arrays(self) -> dict[str, np.ndarray]:
        """Return arrays for a checkpoint. Live: copy to keep."""
        return {} if self.bundle is None else {f"bundle_{name}": a for name, a in self.bundle.state().items()}

    def numbers(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in NUMBERS}

    def restore(self, arrays: Mapping[str, np.ndarray], numbers: Mapping[str, Any] | None) -> None:
        """Restore from a checkpoint exactly; one without a certifier's state leaves the new one unchanged."""
        if numbers is None:
            return
        for name in self.numbers():
            setattr(self, name, numbers.get(name, getattr(self, name)))
        if self.believing and self.bundle is not None and arrays.keys() >= ARRAYS.keys():
            self.bundle.restore({name: arrays[f"bundle_{name}"] for name in self.bundle.state()})


def make_bundle(problem: BoundedProblem, budget: int) -> Bundle | None:
    """Return an empty bundle within the budget; None without a penalty or convexity, or, with a warning, if the
    budget is too small.
    """
    if not problem.is_convex or (problem.c1 == 0.0 and problem.c2 == 0.0):
        return None
    n = problem.n_weights
    capacity = Bundle.capacity_within(budget, n)
    if capacity >= LEAST:
        return Bundle(n, problem.c1, problem.c2, capacity, problem.c1_factors)
    logger.warning(
        "A tight certificate needs %.3g GB for %s weights but is limited to %.3g GB; the certified gap may be "
        "100 times the true gap.",
        *(4e-9 * n * (LEAST + 2), f"{n:,}", 1e-9 * budget),
    )
    return None
