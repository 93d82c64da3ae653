"""A lower bound on F* from many evaluations together.

The loss is convex, so each evaluation leaves a plane below it: with g_j the gradient of the loss alone at w_j,

    loss(w) >= h_j + g_j . w,        h_j = loss(w_j) - w_j . g_j

Planes may be mixed, by any shares s_j >= 0 with sum 1, and the penalty added: what is lowest then is known.

    F* >= sum_j s_j h_j - sum_f max(|sum_j s_j g_jf| - c1, 0)^2 / (4 c2)

One plane alone is the bound of certificates/certificate.py (h_j is the entropy of the model's distributions). Where the
loss is steep, gradients of successive steps overshoot with changing signs; in the best mixture they cancel. For c2 = 0
no slope of a mixture may exceed c1: it is mixed once more, with the plane 0 (no loss is negative; that plane is the
gold labeling's), until none does.

The bundle holds the newest planes and the best mixture so far, so that a few planes do the work of all. Slopes are kept
in single precision, which costs no proof: a rounded plane is laid through the point that it came from, and lowered by
the most that rounding can have added at the optimum w*,

    (rounded g_j - g_j) . (w* - w_j) <= |rounded g_j - g_j| |w* - w_j|,        c2 |w* - w_j|^2 <= F(w_j) - F*

or for c2 = 0 by the largest error times |w*|_1 + |w_j|_1, and c1 |w*|_1 <= F(w_j). What is proved is proved up to the
rounding of F itself, about 1e-10 of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.certificates.planes import Allowed, Laid, best_shares, curvature, lay_mixture, lay_plane
from fastcrf.core.solver_state import take
from fastcrf.core.types import Floats, Longs
from fastcrf.penalties.regularizer import NO_FACTORS, sparsity
from fastcrf.simd.vectors import dot

CAPACITY = 8  # planes besides the mixture
KEPT = 2  # planes that stay when a full bundle is thinned
ROUNDING = 1e-12  # of a height, relative to the terms that it is the sum of
ENOUGH = 1e-4  # of the planes' differences in height: shares need not be better
MAX_MOVES = 3000  # from one plane's share to another's
HALVINGS = 4
LEAST_EXCESS = 1e-3  # over c1, relative to it


class Bundle:
    """Some planes and a mixture. A slot holds slopes in `rows`, a height, and the bound that it gives alone."""

    def __init__(
        self, n_weights: int, c1: float, c2: float, capacity: int = CAPACITY, c1_factors: Floats = NO_FACTORS
    ) -> None:
        self.c1, self.c2 = float(c1), float(c2)
        self.allowed = Allowed(self.c1, c1_factors)
        if len(c1_factors) and c2 == 0.0:
            raise ValueError("Where c1 differs by weight, the bundle needs c2 above 0.")
        self.rows = np.empty((capacity + 2, n_weights), np.float32)  # memory is taken when a slot is first written
        self.heights = np.zeros(capacity + 2)
        self.bounds = np.full(capacity + 2, -math.inf)
        self.planes: list[int] = []  # their slots, oldest first
        self.mixture: int | None = None  # its slot
        self.reach = math.inf  # w* is at most so far from the newest point (c2 = 0: see `add`)

    @staticmethod
    def capacity_within(budget: int, n_weights: int) -> int:
        """How many planes there may be, if the whole may take `budget` bytes."""
        return min(CAPACITY, budget // (np.float32().nbytes * n_weights) - 2)

    @property
    def nbytes(self) -> int:
        """What a full bundle takes."""
        return self.rows.nbytes

    @property
    def capacity(self) -> int:
        return len(self.rows) - 2

    @property
    def is_full(self) -> bool:
        return len(self.planes) == self.capacity

    def add(self, weights: Floats, objective: float, gradient: Floats) -> float:
        """The plane of an evaluation: F, penalties included, and the gradient of loss + c2 |w|^2; its bound alone.

        A full bundle must be thinned first. Slopes that single precision cannot hold are left out.
        """
        slot = self._free_slot()
        sparse = sparsity(weights, *self.allowed)
        loss = objective - sparse - self.c2 * dot(weights, weights)
        laid = lay_plane(weights, gradient, 2.0 * self.c2, self.allowed, self.rows[slot])
        if self.c2 > 0.0:  # c2 reach^2 <= F(w) - F* <= gap + |error| reach
            gap = max(objective - (loss - laid.rounded - laid.excess / (4.0 * self.c2)), 0.0)
            error = math.sqrt(laid.error_square) / self.c2
            self.reach = 0.5 * (error + math.sqrt(error * error + 4.0 * gap / self.c2))
        else:
            self.reach = (sparse + objective) / self.c1
        self._settle(slot, loss, objective, laid)
        if not math.isfinite(self.bounds[slot]):
            return -math.inf
        self.planes.append(slot)
        return float(self.bounds[slot])

    def thin(self) -> None:
        """Forget all planes but the newest. What they had to say is in the mixture."""
        del self.planes[:-KEPT]

    def mix(self, weights: Floats, objective: float) -> float:
        """Look for a better mixture near the one there is, and return its bound. Both arguments are the newest plane's.

        For c1 = 0 the best of all mixtures is found; otherwise the best as far as slopes stay on their side of c1, or
        if that is no better than what was there, one on the way to it.
        """
        first = self.planes[-1] if self.mixture is None else self.mixture
        order = np.array([first, *(slot for slot in self.planes if slot != first)])
        wanted, start, slot = self._wanted_shares(order), np.zeros(len(order)), self._free_slot()
        start[0] = 1.0
        for halving in range(HALVINGS):
            shares = start + 0.5**halving * (wanted - start)
            laid = lay_mixture(self.rows, order, shares, weights, self.allowed, self.rows[slot])
            self._settle(slot, float(self.heights[order] @ shares) + laid.exact, objective, laid)
            if self.bounds[slot] > self.bounds[first]:
                self.mixture = slot
                return float(self.bounds[slot])
        return float(self.bounds[first])

    def _wanted_shares(self, order: Longs) -> Floats:
        """The best shares, if the excess of the first plane is all there is. For c2 = 0, one share is the plane 0's."""
        gram, offset = curvature(self.rows, order, self.allowed)
        scale = 1.0 / (4.0 * self._ridge(int(order[0])))
        gram *= scale
        heights = self.heights[order] + 2.0 * scale * offset
        if self.c2 == 0.0:
            gram, heights = np.pad(gram, (0, 1)), np.append(heights, 0.0)
        shares = np.zeros(len(heights))
        shares[0] = 1.0
        best_shares(heights, gram, shares, ENOUGH * float(np.ptp(self.heights[order])), MAX_MOVES)
        return shares[: len(order)]

    def _ridge(self, slot: int) -> float:
        """c2; without an L2 penalty, one that makes excess about as dear as scaling a mixture down to c1 is."""
        if self.c2 > 0.0:
            return self.c2
        excess = max(float(np.abs(self.rows[slot]).max()) - self.c1, LEAST_EXCESS * self.c1)
        return self.c1 * excess / (4.0 * max(float(self.heights[slot]), self.c1))

    def _settle(self, slot: int, value: float, objective: float, laid: Laid) -> None:
        """Height and bound of the plane that goes through `value` at the newest point."""
        error = math.sqrt(laid.error_square) if self.c2 > 0.0 else laid.largest_error
        noise = ROUNDING * (abs(objective) + abs(value) + abs(laid.exact))
        height = value - laid.rounded - error * self.reach - noise
        self.heights[slot] = height
        if self.c2 > 0.0:
            self.bounds[slot] = height - laid.excess / (4.0 * self.c2)
        else:
            self.bounds[slot] = height * (self.c1 / laid.largest if laid.largest > self.c1 else 1.0)

    def _free_slot(self) -> int:
        return next(slot for slot in range(len(self.rows)) if slot != self.mixture and slot not in self.planes)

    def state(self) -> dict[str, Any]:
        """The named arrays that `restore` takes: of the mixture, if there is one, and of the planes, oldest first."""
        used = ([] if self.mixture is None else [self.mixture]) + self.planes
        figures = np.array([self.heights[used], self.bounds[used]])
        return {"rows": self.rows[used], "figures": figures, "rest": np.array([self.reach, used != self.planes])}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a copy of `state`, exactly."""
        used = len(state["rows"])
        figures, rest = np.empty((2, used)), np.empty(2)
        for name, room in (("rows", self.rows[:used]), ("figures", figures), ("rest", rest)):
            take("the certificate", name, state, room)
        self.reach, has_mixture = float(rest[0]), used > 0 and bool(rest[1])
        self.heights[:used], self.bounds[:used] = figures
        self.mixture = 0 if has_mixture else None
        self.planes = list(range(int(has_mixture), used))
