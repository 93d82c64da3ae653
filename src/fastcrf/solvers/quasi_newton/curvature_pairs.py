"""Limited-memory curvature: the last m curvature pairs (s, y) of a quasi-Newton method, and their direction.

    s = change of the weights,   y = change of the gradient,   H = the L-BFGS inverse Hessian made of the pairs

The textbook two-loop recursion (Nocedal 1980) processes the pairs one by one: 4m dependent passes over long vectors. It
forms only linear combinations of the 2m stored vectors and the argument, so here it runs on their inner products (Chen,
Wang & Zhou 2014, "Large-scale L-BFGS using MapReduce"). The pairs are the rows of one array, which is read twice per
direction, block by block and on threads: once for the inner products of all rows with the newest pair and the argument,
once for the combination.

With a preconditioner, H0 = (y.s / y.Dy) D for a diagonal matrix D: everything above applies to the variables w /
sqrt(D), where D is the identity. With many pairs most of the time goes into reading them, so their rows may be in
single precision. Inner products are those of the stored rows. Some hundred products at a time are summed in the
precision of the rows, which doubles the numbers in a register, and these sums are added in double precision. H stays
symmetric, and it stays positive, because a pair counts only if its own product is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from fastcrf.core.solver_state import StateField, StateMismatch, take
from fastcrf.core.types import Floats
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.solvers.quasi_newton.dense_head import DenseHead, head_of, products_of, rebased

# Least cos(s, y) of a stored pair: below, y.s is mostly rounding and 1/y.s would be noise.
LEAST_CURVATURE = 1e-10
FIRST_SLOTS = 16  # initial allocation; the usual capacity is 6
BLOCK = 512  # weights that stay in the first-level cache while all rows are read
SHARD = 1 << 15  # weights that make it worth waking a thread


STATE_FIELDS = {
    "basis": StateField("weights", n_axes=2),
    "gram": StateField(n_axes=2),
    "order": StateField(dtype="int64", low=0, n_axes=1),
}
SCALE = StateField("weights", fill=1.0, low=0.0)  # sqrt(D), stored with a preconditioner


class CurvaturePairs:
    """The newest `capacity` curvature pairs. Slot i holds s in row 2i and y in row 2i + 1 of `basis`.

    dtype: of the rows;
    preconditioner: D, or None for I;
    averaged: whether H0 is (y.s / y.y) I in the mean of all pairs, instead of the newest one's.
    """

    def __init__(
        self,
        capacity: int,
        n_weights: int,
        n_jobs: int = 1,
        dtype: type = np.float64,
        preconditioner: Floats | None = None,
        averaged: bool = False,
    ) -> None:
        self.capacity, self.averaged = capacity, averaged
        # w = scale * (the variables of the rows)
        self.scale = np.empty(0) if preconditioner is None else np.sqrt(preconditioner)
        self.head: DenseHead | None = None  # where `scale` is 1
        self.basis: np.ndarray = np.empty((0, n_weights), dtype)  # grows: a capacity alone allocates no memory
        self.gram = np.zeros((0, 0))  # inner products of the rows of `basis`
        self._reserve(min(capacity, FIRST_SLOTS))
        self.order: list[int] = []  # slots that hold a pair, oldest first
        self.used = 0  # slots ever written: rows below 2 * used hold numbers
        n_shards = max(1, min(n_jobs, n_weights // SHARD))
        self.bounds = np.linspace(0, n_weights, n_shards + 1).astype(np.int64)
        self.pool = ThreadPoolExecutor(n_shards - 1, "fastcrf") if n_shards > 1 else None

    def __len__(self) -> int:
        return len(self.order)

    def add(self, weights: Floats, weights_before: Floats, gradient: Floats, gradient_before: Floats) -> None:
        """Store the pair of this move in place of the oldest. The next `direction` checks whether it can be used."""
        slot = self._free_slot()
        points, s, y = (weights, weights_before, gradient, gradient_before), *self.basis[2 * slot : 2 * slot + 2]
        self._on_shards(lambda first, last: lay_pair(*points, self.scale, first, last, s, y))
        if self.head is not None:
            some = self.head.members
            s[some] = self.head.of_steps(weights[some] - weights_before[some])
            y[some] = self.head.of_gradients(gradient[some] - gradient_before[some])
        self.order.append(slot)

    def _free_slot(self) -> int:
        if len(self.order) == self.capacity:
            return self.order.pop(0)
        slot = next(slot for slot in range(self.capacity) if slot not in self.order)
        self.used = max(self.used, slot + 1)
        self._reserve(self.used)
        return slot

    def _reserve(self, slots: int) -> None:
        """Allocate at least `slots` slots, by doubling. Writes: basis, gram."""
        before = len(self.basis)
        if 2 * slots <= before:
            return
        rows = min(2 * self.capacity, max(2 * slots, 2 * before))
        basis, gram = np.empty((rows, self.basis.shape[1]), self.basis.dtype), np.zeros((rows, rows))
        basis[:before], gram[:before, :before] = self.basis, self.gram
        self.basis, self.gram = basis, gram

    def forget(self) -> None:
        """Drop every pair: H becomes the preconditioner."""
        self.order.clear()
        self.used = 0

    def forget_preconditioner(self) -> None:
        """Drop the preconditioner, and the pairs with it: H becomes the identity."""
        self.forget()
        self.scale, self.head = np.ones_like(self.scale), None

    def fall_back(self) -> None:
        """Drop the pairs; if there are none, the preconditioner."""
        if self.order:
            self.forget()
        else:
            self.forget_preconditioner()

    @property
    def is_plain(self) -> bool:
        """Whether H is the identity."""
        return not self.order and self.head is None and bool((self.scale == 1.0).all())

    def direction(self, steepest: Floats) -> Floats:
        """Return -H @ steepest in a new array; H is D without pairs. A newest pair without curvature is dropped
        first.
        """
        if self.head is None:
            return self._row_direction(steepest)
        some, turned = self.head.members, steepest.copy()
        turned[some] = self.head.of_gradients(steepest[some])
        direction = self._row_direction(turned)
        direction[some] = self.head.to_steps(direction[some])
        return direction

    def _row_direction(self, steepest: Floats) -> Floats:
        """Return the direction, where gradient and direction are in the variables of the rows on the head."""
        products = self._products(steepest) if self.order else None
        if products is None or not self.order:
            return -steepest * self.scale * self.scale if len(self.scale) else -steepest
        rows, direction = self.basis[: 2 * self.used], np.empty_like(steepest)
        on_rows, on_steepest = self._two_loop(products)
        coefficients = (-on_rows).astype(self.basis.dtype), steepest, -on_steepest, self.scale
        self._on_shards(lambda first, last: combine(rows, *coefficients, first, last, direction))
        return direction

    def rebase(self, scale: Floats, head: DenseHead | None) -> None:
        """Change the first Hessian, and with it the variables of the rows. `scale` is 1 on the head.

        Writes: basis, gram.
        """
        rows = self.basis[: 2 * self.used]
        for slot in self.order:
            s, y = rows[2 * slot] * self.scale, rows[2 * slot + 1] / self.scale
            s, y = rebased(s, y, self.head, head)
            rows[2 * slot], rows[2 * slot + 1] = s / scale, y * scale
        self.scale, self.head = scale, head
        self.gram[: len(rows), : len(rows)] = products_of(rows)

    def _products(self, vector: Floats) -> Floats:
        """Return inner products of the rows with a gradient, in their variables; also compute those with the newest
        pair.

        Writes: gram, order.
        """
        rows, newest = self.basis[: 2 * self.used], 2 * self.order[-1]

        def of_shard(first: int, last: int) -> Floats:
            products, near = np.zeros((len(rows), 3)), np.empty((3, BLOCK), rows.dtype)
            row_products(rows, newest, vector, self.scale, first, last, near, products)
            return products

        products = np.sum(self._on_shards(of_shard), axis=0)
        self.learn(products[:, :2])
        return products[:, 2]

    def learn(self, products: Floats) -> None:
        """Add the inner products of the rows with the newest s and y, [rows, 2]; drop the pair if it has no curvature.

        Writes: gram, order, and basis, if a pair is dropped: it may hold NaNs, and 0 NaN = NaN.
        """
        n, s, y = 2 * self.used, 2 * self.order[-1], 2 * self.order[-1] + 1
        self.gram[:n, s : y + 1] = products
        self.gram[s : y + 1, :n] = products.T
        lengths = np.sqrt(self.gram[s, s] * self.gram[y, y])
        if not self.gram[s, y] > LEAST_CURVATURE * lengths:  # also true for a NaN
            self.order.pop()
            self.basis[s : y + 1] = self.gram[s : y + 1] = self.gram[:, s : y + 1] = 0.0

    def _two_loop(self, products: Floats) -> tuple[Floats, float]:
        """Return H @ vector as coefficients of the rows and of the vector, given the rows' products with the vector."""
        gram = self.gram[: len(products), : len(products)]
        on_rows, alpha = np.zeros(len(products)), {}
        for slot in reversed(self.order):
            s, y = 2 * slot, 2 * slot + 1
            alpha[slot] = (products[s] + gram[s] @ on_rows) / gram[s, y]
            on_rows[y] -= alpha[slot]
        used = self.order if self.averaged else self.order[-1:]
        scale = float(np.mean([gram[2 * slot, 2 * slot + 1] / gram[2 * slot + 1, 2 * slot + 1] for slot in used]))
        on_rows *= scale  # H0 = (y.s / y.y) I
        for slot in self.order:
            s, y = 2 * slot, 2 * slot + 1
            beta = (scale * products[y] + gram[y] @ on_rows) / gram[s, y]
            on_rows[s] += alpha[slot] - beta
        return on_rows, scale

    def _on_shards(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Run work(first, last) for each range of weights, the first in this thread and the others in the pool."""
        return self.on_threads(work, self.bounds)

    def on_threads(self, work: Callable[[int, int], Any], bounds: np.ndarray) -> list[Any]:
        """Run work(first, last) for each range of `bounds`, the first in this thread and the others in the pool."""
        ranges = [(int(first), int(last)) for first, last in pairwise(bounds)]
        if self.pool is None or len(ranges) == 1:
            return [work(int(bounds[0]), int(bounds[-1]))]
        others = [self.pool.submit(work, *shard) for shard in ranges[1:]]
        return [work(*ranges[0]), *(other.result() for other in others)]

    def state(self) -> dict[str, Any]:
        """Return the named arrays that `restore` takes. Live: copy to keep."""
        rows, scale = 2 * self.used, {"scale": self.scale} if len(self.scale) else {}
        order = np.array(self.order, np.int64)
        head = {} if self.head is None else self.head.state()
        return {"basis": self.basis[:rows], "gram": self.gram[:rows, :rows], "order": order, **scale, **head}

    def restore(self, name: str, state: Mapping[str, Any]) -> None:
        """Restore a copy of `state`, bit for bit; `name` is that of the solver, for messages."""
        rows = len(state["basis"])
        if rows > 2 * self.capacity or rows % 2:
            raise StateMismatch(name, f"it has {rows / 2:g} curvature pairs, but the option is pairs={self.capacity}")
        self._reserve(rows // 2)
        take(name, "basis", state, self.basis[:rows])
        take(name, "gram", state, self.gram[:rows, :rows])
        order = np.asarray(state["order"]).tolist()
        if sorted(order) != sorted(set(order) & set(range(rows // 2))):
            raise StateMismatch(name, f"'order' holds {order}, but there are {rows // 2} curvature pairs")
        self.used, self.order = rows // 2, order
        if "scale" in state:
            self.scale = np.array(state["scale"])
        self.head = head_of(name, state, self.basis.shape[1])


@noalloc_kernel
def lay_pair(weights, weights_before, gradient, gradient_before, scale, first, last, s, y):
    """Write the rows of a pair over weights first:last. Writes: s, y."""
    if len(scale) > 0:
        for f in range(first, last):
            s[f] = (weights[f] - weights_before[f]) / scale[f]
            y[f] = (gradient[f] - gradient_before[f]) * scale[f]
    else:
        for f in range(first, last):
            s[f] = weights[f] - weights_before[f]
            y[f] = gradient[f] - gradient_before[f]


@noalloc_kernel
def row_products(rows, newest, vector, scale, first, last, near, products):
    """Add to products[i, :] the inner products over weights first:last of each row with the rows `newest` and `newest`
    + 1 and with scale * vector.

    There is an even number of rows. Products of a slice are summed in the precision of the rows, and slices in double
    precision. Writes: products, and near, [3, BLOCK], the common factors of all rows.
    """
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        for f in range(start, stop):
            near[0, f - start], near[1, f - start] = rows[newest, f], rows[newest + 1, f]
            near[2, f - start] = vector[f] * scale[f] if len(scale) > 0 else vector[f]
        for i in range(0, len(rows), 2):
            add_products(rows, i, near, start, stop, products)


@noalloc_kernel
def add_products(rows, i, near, start, stop, products):
    """Add the products of rows i and i + 1 over weights start:stop. Writes: products."""
    nothing = rows.dtype.type(0)
    a, b, c, d, e, g = nothing, nothing, nothing, nothing, nothing, nothing
    for f in range(stop - start):
        here, there = rows[i, start + f], rows[i + 1, start + f]
        s, y, other = near[0, f], near[1, f], near[2, f]
        a += here * s
        b += here * y
        c += here * other
        d += there * s
        e += there * y
        g += there * other
    products[i, 0] += a
    products[i, 1] += b
    products[i, 2] += c
    products[i + 1, 0] += d
    products[i + 1, 1] += e
    products[i + 1, 2] += g


@noalloc_kernel
def combine(rows, on_rows, vector, on_vector, scale, first, last, total):
    """Compute total = scale * (on_rows @ rows + on_vector * scale * vector) over weights first:last.

    Four rows at a time are combined in their own precision, which is also that of on_rows. There is an even number of
    rows. Writes: total.
    """
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        for f in range(start, stop):
            total[f] = on_vector * (vector[f] * scale[f] if len(scale) > 0 else vector[f])
        for i in range(0, len(rows) - 2, 4):
            a, b, c, d = on_rows[i], on_rows[i + 1], on_rows[i + 2], on_rows[i + 3]
            for f in range(start, stop):
                total[f] += (a * rows[i, f] + b * rows[i + 1, f]) + (c * rows[i + 2, f] + d * rows[i + 3, f])
        if len(rows) % 4 == 2:
            i = len(rows) - 2
            for f in range(start, stop):
                total[f] += on_rows[i] * rows[i, f] + on_rows[i + 1] * rows[i + 1, f]
        if len(scale) > 0:
            for f in range(start, stop):
                total[f] *= scale[f]
