"""Iterate a map to its fixed point, with or without extrapolation.

A map leads from weights to better ones, w -> M(w), and its fixed point is the optimum. One evaluation at a point
returns both the image and the objective there. A proposal beyond M(w) is therefore tested for free: if the objective is
higher than before, the plain step, which never increases it, is taken instead. The objective never increases.

Neither this file nor those of the proposals depend on the map.
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
    """The map to iterate."""

    def at(self, weights: Floats) -> Place:
        """Evaluate the map at a point. One pass."""
        ...


class Proposals(Protocol):
    """Proposals for the next point instead of the image of the current one."""

    def propose(self, place: Place) -> Floats | None:
        """Return weights to try, or None for the plain step."""
        ...

    def learn(self, before: Place, now: Place, was_proposed: bool) -> None:
        """Record a step that was taken."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the arrays to save, named as in `state_fields`."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None: ...


class Plain:
    """Make no proposals: w, M(w), M(M(w)), ..."""

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
    """Yield a Step for each point that is reached. `name` is the solver's."""
    if state:
        arrays = (np.array(state[item]) for item in ("weights", "gradient", "image"))
        w, gradient, image = arrays
        place, passes = Place(w, float(state["value"]), gradient, image), 0
        proposals.restore(state)
    else:
        place, passes = mapping.at(weights), 1
    if not is_finite(place):
        raise Diverged(f"{name} cannot start at weights with the objective {place.value}; start from other weights.")
    info: dict[str, float] = {}
    while not np.array_equal(place.image, place.weights):
        yield Step(
            place.weights, passes, place.value, place.gradient, info, {**place_state(place), **proposals.state()}
        )
        moved, passes, was_proposed = step_from(place, mapping, proposals)
        if not is_finite(moved):
            raise Diverged(f"{name} reached a point with the objective {moved.value}.")
        proposals.learn(place, moved, was_proposed)
        place = moved
        info = {"extrapolated": int(was_proposed)}
    yield Step(place.weights, passes, place.value, place.gradient, info, {**place_state(place), **proposals.state()})
    return f"{name} cannot improve further: the next step is below rounding."


def step_from(place: Place, mapping: Map, proposals: Proposals) -> tuple[Place, int, bool]:
    """Return (the next point, its number of evaluations, whether it was a proposal)."""
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
