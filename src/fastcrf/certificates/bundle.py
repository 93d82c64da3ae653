"""A lower bound on F* from a bundle of cutting planes.

The loss is convex, so each evaluation gives a cutting plane below it: with g_j the gradient of the loss alone at w_j,

    loss(w) >= h_j + g_j . w,        h_j = loss(w_j) - w_j . g_j

Any convex combination of cutting planes, with coefficients s_j >= 0 that sum to 1, plus the penalty has a known
minimum:

    F* >= sum_j s_j h_j - sum_f max(|sum_j s_j g_jf| - c1, 0)^2 / (4 c2)

One plane alone is the bound of certificates/certificate.py (h_j is the entropy of the model's distributions). Where the
loss is steep, gradients of successive steps overshoot with alternating signs; in the best combination they cancel. For
c2 = 0 no gradient component of a combination may exceed c1. It is therefore combined once more, with the plane 0 (no
loss is negative; that plane belongs to the gold label sequence), until none does.

The bundle holds the newest planes and the best combination so far, so that a few planes represent all. Gradients are
stored in single precision, without loss of validity: a rounded plane is shifted to pass through its original point,
and lowered by the largest possible effect of rounding at the optimum w*,

    (rounded g_j - g_j) . (w* - w_j) <= |rounded g_j - g_j| |w* - w_j|,        c2 |w* - w_j|^2 <= F(w_j) - F*

or for c2 = 0 by the largest error times |w*|_1 + |w_j|_1, and c1 |w*|_1 <= F(w_j). The bound is certified up to the
rounding of F itself, about 1e-10 of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.certificates.planes import Allowed, Laid, best_shares, curvature, lay_combination, lay_plane
from fastcrf.core.solver_state import take
from fastcrf.core.types import Floats, Longs
from fastcrf.penalties.regularizer import NO_FACTORS, sparsity
from fastcrf.simd.vectors import dot

CAPACITY = 8  # cutting planes besides the combination
KEPT = 2  # planes that stay when a full bundle is thinned
ROUNDING = 1e-12  # of a height, relative to the terms that it is the sum of
ENOUGH = 1e-4  # of the planes' differences in height: coefficients need not be better
MAX_MOVES = 3000  # from one plane's coefficient to another's
HALVINGS = 4
LEAST_EXCESS = 1e-3  # over c1, relative to it


class Bundle:
    """Some cutting planes and a convex combination of them.

    A slot holds a gradient in `rows`, a height, and its own bound.
    """

    def __init__(
        self, n_weights: int, c1: float, c2: float, capacity: int = CAPACITY, c1_factors: Floats = NO_FACTORS
    ) -> None:
        self.c1, self.c2 = float(c1), float(c2)
        self.allowed = Allowed(self.c1, c1_factors)
        if len(c1_factors) and c2 == 0.0:
            raise ValueError("A c1 that differs by weight requires c2 above 0; set c2 > 0.")
        self.rows = np.empty((capacity + 2, n_weights), np.float32)  # pages are allocated on first write
        self.heights = np.zeros(capacity + 2)
        self.bounds = np.full(capacity + 2, -math.inf)
        self.planes: list[int] = []  # their slots, oldest first
        self.combination: int | None = None  # its slot
        self.reach = math.inf  # distance from the newest point within which w* lies (c2 = 0: see `add`)

    @staticmethod
    def capacity_within(budget: int, n_weights: int) -> int:
        """Return the number of cutting planes that fit into `budget` bytes."""
        return min(CAPACITY, budget // (np.float32().nbytes * max(n_weights, 1)) - 2)

    @property
    def nbytes(self) -> int:
        """Return the bytes of a full bundle."""
        return self.rows.nbytes

    @property
    def capacity(self) -> int:
        return len(self.rows) - 2

    @property
    def is_full(self) -> bool:
        return len(self.planes) == self.capacity

    def add(self, weights: Floats, objective: float, gradient: Floats) -> float:
        """Add the cutting plane of an evaluation; return its own bound.

        objective: F, penalties included; gradient: of loss + c2 |w|^2. Thin a full bundle first. Gradients that
        overflow single precision are skipped.
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
        """Drop all planes but the newest. The combination represents the others."""
        del self.planes[:-KEPT]

    def mix(self, weights: Floats, objective: float) -> float:
        """Find a better combination near the current one, and return its bound. Both arguments belong to the newest
        plane.

        For c1 = 0 it finds the best of all combinations. Otherwise it finds the best one while no gradient component
        crosses c1 or, if that does not improve the bound, one between the current combination and that.
        """
        first = self.planes[-1] if self.combination is None else self.combination
        order = np.array([first, *(slot for slot in self.planes if slot != first)])
        wanted, start, slot = self._wanted_shares(order), np.zeros(len(order)), self._free_slot()
        start[0] = 1.0
        for halving in range(HALVINGS):
            shares = start + 0.5**halving * (wanted - start)
            laid = lay_combination(self.rows, order, shares, weights, self.allowed, self.rows[slot])
            self._settle(slot, float(self.heights[order] @ shares) + laid.exact, objective, laid)
            if self.bounds[slot] > self.bounds[first]:
                self.combination = slot
                return float(self.bounds[slot])
        return float(self.bounds[first])

    def _wanted_shares(self, order: Longs) -> Floats:
        """Return the best coefficients, if only the excess of the first plane counts. For c2 = 0, one belongs to the
        plane 0.
        """
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
        """Return c2 or, without an L2 penalty, a value that penalizes excess about as much as scaling to c1 does."""
        if self.c2 > 0.0:
            return self.c2
        excess = max(float(np.abs(self.rows[slot]).max()) - self.c1, LEAST_EXCESS * self.c1)
        return self.c1 * excess / (4.0 * max(float(self.heights[slot]), self.c1))

    def _settle(self, slot: int, value: float, objective: float, laid: Laid) -> None:
        """Set height and bound of the plane that passes through `value` at the newest point."""
        error = math.sqrt(laid.error_square) if self.c2 > 0.0 else laid.largest_error
        noise = ROUNDING * (abs(objective) + abs(value) + abs(laid.exact))
        height = value - laid.rounded - error * self.reach - noise
        self.heights[slot] = height
        if self.c2 > 0.0:
            self.bounds[slot] = height - laid.excess / (4.0 * self.c2)
        else:
            self.bounds[slot] = height * (self.c1 / laid.largest if laid.largest > self.c1 else 1.0)

    def _free_slot(self) -> int:
        return next(slot for slot in range(len(self.rows)) if slot != self.combination and slot not in self.planes)

    def state(self) -> dict[str, Any]:
        """Return the named arrays that `restore` takes: of the combination, if there is one, and of the planes, oldest
        first.
        """
        used = ([] if self.combination is None else [self.combination]) + self.planes
        figures = np.array([self.heights[used], self.bounds[used]])
        return {"rows": self.rows[used], "figures": figures, "rest": np.array([self.reach, used != self.planes])}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a copy of `state` exactly."""
        used = len(state["rows"])
        figures, rest = np.empty((2, used)), np.empty(2)
        for name, array in (("rows", self.rows[:used]), ("figures", figures), ("rest", rest)):
            take("the certificate", name, state, array)
        self.reach, has_combination = float(rest[0]), used > 0 and bool(rest[1])
        self.heights[:used], self.bounds[:used] = figures
        self.combination = 0 if has_combination else None
        self.planes = list(range(int(has_combination), used))
