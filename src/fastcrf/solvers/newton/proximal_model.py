"""A quadratic model of the smooth part with the L1 penalty in full, and its minimum by coordinate descent.

Zhong, Yen, Dhillon & Ravikumar (2014), section 2: over the weights that are free to move, find the d with the least

    g.d + d.B d / 2 + c1 |w + d|_1,     B = D - Q M^-1 Q^T,   Q = [D S, Y],   M = [[S^T D S, L], [L^T, -E]]

where S and Y are the last changes of the weights and of the gradient, E the diagonal and L what is below it of S^T Y
(Byrd, Nocedal & Schnabel 1994). With u = Q^T d at hand, a coordinate costs as much as there are pairs, whatever the
number of weights; no data are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.kernel import kernel
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
        self.moves, self.bends = np.empty((0, n_weights)), np.empty((0, n_weights))  # grow with the slots in use
        self.moved = np.empty((0, n_weights), np.bool_)  # where moves are not zero
        self.order: list[int] = []  # slots, oldest pair first

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
        if slot == len(self.moves):
            self.moves, self.bends = np.vstack((self.moves, move)), np.vstack((self.bends, bend))
            self.moved = np.vstack((self.moved, move != 0.0))
        else:
            self.moves[slot], self.bends[slot], self.moved[slot] = move, bend, move != 0.0
        self.order.append(slot)

    def forget(self) -> None:
        self.order.clear()

    def scaled(self, diagonal: Floats, steepest: Floats) -> Floats:
        """`diagonal` times what fits the newest pair, y.(y/D) / y.s; without pairs, for a first step of length 1."""
        if not self.order:
            return diagonal * max(norm(steepest / np.sqrt(diagonal)), 1e-300)
        move, bend = self.moves[self.order[-1]], self.bends[self.order[-1]]
        return diagonal * (dot(bend, bend / diagonal) / dot(move, bend))

    def minimum(
        self, free: Longs, w: Floats, g: Floats, c1: float, diagonal: Floats, sweeps: int, tolerance: float
    ) -> tuple[Floats, int]:
        """(the d of the least model over the weights `free`, sweeps that it took); the first move's share ends it."""
        D, (moves, bends) = diagonal[free], self._pairs(free)
        basis = np.ascontiguousarray(np.concatenate((moves * D, bends)).T)  # Q, a row for each free weight
        inverse = self._inverse(diagonal)
        step, twisted, own = np.zeros(len(free)), np.empty_like(basis), np.empty(len(free))
        sums = np.zeros(basis.shape[1])
        prepare_rows(basis, inverse, D, twisted, own)
        taken = descend(Coordinates(w[free], g[free], D, own, basis, twisted, c1), sweeps, tolerance, sums, step)
        direction = np.zeros(len(w))
        direction[free] = step
        return direction, int(taken)

    def _inverse(self, diagonal: Floats) -> Floats:
        """M^-1."""
        moved = np.flatnonzero(np.any(self.moved, axis=0))
        moves, bends = self._pairs(moved)
        own, mixed = products(moves * diagonal[moved], moves), products(moves, bends)
        below = np.tril(mixed, -1)
        return np.linalg.pinv(np.block([[own, below], [below.T, -np.diag(np.diag(mixed))]]))

    def _pairs(self, some: Longs) -> tuple[Floats, Floats]:
        """Moves and bends of some weights, oldest first."""
        grid = np.ix_(np.array(self.order, np.int64), some)
        return self.moves[grid], self.bends[grid]

    def state(self) -> dict[str, Any]:
        """The named arrays that `restore` takes. Live: copy to keep."""
        return {"moves": self.moves, "bends": self.bends, "order": np.array(self.order, np.int64)}

    def restore(self, name: str, memory: Mapping[str, Any]) -> None:
        moves, bends, order = (np.array(memory[item]) for item in ("moves", "bends", "order"))
        if moves.shape != bends.shape or len(moves) > self.capacity:
            raise MemoryMismatch(name, f"it has {len(moves)} moves and {len(bends)} bends; pairs={self.capacity}")
        if len(set(order.tolist())) < len(order) or not set(order.tolist()) <= set(range(len(moves))):
            raise MemoryMismatch(name, f"'order' holds {order.tolist()}, but there are {len(moves)} pairs")
        self.moves, self.bends, self.moved, self.order = moves, bends, moves != 0.0, order.tolist()


@kernel
def products(a: Floats, b: Floats) -> Floats:
    """Inner products of the rows of a with those of b."""
    found = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            found[i, j] = dot(a[i], b[j])
    return found


@kernel
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


class Coordinates(NamedTuple):
    """The model of the free weights, a row each: g.d + d.Bd / 2 + c1 |w + d|_1, with B = D - Q M^-1 Q^T."""

    w: Floats
    g: Floats
    diagonal: Floats  # D
    own: Floats  # the diagonal of B
    basis: Floats  # Q
    twisted: Floats  # Q M^-1
    c1: float


@kernel
def descend(model, sweeps, tolerance, sums, step):  # type: ignore[no-untyped-def]
    """Coordinate descent from step = 0, until a sweep moves less than `tolerance` of the first one; returns the sweeps.

    Writes: step, sums (Q^T step).
    """
    w, own, basis, twisted = model.w, model.own, model.basis, model.twisted
    first = 0.0
    for sweep in range(sweeps):
        moved = 0.0
        for i in range(len(w)):
            slope = model.g[i] + model.diagonal[i] * step[i]
            for a in range(len(sums)):
                slope -= twisted[i, a] * sums[a]
            here = w[i] + step[i]
            change = soft(here - slope / own[i], model.c1 / own[i]) - here
            if change != 0.0:
                step[i] += change
                moved += abs(change) * own[i]
                for a in range(len(sums)):
                    sums[a] += change * basis[i, a]
        if sweep == 0:
            first = moved
        if moved <= tolerance * first:
            return sweep + 1
    return sweeps
