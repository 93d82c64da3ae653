"""A quadratic model of the smooth part plus the exact L1 penalty, minimized by coordinate descent.

Zhong, Yen, Dhillon & Ravikumar (2014), section 2: over the weights that are free to move, find the d with the least

    g.d + d.B d / 2 + c1 |w + d|_1,     B = D - Q M^-1 Q^T,   Q = [D S, Y],   M = [[S^T D S, L], [L^T, -E]]

where S and Y are the last changes of the weights and of the gradient, E the diagonal and L what is below it of S^T Y
(Byrd, Nocedal & Schnabel 1994). With M^-1 Q^T d known, the cost of a coordinate is proportional to the number of pairs,
independent of the number of weights; it reads no data. The loops over weights are in `pair_rows.py`. D changes at every
step, so S^T D S is recomputed; S^T Y grows with every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fastcrf.core.solver_state import StateField, StateMismatch
from fastcrf.core.types import Floats, Longs
from fastcrf.simd.vectors import dot, norm
from fastcrf.simd.widths import aligned_zeros
from fastcrf.solvers.newton.pair_rows import Free, Pair, Pairs, descend, prepare_rows, sum_moves, write_pair

STATE_FIELDS = {
    "moves": StateField("weights", n_axes=2),
    "bends": StateField("weights", n_axes=2),
    "order": StateField(dtype="int64", low=0, n_axes=1),
}
LEAST_CURVATURE = 1e-10  # least cos(s, y) of a stored pair
PART = 8  # numbers: the lengths of rows are multiples of it
SPARE = 4  # at most this many times the required rows are kept for the next step


class ProximalModel:
    """The last `capacity` pairs: moves of the weights (S) and bends of the gradient (Y), in the slots of `order`."""

    def __init__(self, capacity: int, n_weights: int, n_jobs: int = 1) -> None:
        self.capacity = capacity
        self.lanes = (0,) * (-(-2 * capacity // PART) * PART)
        self.pairs = Pairs(aligned_zeros(n_weights, len(self.lanes)), np.zeros(n_weights, np.int64))
        self.order: list[int] = []  # slots, oldest pair first
        self.numbers = [0] * capacity  # of the pair in each slot
        self.mixed = np.zeros((capacity, capacity))  # S^T Y, by slot
        self.newest: tuple[Floats, Floats] = (np.empty(0), np.empty(0))  # the last stored pair
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs - 1, "fastcrf") if n_jobs > 1 else None
        self._rows = np.empty((0, len(self.lanes)), np.float32)  # half the memory to read in each sweep

    def __len__(self) -> int:
        return len(self.order)

    @property
    def oldest(self) -> int:
        """Return the number of the oldest pair."""
        return min((self.numbers[slot] for slot in self.order), default=0)

    def add(self, move: Floats, bend: Floats) -> None:
        """Store a pair in place of the oldest, unless it has no curvature."""
        if not dot(move, bend) > LEAST_CURVATURE * norm(move) * norm(bend):
            return
        if len(self.order) == self.capacity:
            slot = self.order.pop(0)
        else:
            slot = next(slot for slot in range(self.capacity) if slot not in self.order)
        self._keep(slot, move, bend)

    def _keep(self, slot: int, move: Floats, bend: Floats) -> None:
        """Store a pair that is newer than all others, in a free slot."""
        self.numbers[slot] = max(self.numbers) + 1
        self.order.append(slot)
        self.newest = move, bend
        pair, oldest = Pair(move, bend, slot, self.numbers[slot]), self.oldest

        def write(first: int, last: int) -> Floats:
            sums = aligned_zeros(2, len(self.lanes))
            write_pair(pair, first, last, oldest, self.pairs, sums, self.lanes)
            return sums

        of_move, of_bend = np.sum(self._on_threads(write, len(move)), axis=0)[:, : 2 * self.capacity]
        self.mixed[slot], self.mixed[:, slot] = of_move[1::2], of_bend[::2]

    def forget(self) -> None:
        self.order.clear()
        self.pairs.table[:] = 0.0

    def scaled(self, diagonal: Floats, steepest: Floats) -> Floats:
        """Return `diagonal` times the scale of the newest pair, y.(y/D) / y.s; without pairs, for a first step of
        length 1.
        """
        if not self.order:
            return diagonal * max(norm(steepest / np.sqrt(diagonal)), 1e-300)
        move, bend = self.newest
        return diagonal * (dot(bend, bend / diagonal) / dot(move, bend))

    def minimum(
        self, free: Longs, w: Floats, g: Floats, c1: float, diagonal: Floats, sweeps: int, tolerance: float
    ) -> tuple[Floats, int]:
        """Return (the d that minimizes the model over the weights `free`, its sweeps); the first sweep's move scales
        the tolerance.
        """
        n, rows, inverse = len(free), self._workspace(2 * len(free)), self._inverse(diagonal)
        point = Free(free, w[free], g[free], diagonal[free], np.empty(n), np.arange(n))

        def prepare(first: int, last: int) -> None:
            prepare_rows(self.pairs.table, point, first, last, inverse, rows, self.lanes)

        self._on_threads(prepare, n)
        step = np.zeros(n)
        taken = descend(point, c1, rows, sweeps, tolerance, step, self.lanes)
        direction = np.zeros(len(w))
        direction[free] = step
        return direction, int(taken)

    def _inverse(self, diagonal: Floats) -> Floats:
        """Return M^-1 in the order of a row, with zeros for unused slots: the slots in use are the first ones."""
        m, age = len(self.order), np.argsort(self.order)

        def sum_range(first: int, last: int) -> Floats:
            sums = aligned_zeros(self.capacity, len(self.lanes))
            sum_moves(self.pairs, first, last, diagonal, self.oldest, sums, self.lanes)
            return sums

        own, mixed = np.sum(self._on_threads(sum_range, len(diagonal)), axis=0)[:m, : 2 * m : 2], self.mixed[:m, :m]
        below = np.where(age[:, None] > age, mixed, 0.0)  # s of a pair with y of an older one
        inverse = np.linalg.pinv(np.block([[own, below], [below.T, -np.diag(np.diag(mixed))]]))
        in_turns, wide = np.arange(2 * m).reshape(2, m).T.ravel(), aligned_zeros(2 * m, len(self.lanes))
        wide[:, : 2 * m] = inverse[np.ix_(in_turns, in_turns)]
        return wide

    def _workspace(self, n_rows: int) -> np.ndarray:
        """Return work rows: those of the previous step if there are enough of them, and not many more."""
        if not n_rows <= len(self._rows) <= SPARE * n_rows:
            self._rows = aligned_zeros(n_rows, len(self.lanes), np.float32)
        return self._rows

    def _on_threads(self, work: Callable[[int, int], Any], n: int) -> list[Any]:
        """Run work(first, last) on even ranges of n items, the first in this thread and the others in the pool."""
        ranges = [(n * k // self.n_jobs, n * (k + 1) // self.n_jobs) for k in range(self.n_jobs)]
        others = [] if self._pool is None else [self._pool.submit(work, *some) for some in ranges[1:]]
        return [work(*ranges[0]), *(other.result() for other in others)]

    def state(self) -> dict[str, Any]:
        """Return the named arrays that `restore` takes. Live: copy to keep."""
        moves, bends = (self.pairs.table[:, first : 2 * len(self.order) : 2].T for first in (0, 1))
        return {"moves": moves, "bends": bends, "order": np.array(self.order, np.int64)}

    def restore(self, name: str, state: Mapping[str, Any]) -> None:
        moves, bends, order = (state[item] for item in ("moves", "bends", "order"))
        if moves.shape != bends.shape or len(moves) > self.capacity:
            raise StateMismatch(name, f"it has {len(moves)} moves and {len(bends)} bends; pairs={self.capacity}")
        if sorted(order.tolist()) != list(range(len(moves))):
            raise StateMismatch(name, f"'order' holds {order.tolist()}, but there are {len(moves)} pairs")
        for slot in order.tolist():
            self._keep(slot, np.array(moves[slot]), np.array(bends[slot]))
