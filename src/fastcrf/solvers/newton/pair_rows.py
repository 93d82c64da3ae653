"""The loops over weights of `proximal_model.py`: curvature pairs as rows, and coordinate descent on the model.

The pairs of a weight are adjacent, s and y in turns, because coordinate descent and its preparation proceed from weight
to weight. A row has the numbers of all pairs, so that sums over weights are vectors that stay in registers. After a
sweep, weights that stayed at zero are skipped (the shrinking of Zhong et al. 2014).
"""

from __future__ import annotations

from typing import NamedTuple

from fastcrf.core.types import Floats, Longs
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.penalties.proximal import soft
from fastcrf.simd.lanes import add_scaled, load, multiply, store, total, zeros

LEAST_SHARE = 1e-3  # smallest share of D in the diagonal of B, because rounding may reduce it further


class Pair(NamedTuple):
    """A pair to write."""

    move: Floats  # s
    bend: Floats  # y
    slot: int
    number: int  # of the pair, counted from 1


class Pairs(NamedTuple):
    """The curvature pairs, and the weights that they describe."""

    table: Floats  # [weights, lanes] s and y of slot 0, of slot 1, ...; 0 where there is no pair
    last_moved: Longs  # [weights] the number of the last pair in which a weight moved


class Free(NamedTuple):
    """The weights that are free to move."""

    places: Longs
    w: Floats
    g: Floats
    diagonal: Floats  # D
    unit: Floats  # 1 / the diagonal of B
    active: Longs  # those of the next sweep come first


@noalloc_kernel
def write_pair(pair, first, last, oldest, pairs, sums, lanes):
    """Write weights first..last-1 of a pair, and its inner products with all pairs, itself included.

    s with every row goes to sums[0], and y to sums[1], both over weights that have moved since the oldest pair. Writes:
    pairs, sums.
    """
    table, last_moved, s = pairs.table, pairs.last_moved, 2 * pair.slot
    of_move, of_bend = zeros(lanes), zeros(lanes)
    for i in range(first, last):
        move, bend = pair.move[i], pair.bend[i]
        table[i, s] = move
        table[i, s + 1] = bend
        if move != 0.0:
            last_moved[i] = pair.number
            of_move = add_scaled(move, load(table, i, 0, lanes), of_move)
        if last_moved[i] >= oldest:
            of_bend = add_scaled(bend, load(table, i, 0, lanes), of_bend)
    store(sums, 0, 0, of_move)
    store(sums, 1, 0, of_bend)


@noalloc_kernel
def sum_moves(pairs, first, last, diagonal, oldest, sums, lanes):
    """Add D s with every row, by slot, over weights first..last-1 that have moved since the oldest pair.

    Writes: sums (added to).
    """
    table = pairs.table
    for i in range(first, last):
        if pairs.last_moved[i] >= oldest:
            row = load(table, i, 0, lanes)
            for slot in range(len(sums)):
                move = table[i, 2 * slot]
                if move != 0.0:
                    store(sums, slot, 0, add_scaled(diagonal[i] * move, row, load(sums, slot, 0, lanes)))


@noalloc_kernel
def prepare_rows(table, free, first, last, inverse, rows, lanes):
    """Compute rows of Q and Q M^-1, in turns, of the free weights first..last-1. Writes: rows; free.unit."""
    for i in range(first, last):
        f, diagonal = free.places[i], free.diagonal[i]
        store(rows, 2 * i, 0, load(table, f, 0, lanes))
        for s in range(0, len(inverse), 2):
            rows[2 * i, s] *= diagonal
        twisted = zeros(lanes)
        for a in range(len(inverse)):
            twisted = add_scaled(rows[2 * i, a], load(inverse, a, 0, lanes), twisted)
        store(rows, 2 * i + 1, 0, twisted)
        less = total(multiply(load(rows, 2 * i, 0, lanes), twisted))
        free.unit[i] = 1.0 / max(diagonal - less, LEAST_SHARE * diagonal)


@noalloc_kernel
def descend(free, c1, rows, sweeps, tolerance, step, lanes):
    """Run coordinate descent from step = 0, until a sweep moves less than `tolerance` of the first one; return the
    sweeps.

    Writes: step, free.active.
    """
    first, active, taken = 0.0, len(step), zeros(lanes)  # taken: M^-1 Q^T step
    for sweep in range(sweeps):
        moved, kept = 0.0, 0
        for n in range(active):
            i = free.active[n]
            slope = free.g[i] + free.diagonal[i] * step[i] - total(multiply(load(rows, 2 * i, 0, lanes), taken))
            here, unit = free.w[i] + step[i], free.unit[i]
            there = soft(here - unit * slope, c1 * unit)
            change = there - here
            if change != 0.0:
                step[i] += change
                moved += abs(change) / unit
                taken = add_scaled(change, load(rows, 2 * i + 1, 0, lanes), taken)
            if there != 0.0 or change != 0.0:
                free.active[kept] = i
                kept += 1
        active = kept
        if sweep == 0:
            first = moved
        if moved <= tolerance * first:
            return sweep + 1
    return sweeps
