"""Anderson's acceleration of a map: the linear combination of the last points with the shortest step.

c ← argmin | r - R c |,     r = M(w) - w,   columns of R: the last changes of r
w ← M(w) - G c                              columns of G: the last changes of M(w)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.simd.vectors import dot
from fastcrf.solvers.iterative_scaling.fixed_point import Place

STATE_FIELDS = {"image_changes": StateField("weights", n_axes=2), "step_changes": StateField("weights", n_axes=2)}
SMALLEST = 1e-12  # of the least squares' eigenvalues, relative to the largest


class Anderson:
    """Proposals from the last changes, at most `pairs`. A rejected proposal discards the changes before it."""

    def __init__(self, pairs: int, n_weights: int) -> None:
        self.images = np.empty((pairs, n_weights))
        self.steps = np.empty((pairs, n_weights))
        self.n = 0

    def propose(self, place: Place) -> Floats | None:
        if self.n == 0:
            return None
        step = place.image - place.weights
        rows = self.steps[: self.n]
        gram = np.array([[dot(a, b) for b in rows] for a in rows])
        shares = np.linalg.lstsq(gram, np.array([dot(row, step) for row in rows]), rcond=SMALLEST)[0]
        proposed = place.image.copy()
        for share, change in zip(shares, self.images, strict=False):
            proposed -= share * change
        return proposed

    def learn(self, before: Place, now: Place, was_proposed: bool) -> None:
        if not was_proposed:
            self.n = 0
        elif self.n == len(self.images):
            self.images[:-1], self.steps[:-1] = self.images[1:], self.steps[1:]
            self.n -= 1
        np.subtract(now.image, before.image, out=self.images[self.n])
        np.subtract(self.images[self.n], now.weights - before.weights, out=self.steps[self.n])
        self.n += 1

    def state(self) -> dict[str, Any]:
        return {"image_changes": self.images[: self.n], "step_changes": self.steps[: self.n]}

    def restore(self, state: Mapping[str, Any]) -> None:
        images, steps = (np.asarray(state[name])[-len(self.images) :] for name in STATE_FIELDS)
        self.n = min(len(images), len(steps))
        self.images[: self.n], self.steps[: self.n] = images[: self.n], steps[: self.n]
