"""A quadratic model of the smooth part with the L1 penalty in full, and its minimum by coordinate descent.

Zhong, Yen, Dhillon & Ravikumar (2014), section 2: over the weights that are free to move, find the d with the least

    g.d + d.B d / 2 + c1 |w + d|_1,     B = D - Q M^-1 Q^T,   Q = [D S, Y],   M = [[S^T D S, L], [L^T, -E]]

where S and Y are the last changes of the weights and of the gradient, E the diagonal and L what is below it of S^T Y
(Byrd, Nocedal & Schnabel 1994). With u = Q^T d at hand, a coordinate costs as much as there are pairs, whatever the
number of weights; no data are looked at. The pairs of a weight lie side by side, because coordinate descent, and all
that prepares it, goes from weight to weight. After a sweep, weights that stayed at zero are left out (the paper's
shrinking).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.kernel import borrowing_kernel
from fastcrf.memory import Kept, MemoryMismatch
from fastcrf.proximal import soft
from fastcrf.types import Floats, Longs
from fastcrf.vectors import dot, norm

KEEPS = {
    "moves": Kept("weights", n_axes=2),
    "bends": Kept("weights", n_axes=2),
    "order": Kept(dtype="int64", low=0, n_axes=1),
}
LEAST_CURVATURE = 1e-10  # cos(s, y) of a pair that is kept
LEAST_SHARE = 1e-3  # of D that the diagonal of B is at least: rounding may take more away


class ProximalModel:
    """The last `capacity` pairs: moves of the weights (S) and bends of the gradient (Y), in the slots of `order`."""

    def __init__(self, capacity: int, n_weights: int) -> None:
        self.capacity = capacity
        self.table = np.zeros((n_weights, 2 * capacity))  # moves, then bends, by slot
        self.order: list[int] = []  # slots, oldest pair first
        self.last_moved = np.zeros(n_weights, np.int64)  # the pair that a weight moved in last, counted from 1
        self.numbers = [0] * capacity  # of the pair in each slot
        self.newest: tuple[Floats, Floats] = (np.empty(0), np.empty(0))  # the last pair that was kept

    def __len__(self) -> int:
        return len(self.order)

    def add(self, move: Floats, bend: Floats) -> None:
        """Keep a pair in place of the oldest, unless it has no curvature."""
        if not dot(move, bend) > LEAST_CURVATURE * norm(move) * norm(bend):
            return
        if len(self.order) == self.capacity:
            slot = self.order.pop(0)
        else:
            slot = next(slot for slot in range(self.capacity) if slot not in self.order)
        self._keep(slot, move, bend)

    def _keep(self, slot: int, move: Floats, bend: Floats) -> None:
        """A pair that is newer than all others, in a free slot."""
        self.numbers[slot] = max(self.numbers) + 1
        self.order.append(slot)
        self.newest = move, bend
        write_pair(move, bend, slot, self.numbers[slot], self.table, self.last_moved)

    def forget(self) -> None:
        self.order.clear()

    def scaled(self, diagonal: Floats, steepest: Floats) -> Floats:
        """`diagonal` times what fits the newest pair, y.(y/D) / y.s; without pairs, for a first step of length 1."""
        if not self.order:
            return diagonal * max(norm(steepest / np.sqrt(diagonal)), 1e-300)
        move, bend = self.newest
        return diagonal * (dot(bend, bend / diagonal) / dot(move, bend))

    def minimum(
        self, free: Longs, w: Floats, g: Floats, c1: float, diagonal: Floats, sweeps: int, tolerance: float
    ) -> tuple[Floats, int]:
        """(the d of the least model over the weights `free`, sweeps that it took); the first move's share ends it."""
        size = 2 * len(self.order)
        basis, twisted = np.empty((len(free), size)), np.empty((len(free), size))  # Q, and Q M^-1
        step, own, sums = np.zeros(len(free)), np.empty(len(free)), np.zeros(size)
        point = Free(w[free], g[free], diagonal[free], own, np.arange(len(free)))
        gather_rows(self.table, free, diagonal, basis)
        prepare_rows(basis, self._inverse(diagonal), point.diagonal, twisted, own)
        taken = descend(point, c1, basis, twisted, sweeps, tolerance, sums, step)
        direction = np.zeros(len(w))
        direction[free] = step
        return direction, int(taken)

    def _inverse(self, diagonal: Floats) -> Floats:
        """M^-1, by slot: the slots in use are the first ones."""
        m, age = len(self.order), np.argsort(self.order)
        own, mixed = np.zeros((m, m)), np.zeros((m, m))
        moved = np.flatnonzero(self.last_moved >= min((self.numbers[slot] for slot in self.order), default=0))
        sum_products(self.table, moved, diagonal, own, mixed)
        below = np.where(age[:, None] > age, mixed, 0.0)  # s of a pair with y of an older one
        return np.linalg.pinv(np.block([[own, below], [below.T, -np.diag(np.diag(mixed))]]))

    def state(self) -> dict[str, Any]:
        """The named arrays that `restore` takes. Live: copy to keep."""
        moves, bends = (self.table[:, first : first + len(self.order)].T for first in (0, self.capacity))
        return {"moves": moves, "bends": bends, "order": np.array(self.order, np.int64)}

    def restore(self, name: str, memory: Mapping[str, Any]) -> None:
        moves, bends, order = (memory[item] for item in ("moves", "bends", "order"))
        if moves.shape != bends.shape or len(moves) > self.capacity:
            raise MemoryMismatch(name, f"it has {len(moves)} moves and {len(bends)} bends; pairs={self.capacity}")
        if sorted(order.tolist()) != list(range(len(moves))):
            raise MemoryMismatch(name, f"'order' holds {order.tolist()}, but there are {len(moves)} pairs")
        for slot in order.tolist():
            self._keep(slot, np.array(moves[slot]), np.array(bends[slot]))


class Free(NamedTuple):
    """The weights that are free to move."""

    w: Floats
    g: Floats
    diagonal: Floats  # D
    own: Floats  # the diagonal of B
    active: Longs  # those of the next sweep come first


@borrowing_kernel
def write_pair(move: Floats, bend: Floats, slot: int, number: int, table: Floats, last_moved: Longs) -> None:
    """Writes: table, last_moved."""
    behind = table.shape[1] // 2 + slot
    for i in range(len(move)):
        table[i, slot] = move[i]
        table[i, behind] = bend[i]
        if move[i] != 0.0:
            last_moved[i] = number


@borrowing_kernel
def gather_rows(table: Floats, free: Longs, diagonal: Floats, basis: Floats) -> None:
    """Rows of Q: D s and y of each free weight. Writes: basis."""
    m, behind = basis.shape[1] // 2, table.shape[1] // 2
    for i in range(len(free)):
        f = free[i]
        for a in range(m):
            basis[i, a] = diagonal[f] * table[f, a]
            basis[i, m + a] = table[f, behind + a]


@borrowing_kernel
def sum_products(table: Floats, some: Longs, diagonal: Floats, own: Floats, mixed: Floats) -> None:
    """S^T D S and S^T Y, summed over some weights. Writes: own, mixed."""
    behind = table.shape[1] // 2
    for i in range(len(some)):
        f = some[i]
        for a in range(len(own)):
            move = table[f, a]
            if move != 0.0:
                scaled = move * diagonal[f]
                for b in range(len(own)):
                    own[a, b] += scaled * table[f, b]
                    mixed[a, b] += move * table[f, behind + b]


@borrowing_kernel
def prepare_rows(basis: Floats, inverse: Floats, diagonal: Floats, twisted: Floats, own: Floats) -> None:
    """Writes: twisted, the rows of Q M^-1; own, the diagonal of B."""
    for i in range(len(basis)):
        less = 0.0
        for a in range(basis.shape[1]):
            total = 0.0
            for b in range(basis.shape[1]):
                total += inverse[a, b] * basis[i, b]
            twisted[i, a] = total
            less += total * basis[i, a]
        own[i] = max(diagonal[i] - less, LEAST_SHARE * diagonal[i])


@borrowing_kernel
def descend(
    free: Free, c1: float, basis: Floats, twisted: Floats, sweeps: int, tolerance: float, sums: Floats, step: Floats
) -> int:
    """Coordinate descent from step = 0, until a sweep moves less than `tolerance` of the first one; returns the sweeps.

    Writes: step, sums (Q^T step), free.active.
    """
    first, active = 0.0, len(step)
    for sweep in range(sweeps):
        moved, kept = 0.0, 0
        for n in range(active):
            i = free.active[n]
            slope = free.g[i] + free.diagonal[i] * step[i]
            for a in range(len(sums)):
                slope -= twisted[i, a] * sums[a]
            here = free.w[i] + step[i]
            there = soft(here - slope / free.own[i], c1 / free.own[i])
            change = there - here
            if change != 0.0:
                step[i] += change
                moved += abs(change) * free.own[i]
                for a in range(len(sums)):
                    sums[a] += change * basis[i, a]
            if there != 0.0 or change != 0.0:
                free.active[kept] = i
                kept += 1
        active = kept
        if sweep == 0:
            first = moved
        if moved <= tolerance * first:
            return sweep + 1
    return sweeps
