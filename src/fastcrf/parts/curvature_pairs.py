"""Limited-memory curvature: the last m pairs (s, y) of a quasi-Newton method, and H times a vector.

    s = change of the weights,   y = change of the gradient,   H = the L-BFGS inverse Hessian made of the pairs

The textbook two-loop recursion (Nocedal 1980) walks over the pairs one by one: 4m dependent passes over long vectors.
All it ever forms are combinations of the 2m stored vectors and the argument, so here it runs on their inner products
(Chen, Wang & Zhou 2014, "Large-scale L-BFGS using MapReduce"): the pairs are the rows of one array, all inner products
with a vector are one matrix-vector product and the result is another, both multi-threaded by BLAS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.types import Floats

# A pair is kept when cos(s, y) exceeds this: below, y.s is mostly rounding and 1/y.s would be noise.
LEAST_CURVATURE = 1e-10


class CurvaturePairs:
    """The newest `capacity` usable pairs. Slot i holds s in row 2i and y in row 2i + 1 of `basis`."""

    def __init__(self, capacity: int, n_weights: int) -> None:
        self.capacity = capacity
        self.basis = np.empty((2 * capacity, n_weights))  # pages are touched only when a slot is first written
        self.gram = np.zeros((2 * capacity, 2 * capacity))  # inner products of the rows of `basis`
        self.order: list[int] = []  # slots that hold a pair, oldest first
        self.used = 0  # slots ever written: rows below 2 * used hold numbers

    def __len__(self) -> int:
        return len(self.order)

    def add(self, weights: Floats, weights_before: Floats, gradient: Floats, gradient_before: Floats) -> bool:
        """Keep the pair of this move; says whether its curvature was usable. The oldest pair gives way in any case."""
        slot = self._free_slot()
        s, y = 2 * slot, 2 * slot + 1
        np.subtract(weights, weights_before, out=self.basis[s])
        np.subtract(gradient, gradient_before, out=self.basis[y])
        rows = self.basis[: 2 * self.used]
        products = rows @ self.basis[s : y + 1].T
        self.gram[: 2 * self.used, s : y + 1] = products
        self.gram[s : y + 1, : 2 * self.used] = products.T
        lengths = np.sqrt(self.gram[s, s] * self.gram[y, y])
        usable = bool(self.gram[s, y] > LEAST_CURVATURE * lengths)  # False for a NaN
        if usable:
            self.order.append(slot)
        return usable

    def _free_slot(self) -> int:
        if len(self.order) == self.capacity:
            return self.order.pop(0)
        slot = next(slot for slot in range(self.capacity) if slot not in self.order)
        self.used = max(self.used, slot + 1)
        return slot

    def forget(self) -> None:
        """Drop every pair: H becomes the identity."""
        self.order.clear()
        self.used = 0

    def inverse_times(self, vector: Floats) -> Floats:
        """H @ vector, a fresh array; with no pairs H is the identity."""
        if not self.order:
            return vector.copy()
        rows = self.basis[: 2 * self.used]
        on_rows, on_vector = self._two_loop(rows @ vector)
        product = on_rows @ rows
        product += on_vector * vector
        return product

    def _two_loop(self, products: Floats) -> tuple[Floats, float]:
        """H @ vector as coefficients on the rows and on the vector, given the rows' products with the vector."""
        gram = self.gram[: len(products), : len(products)]
        on_rows, alpha = np.zeros(len(products)), {}
        for slot in reversed(self.order):
            s, y = 2 * slot, 2 * slot + 1
            alpha[slot] = (products[s] + gram[s] @ on_rows) / gram[s, y]
            on_rows[y] -= alpha[slot]
        s, y = 2 * self.order[-1], 2 * self.order[-1] + 1
        scale = gram[s, y] / gram[y, y]  # H0 = (y.s / y.y) I of the newest pair
        on_rows *= scale
        for slot in self.order:
            s, y = 2 * slot, 2 * slot + 1
            beta = (scale * products[y] + gram[y] @ on_rows) / gram[s, y]
            on_rows[s] += alpha[slot] - beta
        return on_rows, float(scale)

    def state(self) -> dict[str, Any]:
        """The named arrays that `restore` takes. Live: copy to keep."""
        rows = 2 * self.used
        return {"basis": self.basis[:rows], "gram": self.gram[:rows, :rows], "order": np.array(self.order, np.int64)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`, bit for bit (rows keep their slots: BLAS may sum rows differently elsewhere)."""
        rows = len(state["gram"])
        if rows > len(self.basis):
            raise ValueError(
                f"A memory of {rows // 2} curvature pairs cannot be continued with memory={self.capacity}; "
                f"use memory={rows // 2} or start without it."
            )
        self.used = rows // 2
        self.basis[:rows] = state["basis"]
        self.gram[:rows, :rows] = state["gram"]
        self.order = [int(slot) for slot in state["order"]]
