"""What a run has proved: the best lower bound on F*, from all that its solver evaluated.

A lower bound never expires. Each evaluated step adds its plane to a bundle (certificates/bundle.py), for the cost of a
few sums over the weights. The best mixture is looked for when the bundle is full, which costs some fifty of them, but
not before the objective has come near its end; and once more when the run ends. Where a step was evaluated for the sake
of the certificate alone, it is looked for at once.

A solver that has a lower bound of its own hands it out with its Step, and what it expects the objective to be as
`info["objective_estimate"]`: then nothing is evaluated before both together say that the goal is near.

After a checkpoint of somebody else nothing of that is believed, because it is made of what the solver remembers: what
a point is worth is then evaluated here.
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
LEAST = 4  # planes that make a bundle worth while
FIRST_OPTIMISM = 0.5  # estimates of the objective lag behind the weights, by half an epoch in the mean
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
# While F falls by more than this of itself from one full bundle to the next, so much at least was left, and about as
# much will be left; the bound of a mixture would leave several times that open, and is not worth looking for.
NEAR = 0.02


class RunPoint(Protocol):
    """What the certifier reads of a Step within a run. The driver's points have it (training/trace.py)."""

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
    """What a bundle of cutting planes needs of a problem: the penalty and the number of weights."""

    @property
    def c1(self) -> float: ...
    @property
    def c1_factors(self) -> Floats: ...
    @property
    def c2(self) -> float: ...
    @property
    def n_weights(self) -> int: ...


class Certifier:
    """The certificate of a run. budget: bytes that the bundle may take."""

    def __init__(self, problem: BoundedProblem, budget: int = BUDGET) -> None:
        self.lower_bound = -math.inf
        self.bundle = make_bundle(problem, budget)
        self.learnt = -1  # number of the newest step in the bundle
        self.unmixed = False  # whether the newest plane has not been mixed with the others
        self.believing = True  # whether what Steps say of objective, gradient and bound is taken for true
        self.objective_before = math.inf  # when the bundle was last full
        self.optimism = FIRST_OPTIMISM  # gap as proved over gap as estimated, when last both were known

    def hear(self, step: Step) -> None:
        """Take in what a solver itself has proved."""
        self._raise_to(step.lower_bound)

    def may_be_within(self, tol: float, point: RunPoint) -> bool:
        """Whether the relative gap may be as small as `tol`, as far as one can tell without evaluating the step."""
        if point.is_evaluated:
            return True
        if point.estimated_gap is None:  # a solver that proves something by itself will soon have an estimate, too
            return point.step.lower_bound is None
        return self.optimism * point.estimated_gap <= tol

    def learn(self, point: RunPoint) -> None:
        """Take in what an evaluated step proves, once."""
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
        """What is proved of a step, which is evaluated if it was not."""
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
        """Look for the best mixture now; `point` is the newest that was learnt."""
        if self.bundle is not None and self.unmixed and point.number == self.learnt:
            self._raise_to(self.bundle.mix(point.weights, point.evaluation[0]))
            self.unmixed = False

    def _raise_to(self, bound: float | None) -> None:
        if bound is not None and bound > self.lower_bound:  # not true for a NaN
            self.lower_bound = bound

    def arrays(self) -> dict[str, np.ndarray]:
        """For a checkpoint. Live: copy to keep."""
        return {} if self.bundle is None else {f"bundle_{name}": a for name, a in self.bundle.state().items()}

    def numbers(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in NUMBERS}

    def restore(self, arrays: Mapping[str, np.ndarray], numbers: Mapping[str, Any] | None) -> None:
        """Go on from a checkpoint, exactly; one without a certifier's state leaves the new one as it is."""
        if numbers is None:
            return
        for name in self.numbers():
            setattr(self, name, numbers.get(name, getattr(self, name)))
        if self.believing and self.bundle is not None and arrays.keys() >= ARRAYS.keys():
            self.bundle.restore({name: arrays[f"bundle_{name}"] for name in self.bundle.state()})


def make_bundle(problem: BoundedProblem, budget: int) -> Bundle | None:
    """An empty bundle within the budget; None, and a word, if that is too small. None if there is no penalty."""
    if problem.c1 == 0.0 and problem.c2 == 0.0:
        return None
    n = problem.n_weights
    capacity = Bundle.capacity_within(budget, n)
    if capacity >= LEAST:
        return Bundle(n, problem.c1, problem.c2, capacity, problem.c1_factors)
    logger.warning(
        "The gradients that make a certificate tight would take %.3g GB for %s weights, and may take %.3g GB; without "
        "them the certified gap may be a hundred times the true one.",
        *(4e-9 * n * (LEAST + 2), f"{n:,}", 1e-9 * budget),
    )
    return None
