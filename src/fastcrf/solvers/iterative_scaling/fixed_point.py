"""Following a map to its fixed point, plainly or with extrapolation.

A map leads from weights to better ones, w -> M(w), and its fixed point is the optimum. Evaluated at a point it says two
things at once, where it leads and what the objective is there. So a proposal to go further than M(w) is tested for
free: if the objective is higher than before, the plain step, which is never higher, is taken instead. The objective
never rises.

Nothing here or in the files of the proposals knows what the map is.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastcrf.core.solver_state import POINT, WEIGHTS, StateField
from fastcrf.core.types import Diverged, Floats, Step


class Place(NamedTuple):
    """A point at which the map was evaluated."""

    weights: Floats
    value: float  # F there
    gradient: Floats
    image: Floats  # M(weights)


class Map(Protocol):
    """What is followed."""

    def at(self, weights: Floats) -> Place:
        """One evaluation, one pass."""
        ...


class Proposals(Protocol):
    """Where to go instead of the image of where one is."""

    def propose(self, place: Place) -> Floats | None:
        """Weights to try, or None for the plain step."""
        ...

    def learn(self, before: Place, now: Place, was_proposed: bool) -> None:
        """Take in a step that was taken."""
        ...

    def state(self) -> dict[str, Any]:
        """What it remembers, named as in `state_fields`."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None: ...


class Plain:
    """No proposals: w, M(w), M(M(w)), ..."""

    def propose(self, place: Place) -> Floats | None:
        return None

    def learn(self, before: Place, now: Place, was_proposed: bool) -> None:
        pass

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


STATE_FIELDS: dict[str, StateField] = {**POINT, "image": WEIGHTS}


def follow(
    name: str, mapping: Map, proposals: Proposals, weights: Floats, state: Mapping[str, Any] | None
) -> Generator[Step, None, str]:
    """A Step for each point that is reached. `name` is the solver's."""
    if state:
        arrays = (np.array(state[item]) for item in ("weights", "gradient", "image"))
        w, gradient, image = arrays
        place, passes = Place(w, float(state["value"]), gradient, image), 0
        proposals.restore(state)
    else:
        place, passes = mapping.at(weights), 1
    if not is_finite(place):
        raise Diverged(f"{name} cannot start where the objective is {place.value}.")
    info: dict[str, float] = {}
    while not np.array_equal(place.image, place.weights):
        yield Step(
            place.weights, passes, place.value, place.gradient, info, {**place_state(place), **proposals.state()}
        )
        moved, passes, was_proposed = step_from(place, mapping, proposals)
        if not is_finite(moved):
            raise Diverged(f"{name} came to a point where the objective is {moved.value}.")
        proposals.learn(place, moved, was_proposed)
        place = moved
        info = {"extrapolated": int(was_proposed)}
    yield Step(place.weights, passes, place.value, place.gradient, info, {**place_state(place), **proposals.state()})
    return f"{name} stays where it is: the next step is below rounding."


def step_from(place: Place, mapping: Map, proposals: Proposals) -> tuple[Place, int, bool]:
    """(the next point, evaluations that it took, whether it was a proposal)."""
    proposed, passes = proposals.propose(place), 0
    if proposed is not None:
        trial = mapping.at(proposed)
        if is_finite(trial) and trial.value <= place.value:
            return trial, 1, True
        passes = 1
    return mapping.at(place.image), passes + 1, False


def is_finite(place: Place) -> bool:
    return math.isfinite(place.value) and bool(np.isfinite(place.image).all())


def place_state(place: Place) -> dict[str, Any]:
    return {"weights": place.weights, "value": place.value, "gradient": place.gradient, "image": place.image}
