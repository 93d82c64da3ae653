"""Finishing what OWL-QN began: Newton-like steps on the face of the L1 penalty that a point lies on.

Where no weight changes its sign, c1 |w|_1 is linear, and the objective is smooth in the weights that are not zero. So:

    repeat
        free <- the weights that are not zero, and those at zero whose slope exceeds c1 (they get its sign)
        minimize over the free weights by L-BFGS, as if their signs could not change
        go there, with weights that did change their sign set to zero; if F rises, half as far, a quarter ...

OWL-QN needs hundreds of passes for the last digits; once it has found nearly the right face, this needs few.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fastcrf.certificates.certificate import Certificate
from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import RunProblem
from fastcrf.penalties.regularizer import NO_FACTORS
from fastcrf.solvers.registry import make
from fastcrf.stopping import GradientNorm, MaxPasses, Rule
from fastcrf.training.driver import minimize

ROUNDS = 20
PASSES_A_ROUND = 60.0
SHRINKAGE = 0.01  # of the gradient norm, in a round
HALVINGS = 6
PAIRS = 20


class Face:
    """The objective as a smooth function of the free weights."""

    c1, c1_factors = 0.0, NO_FACTORS
    provides = frozenset({"gradient"})

    def __init__(self, problem: RunProblem, weights: Floats, gradient: Floats) -> None:
        signs = np.sign(weights)
        entering = (signs == 0.0) & (np.abs(gradient) > problem.c1)
        signs[entering] = -np.sign(gradient[entering])
        self.problem, self.free = problem, np.flatnonzero(signs)
        self.asked_to_stop: Callable[[], bool] = lambda: False
        self.slopes = problem.c1 * signs[self.free]
        self.signs = signs
        self.c2, self.n_jobs, self.n_sequences = problem.c2, problem.n_jobs, problem.n_sequences

    @property
    def n_weights(self) -> int:
        return len(self.free)

    def embedded(self, free: Floats) -> Floats:
        """All weights, those that are not free being zero."""
        weights = np.zeros(len(self.signs))
        weights[self.free] = free
        return weights

    is_convex = True

    def gradient(self, free: Floats) -> tuple[float, Floats]:
        smooth, gradient = self.problem.gradient(self.embedded(free))
        return smooth + float(self.slopes @ free), gradient[self.free] + self.slopes

    def value(self, free: Floats) -> float:
        return self.gradient(free)[0]

    def certificate(self, free: Floats, objective: float | None = None, gradient: Floats | None = None) -> Certificate:
        """Nothing is certified here: the whole problem's certificate counts."""
        return Certificate(self.value(free) if objective is None else objective, -np.inf)


def polish(problem: RunProblem, weights: Floats, tol: float) -> tuple[Floats, Certificate]:
    """Lower weights, and their certificate; at best within `tol` of the optimum, at worst what was given."""
    for _ in range(ROUNDS):
        smooth, gradient = problem.gradient(weights)
        objective = smooth + problem.c1 * float(np.abs(weights).sum())
        certificate = problem.certificate(weights, objective, gradient)
        if certificate.relative_gap <= tol:
            break
        face = Face(problem, weights, gradient)
        better = step_towards(problem, face, weights, best_on(face, weights), objective)
        if better is None:
            break
        weights = better
    return weights, problem.certificate(weights)


def best_on(face: Face, weights: Floats) -> Floats:
    """The minimum over a face, about; signs may be violated."""
    start = weights[face.free]
    goal = SHRINKAGE * float(np.linalg.norm(face.gradient(start)[1]))
    rules: list[Rule] = [GradientNorm(goal, norm="l2"), MaxPasses(PASSES_A_ROUND)]
    return face.embedded(minimize(face, make("lbfgs", pairs=PAIRS), start, stop=rules).weights)


def step_towards(problem: RunProblem, face: Face, weights: Floats, target: Floats, objective: float) -> Floats | None:
    """A point with a lower objective on the way, no weight of which left the face; None if there is none."""
    for halving in range(HALVINGS):
        point = weights + 0.5**halving * (target - weights)
        point[point * face.signs <= 0.0] = 0.0
        if problem.value(point) < objective:
            return point
    return None
