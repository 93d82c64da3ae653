"""The end of a double period: from how far the weights went in its two halves to their next step sizes.

With D1 and D2 the ways of the two halves, gamma = D2 / D1 of a weight by itself (Hsu et al. 2009; yang2012, eq. 4.7),
or one gamma for all by their inner products (eqs. 4.8 to 4.10); then

    u = sgn(gamma) min(|gamma|, kappa)                                          (4.19)
    v = (m + u) / (m + kappa + n),   m = (alpha + beta) / (alpha - beta) kappa,
                                     n = 2 (1 - alpha) / (alpha - beta) kappa   (4.18)
    eta <- v eta                                                                (4.17)

which is beta <= v <= alpha. Where gamma divides by zero, v = alpha. A weight that the double period did not look at was
moved by its penalty alone, which shrinks it evenly: gamma is about 1, and v = alpha for it, too. Since that is the rule
and not the exception, alpha goes into the common factor of the step sizes, and v_j / alpha into the rate of a weight.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fastcrf.generic import generic
from fastcrf.kernel import borrowing_kernel, inlined_kernel, standing_kernel
from fastcrf.solvers.online.rated_vector import (
    BEGAN,
    CELL_MARK,
    HALF,
    LATE,
    MARK,
    MIDDLE,
    N_CELLS,
    N_ROWS,
    NOW,
    RATE,
    START,
    STEP,
    UNSEEN,
    WEIGHT,
    first_row,
    look_at_cell,
    look_at_row,
)


class Discount(NamedTuple):
    """v / alpha = level + slope u, which is (m + u) / (m + kappa + n) / alpha."""

    kappa: float  # largest |gamma| that counts
    alpha: float  # largest v
    level: float
    slope: float


def make_discount(kappa: float, alpha: float, beta: float) -> Discount:
    m, n = (alpha + beta) / (alpha - beta) * kappa, 2.0 * (1.0 - alpha) / (alpha - beta) * kappa
    whole = (m + kappa + n) * alpha
    return Discount(kappa, alpha, m / whole, 1.0 / whole)


class ByComponent(NamedTuple):
    """A gamma for each weight, D2 / D1 (4.7)."""

    period: int  # updates in half a double period
    discount: Discount
    negative: float  # what a ratio below zero counts: -1 as such, 1 by its size


class ByProducts(NamedTuple):
    """One gamma for all weights that the double period looked at."""

    period: int
    discount: Discount
    gamma: int  # 1, 2 or 3: equations 4.8, 4.9, 4.10


GAMMAS = (1, 2, 3)


@generic
def adapt(rule, vector, lanes):  # type: ignore[no-untyped-def]
    """Adapt rates and common step size to the double period that ends, and forget what it looked at. Writes: vector."""


@borrowing_kernel
def count_update(rule, updates, vector, lanes):
    """After update number `updates`: the middle or the end of a double period, or neither. Writes: vector."""
    if updates % rule.period != 0:
        return
    if vector.counts[LATE] == 1:
        adapt(rule, vector, lanes)
        vector.counts[N_ROWS], vector.counts[N_CELLS] = 0, 0
        vector.state[BEGAN] = vector.state[NOW]
    vector.state[MIDDLE] = vector.state[NOW]
    vector.counts[LATE] = 1 - vector.counts[LATE]


@inlined_kernel
def part_with_row(vector, o, lanes):
    """The place of the row that was looked at as number o, up to date, and no longer marked. Writes: vector."""
    r = vector.seen_rows[o]
    look_at_row(vector, r, lanes)
    vector.marks[r, MARK] = UNSEEN
    return first_row(vector, r)


@inlined_kernel
def part_with_cell(vector, o):
    """The cell that was looked at as number o, up to date, and no longer marked. Writes: vector."""
    c = vector.seen_cells[o]
    look_at_cell(vector, c)
    vector.cells[c, CELL_MARK] = UNSEEN
    return c


@adapt.register(ByComponent)
@standing_kernel
def adapt_rates(rule, vector, lanes):
    """Multiply the rate of each weight that was looked at by v_j / alpha, and all step sizes by alpha."""
    rows, cells = vector.rows, vector.cells
    for o in range(vector.counts[N_ROWS]):
        at = part_with_row(vector, o, lanes)
        for k in range(rows.shape[1]):
            one, two = rows[at + HALF, k] - rows[at + START, k], rows[at + WEIGHT, k] - rows[at + HALF, k]
            rows[at + RATE, k] *= own_discount(one, two, rule.discount, rule.negative)
    for o in range(vector.counts[N_CELLS]):
        c = part_with_cell(vector, o)
        one, two = cells[c, HALF] - cells[c, START], cells[c, WEIGHT] - cells[c, HALF]
        cells[c, RATE] *= own_discount(one, two, rule.discount, rule.negative)
    vector.state[STEP] *= rule.discount.alpha


@inlined_kernel
def own_discount(one, two, discount, negative):
    """v_j / alpha of one weight. Without branches, so that the compiler makes vector code of its callers."""
    gamma = two / one  # (4.7)
    u = min(abs(gamma), discount.kappa) * (1.0 if gamma >= 0.0 else negative)  # (4.19)
    return discount.level + discount.slope * u if one != 0.0 else 1.0  # (4.18)


@adapt.register(ByProducts)
@standing_kernel
def adapt_step(rule, vector, lanes):
    """Multiply all step sizes by v."""
    rows, cells = vector.rows, vector.cells
    before, product, after = 0.0, 0.0, 0.0
    for o in range(vector.counts[N_ROWS]):
        at = part_with_row(vector, o, lanes)
        for k in range(rows.shape[1]):
            one, two = rows[at + HALF, k] - rows[at + START, k], rows[at + WEIGHT, k] - rows[at + HALF, k]
            before, product, after = before + one * one, product + one * two, after + two * two
    for o in range(vector.counts[N_CELLS]):
        c = part_with_cell(vector, o)
        one, two = cells[c, HALF] - cells[c, START], cells[c, WEIGHT] - cells[c, HALF]
        before, product, after = before + one * one, product + one * two, after + two * two
    gamma, kappa = ratio_of_ways(rule.gamma, before, product, after), rule.discount.kappa
    u = kappa if math.isinf(gamma) else max(-kappa, min(gamma, kappa))  # (4.19)
    vector.state[STEP] *= rule.discount.alpha * (rule.discount.level + rule.discount.slope * u)  # (4.18)


@borrowing_kernel
def ratio_of_ways(number, before, product, after):
    """gamma by equation 4.8, 4.9 or 4.10, of |D1|^2, D1 . D2 and |D2|^2; infinite where it divides by zero."""
    if number == 1:
        return product / before if before > 0.0 else math.inf
    if number == 2:
        return math.sqrt(after / before) if before > 0.0 else math.inf
    return after / product if product != 0.0 else math.inf
