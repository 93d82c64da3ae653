"""Aitken's acceleration of a map: extrapolate its step by the sum of a geometric series.

Near a fixed point the map is linear, M(w) - M(v) = J (w - v), and if the moves D' = w - v and D = M(w) - M(v) have one
ratio g, then J may be replaced by g, and the steps that follow are known:

    w* = w + (M(w) - w) / (1 - g)                                             Yang et al. (2012), eq. 4.6

Hesterberg (2005) has three estimates of the ratio (Yang et al. 2012, eq. 4.8-4.10); each component may have its own:

    (1) D.D' / |D'|^2       (2) |D| / |D'|       (3) |D|^2 / D.D'       (1) <= (2) <= (3) where D.D' > 0
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.simd.vectors import dot
from fastcrf.solvers.iterative_scaling.fixed_point import Place

GAMMAS = (1, 2, 3)
LENGTHS = ("aitken", "haemmerlin-hoffmann")
STATE_FIELDS = {
    "move": StateField("weights", optional=True),
    "image_move": StateField("weights", optional=True),
    "may_extrapolate": StateField(dtype="bool"),
}


class Extrapolation(NamedTuple):
    """The extrapolation: see `fastcrf.solvers.iterative_scaling.aitken_gis` for the options."""

    gamma: int
    componentwise: bool
    length: str
    limit: float


class Aitken:
    """Proposals by Aitken's rule; with `staggered`, only after a plain step."""

    def __init__(self, extrapolation: Extrapolation, staggered: bool) -> None:
        self.extrapolation, self.staggered = extrapolation, staggered
        self.move: Floats | None = None  # D'
        self.image_move: Floats | None = None  # D
        self.may_extrapolate = False

    def propose(self, place: Place) -> Floats | None:
        if self.move is None or self.image_move is None or not self.may_extrapolate:
            return None
        further = lengthening(self.move, self.image_move, self.extrapolation)
        return None if further is None else place.weights + further * (place.image - place.weights)

    def learn(self, before: Place, now: Place, was_proposed: bool) -> None:
        self.move, self.image_move = now.weights - before.weights, now.image - before.image
        self.may_extrapolate = not (self.staggered and was_proposed)

    def state(self) -> dict[str, Any]:
        moves = {} if self.move is None else {"move": self.move, "image_move": self.image_move}
        return {**moves, "may_extrapolate": self.may_extrapolate}

    def restore(self, state: Mapping[str, Any]) -> None:
        if "move" in state and "image_move" in state:
            self.move, self.image_move = np.array(state["move"]), np.array(state["image_move"])
        self.may_extrapolate = bool(state["may_extrapolate"])


def lengthening(move: Floats, image_move: Floats, how: Extrapolation) -> Floats | float | None:
    """Return the factor of the plain step, 1 / (1 - ratio); None if the moves have opposite directions."""
    if how.componentwise:
        each = np.divide(image_move, move, out=np.zeros_like(move), where=move != 0.0)
        each = np.abs(each) if how.gamma == 2 else each
        return 1.0 / (1.0 - each.clip(-how.limit, how.limit))
    squares, products, image_squares = dot(move, move), dot(image_move, move), dot(image_move, image_move)
    if not (squares > 0.0 and products > 0.0):
        return None
    ratios = products / squares, math.sqrt(image_squares / squares), image_squares / products
    ratio = ratios[how.gamma - 1]
    if how.length == "haemmerlin-hoffmann":
        ratio = 0.5 * (ratios[0] + ratios[2])  # r = 2 / (2 - largest - smallest eigenvalue)
    return 1.0 / (1.0 - min(ratio, how.limit))
