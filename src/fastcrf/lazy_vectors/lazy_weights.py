"""The weights of a run in a lazy vector, and as plain vectors on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.lazy_vectors.lazy_vector import LazyVector, Places, settle, spread_values
from fastcrf.objective.movable import MovablePart

Make = Callable[..., tuple[Any, Places]]  # (layout, features, w, d) -> a lazy vector


class MovedWeights(Protocol):
    """The interface of a run's weights, independent of how samples move them."""

    weights: Floats  # of all features, current after `settle`, like the next two
    drift: Floats
    settled: tuple[Floats, Floats]  # of the features that samples can move
    lanes: tuple[int, ...]

    @property
    def vector(self) -> LazyVector: ...

    def settle(self, ridge: float) -> float: ...

    def clear_drift(self) -> None: ...

    def state(self) -> dict[str, Any]: ...


class LazyWeights:
    """Weights w and drift d of all features; those that samples can move are in a lazy vector."""

    def __init__(self, part: MovablePart, weights: Floats, drift: Floats, make: Make) -> None:
        self.part, self.weights, self.drift = part, weights, drift
        self.settled = part.take(weights), part.take(drift)
        self.lanes = (0,) * part.blocks.layout.width
        self.vector: LazyVector
        self.vector, self.places = make(part.blocks.layout, part.features, *self.settled)

    def settle(self, ridge: float) -> float:
        """Flush into the plain vectors; return |d + ridge w|^2 of the movable features."""
        square = settle(self.vector, self.places, ridge, *self.settled, self.lanes)
        for values, whole in zip(self.settled, (self.weights, self.drift), strict=True):
            self.part.put(values, whole)
        return square

    def current(self) -> Floats:
        """Return a copy of the current movable weights; `weights` and `settled` do not change."""
        weights, drift = np.empty((2, len(self.settled[0])))
        settle(self.vector, self.places, 0.0, weights, drift, self.lanes)
        return weights

    def restore(self) -> None:
        """Return to the last `settle`, or to the start."""
        self.current()
        spread_values(*self.settled, self.places)

    def clear_drift(self) -> None:
        """Set d <- 0; the weights do not change."""
        self.settle(0.0)
        self.settled[1][:] = self.drift[:] = 0.0
        spread_values(*self.settled, self.places)

    def state(self) -> dict[str, Any]:
        return {"weights": self.weights, "drift": self.drift}
