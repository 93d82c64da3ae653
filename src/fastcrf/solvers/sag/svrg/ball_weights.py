"""The weights of EMGD: a center w~, iterates within a ball around it, and their mean.

The radius is the bound of strong convexity on the distance to the optimum w*, given the gradient of F at w~:

    |w~ - w*| <= |grad F(w~)| / (2 c2)         F in the sum scale, of which 2 c2 is the modulus of convexity
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField
from fastcrf.core.types import Floats
from fastcrf.lazy_vectors.ball_vector import D_D, RADIUS, SUMMED, make_ball
from fastcrf.lazy_vectors.lazy_vector import collect_values, settle, spread_values
from fastcrf.objective.movable import MovablePart

VECTORS = ("center", "shift", "total")  # w~, z = w - w~, and the sum of the z's
STATE_FIELDS = {**dict.fromkeys(VECTORS, WEIGHTS), "radius": StateField(low=0.0, infinite=True), "summed": COUNT}


class BallWeights:
    """Like `LazyWeights`, but the plain weights are the mean of the period so far, its first and last included."""

    def __init__(
        self, part: MovablePart, weights: Floats, drift: Floats, *, state: Mapping[str, Any] | None, ridge: float
    ) -> None:
        self.part, self.weights, self.drift, self.ridge = part, weights, drift, ridge
        nothing = np.zeros_like(weights)
        known = state or {"center": weights, "shift": nothing, "total": nothing, "radius": np.inf, "summed": 0}
        self.whole = {name: np.array(known[name]) for name in VECTORS}  # of all features
        self.moving = {name: part.take(vector) for name, vector in self.whole.items()}  # movable features
        self.settled = part.take(weights), part.take(drift)
        self.lanes = (0,) * part.blocks.layout.width
        self.vector, self.places, self.center_places = make_ball(
            part.blocks.layout, part.features, (self.moving["shift"], self.settled[1]),
            (self.moving["center"], self.moving["total"]), ridge, float(known["radius"]),
        )  # fmt: skip
        self.vector.state[SUMMED] = float(known["summed"])

    @property
    def radius(self) -> float:
        return float(self.vector.state[RADIUS])

    def settle(self, ridge: float) -> float:
        """Flush into the plain vectors; return |d + ridge w~|^2 of the movable features."""
        self._collect()
        np.add(self.moving["center"], self.moving["total"] / (self.vector.state[SUMMED] + 1.0), out=self.settled[0])
        moved = (*self.settled, *self.moving.values())
        for values, whole in zip(moved, (self.weights, self.drift, *self.whole.values()), strict=True):
            self.part.put(values, whole)
        return float(self.vector.state[D_D])

    def clear_drift(self) -> None:
        """Set d <- 0; the weights do not change."""
        self.settle(self.ridge)
        self.settled[1][:] = self.drift[:] = 0.0
        spread_values(self.moving["shift"], self.settled[1], self.places)

    def recenter(self) -> None:
        """Move the center to the mean of the period's weights."""
        self._collect()
        self.moving["center"] += self.moving["total"] / (self.vector.state[SUMMED] + 1.0)
        self.moving["shift"][:] = self.moving["total"][:] = 0.0
        self.vector.state[SUMMED] = 0.0
        spread_values(self.moving["center"], self.moving["total"], self.center_places)
        spread_values(self.moving["shift"], self.settled[1], self.places)

    def resize(self, project: bool, halve: bool) -> None:
        """Set the radius from the gradient at the center, or halve its square.

        There is no ball without `project`, or without a ridge to bound distances.
        """
        self._collect()
        state = self.vector.state
        if not project or self.ridge == 0.0:
            state[RADIUS] = np.inf
        elif halve:
            state[RADIUS] /= np.sqrt(2.0)
        else:
            state[RADIUS] = np.sqrt(state[D_D]) / self.ridge

    def _collect(self) -> None:
        settle(self.vector, self.places, 0.0, self.moving["shift"], self.settled[1], self.lanes)
        collect_values(self.center_places, 0.0, self.moving["center"], self.moving["total"])

    def state(self) -> dict[str, Any]:
        numbers = {"radius": self.radius, "summed": int(self.vector.state[SUMMED])}
        return {"weights": self.weights, "drift": self.drift, **self.whole, **numbers}
