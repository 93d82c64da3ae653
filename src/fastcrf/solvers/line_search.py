"""Line searches: strong Wolfe for smooth objectives, backtracking within an orthant for L1.

A `Ray` evaluates the objective at weights + t * direction. A search evaluates trials until one is acceptable, and
returns it with their number. A failed search returns no trial; the solver decides how to continue.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from fastcrf.core.types import Floats
from fastcrf.objective.capabilities import GradientProblem
from fastcrf.simd.vectors import dot

# The loss is a small difference of large sums (log Z minus the score of the gold labels), so its value may have this
# relative error (5e-11 was seen with a weak penalty). Closer to the optimum, values carry no information, and only
# derivatives, which stay accurate, decide: the approximate Wolfe test of Hager & Zhang (2005), whose constant is 1e-6.
NOISE = 1e-9
ROUNDING = 1e-13  # no value is more accurate than this


class Trial(NamedTuple):
    """One evaluation of the objective on a ray."""

    step: float
    value: float
    slope: float  # derivative along the direction here, or the predicted change since the start (OrthantRay)
    weights: Floats
    gradient: Floats  # of the smooth part

    def is_within(self, allowed: float) -> bool:
        """Return whether value and slope are finite, and the value is at most `allowed`."""
        return math.isfinite(self.value) and math.isfinite(self.slope) and self.value <= allowed


class End(NamedTuple):
    """An end of a bracket that is not the result: the numbers of a trial without its arrays."""

    step: float
    value: float
    slope: float


class Search(NamedTuple):
    """The result of a search (None: nothing lower) and its number of trials, each one evaluation of the gradient."""

    found: Trial | None
    trials: int


class Ray(Protocol):
    """The objective along a half-line."""

    def at(self, step: float) -> Trial: ...


class SmoothRay(NamedTuple):
    """A smooth objective along `direction`; trial.slope is its derivative."""

    problem: GradientProblem
    weights: Floats
    direction: Floats

    def at(self, step: float) -> Trial:
        moved = step * self.direction
        moved += self.weights
        value, gradient = self.problem.gradient(moved)
        return Trial(step, value, dot(gradient, self.direction), moved, gradient)


def strong_wolfe(
    ray: Ray,
    value: float,
    slope: float,
    step: float,
    *,
    max_trials: int = 20,
    decrease: float = 1e-4,
    curvature: float = 0.9,
) -> Search:
    """Find a step with value(t) <= value + decrease t slope and |slope(t)| <= curvature |slope|.

    Nocedal & Wright (2006), algorithms 3.5 and 3.6 in one loop. `low` is the lowest point that decreases enough, with a
    derivative that points into the interval [low, high]; without a `high` the interval is still open and the step
    grows. A value that is not finite counts as too high. When trials run out, a `low` that decreases is accepted.
    """
    slack = NOISE * abs(value)
    low: Trial | End = End(0.0, value, slope)
    before = low
    high: End | None = None
    for trials in range(1, max_trials + 1):
        trial = ray.at(step)
        allowed = min(value + decrease * step * slope, low.value) + slack
        if not trial.is_within(allowed):
            high = End(*trial[:3])
        elif abs(trial.slope) <= -curvature * slope:
            return Search(trial, trials)
        else:
            inwards = 1.0 if high is None else high.step - low.step
            if trial.slope * inwards >= 0.0:
                high = End(*low[:3])
            before, low = low, trial
        step = _beyond(before, low) if high is None else _between(low, high, slack)
    return Search(low if isinstance(low, Trial) else None, trials)


def backtrack(
    ray: Ray, value: float, step: float, *, shrink: float = 0.5, max_trials: int = 20, decrease: float = 1e-4
) -> Search:
    """Find the first of step, shrink step, ... that gains at least `decrease` of the predicted change (Armijo)."""
    for trials in range(1, max_trials + 1):
        trial = ray.at(step)
        if trial.slope < 0.0 and trial.is_within(value + decrease * trial.slope):
            return Search(trial, trials)
        if -trial.slope <= ROUNDING * abs(value):  # smaller changes are not visible in the values
            break
        step *= shrink
    return Search(None, trials)


def _beyond(before: Trial | End, low: Trial | End) -> float:
    """Return a longer step: the minimum of the cubic through both trials, within 1.1 to 4 times the last interval."""
    width = low.step - before.step
    further = _cubic_minimum(before, low) - low.step
    return low.step + (min(max(further, 1.1 * width), 4.0 * width) if further > 0.0 else 4.0 * width)


def _between(low: Trial | End, high: End, slack: float) -> float:
    """Return a step inside the bracket, at least 10 % of its width from both ends."""
    width = high.step - low.step
    if not (math.isfinite(high.value) and math.isfinite(high.slope)):
        return low.step + 0.1 * width
    lowest = _secant(low, high) if abs(high.value - low.value) <= slack else _cubic_minimum(low, high)
    share = (lowest - low.step) / width
    return low.step + width * (min(max(share, 0.1), 0.9) if math.isfinite(share) else 0.5)


def _cubic_minimum(a: Trial | End, b: Trial | End) -> float:
    """Return the minimum of the cubic with both values and derivatives (Nocedal & Wright, eq. 3.59); inf if there is
    none.
    """
    d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.step - b.step)
    radicand = d1 * d1 - a.slope * b.slope
    if not radicand >= 0.0:
        return math.inf
    d2 = math.copysign(math.sqrt(radicand), b.step - a.step)
    below = b.slope - a.slope + 2.0 * d2
    return b.step - (b.step - a.step) * (b.slope + d2 - d1) / below if below != 0.0 else math.inf


def _secant(a: Trial | End, b: Trial | End) -> float:
    """Return the zero of the line through both derivatives; inf if there is none."""
    change = b.slope - a.slope
    return a.step - a.slope * (b.step - a.step) / change if change != 0.0 else math.inf
