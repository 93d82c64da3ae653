"""The end of a double period: new step sizes from the distances that the weights moved in its two halves.

With D1 and D2 the distances of the two halves, gamma = D2 / D1 for each weight separately (Hsu et al. 2009; Yang et al.
2012, eq. 4.7), or one gamma for all by their inner products (eqs. 4.8 to 4.10); then

    u = sgn(gamma) min(|gamma|, kappa)                                          (4.19)
    v = (m + u) / (m + kappa + n),   m = (alpha + beta) / (alpha - beta) kappa,
                                     n = 2 (1 - alpha) / (alpha - beta) kappa   (4.18)
    eta <- v eta                                                                (4.17)

which is beta <= v <= alpha. If gamma divides by zero, v = alpha. A weight that no sequence of the double period uses
was moved by its penalty alone, which shrinks it evenly: gamma is about 1, and v = alpha for it as well. Since most
weights are of this kind, alpha goes into the common factor of the step sizes, and v_j / alpha into the rate of a
weight.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel, outlined_kernel
from fastcrf.simd.lanes import add, larger, load, multiply, scale, shift, store, total, zeros
from fastcrf.simd.quotients import divide_unless_zero
from fastcrf.solvers.online.rated_vector import BEGAN, LATE, MIDDLE, N_CELLS, N_ROWS, NOW, RATE, STEP, first_row
from fastcrf.solvers.online.visit_log import (
    clear_visit,
    displacement,
    lay_out_seen_cells,
    put_back_seen_cells,
    ways_of_cells,
)


class Discount(NamedTuple):
    """v / alpha = level + slope u, which is (m + u) / (m + kappa + n) / alpha."""

    kappa: float  # largest |gamma| used
    alpha: float  # largest v
    level: float
    slope: float


def make_discount(kappa: float, alpha: float, beta: float) -> Discount:
    m, n = (alpha + beta) / (alpha - beta) * kappa, 2.0 * (1.0 - alpha) / (alpha - beta) * kappa
    whole = (m + kappa + n) * alpha
    return Discount(kappa, alpha, m / whole, 1.0 / whole)


class ByComponent(NamedTuple):
    """One gamma for each weight, D2 / D1 (4.7)."""

    period: int  # updates in half a double period
    discount: Discount
    negative: float  # value of a negative ratio: -1 keeps the sign, 1 takes the absolute value


class ByProducts(NamedTuple):
    """One gamma for all weights that the double period used."""

    period: int
    discount: Discount
    gamma: int  # 1, 2 or 3: equations 4.8, 4.9, 4.10


GAMMAS = (1, 2, 3)


@generic
def adapt(rule, vector, lanes):  # type: ignore[no-untyped-def]
    """Adapt rates and common step size at the end of a double period, and clear its records. Writes: vector."""


@noalloc_kernel
def count_update(rule, updates, vector, lanes):
    """Adapt after update number `updates` if a half or a double period ends there. Writes: vector."""
    if updates % rule.period != 0:
        return
    if vector.counts[LATE] == 1:
        adapt(rule, vector, lanes)
        vector.counts[N_ROWS], vector.counts[N_CELLS] = 0, 0
        vector.state[BEGAN] = vector.state[NOW]
    vector.state[MIDDLE] = vector.state[NOW]
    vector.counts[LATE] = 1 - vector.counts[LATE]


@adapt.register(ByComponent)
@outlined_kernel
def adapt_rates(rule, vector, lanes):
    """Multiply the rate of each used weight by v_j / alpha, and all step sizes by alpha."""
    rows, panel, W = vector.rows, vector.panel, len(lanes)
    for o in range(vector.counts[N_ROWS]):
        at = first_row(vector, vector.seen_rows[o]) + RATE
        for b in range(0, rows.shape[1], W):
            one, two = displacement(vector, o, b, lanes)
            store(rows, at, b, multiply(own_discount(rule, one, two, lanes), load(rows, at, b, lanes)))
        clear_visit(vector, o)
    for o in range(0, vector.counts[N_CELLS], panel.shape[1]):
        n = min(panel.shape[1], vector.counts[N_CELLS] - o)
        lay_out_seen_cells(vector, o, n)
        for b in range(0, panel.shape[1], W):
            one, two = ways_of_cells(vector, b, lanes)
            store(panel, RATE, b, multiply(own_discount(rule, one, two, lanes), load(panel, RATE, b, lanes)))
        put_back_seen_cells(vector, o, n)
    vector.state[STEP] *= rule.discount.alpha


@inlined_kernel
def own_discount(rule, one, two, lanes):
    """Return v_j / alpha of each lane, which is 1 where u is kappa."""
    kappa = rule.discount.kappa
    lowest = shift(zeros(lanes), -kappa)
    gamma = divide_unless_zero(two, one, kappa)  # (4.7)
    gamma = larger(gamma, scale(-rule.negative, gamma))
    u = larger(scale(-1.0, larger(scale(-1.0, gamma), lowest)), lowest)  # (4.19): max(-kappa, min(gamma, kappa))
    return shift(scale(rule.discount.slope, u), rule.discount.level)  # (4.18)


@adapt.register(ByProducts)
@outlined_kernel
def adapt_step(rule, vector, lanes):
    """Multiply all step sizes by v."""
    panel, W = vector.panel, len(lanes)
    before, product, after = zeros(lanes), zeros(lanes), zeros(lanes)
    for o in range(vector.counts[N_ROWS]):
        for b in range(0, panel.shape[1], W):
            one, two = displacement(vector, o, b, lanes)
            before, product = add(before, multiply(one, one)), add(product, multiply(one, two))
            after = add(after, multiply(two, two))
        clear_visit(vector, o)
    for o in range(0, vector.counts[N_CELLS], panel.shape[1]):
        n = min(panel.shape[1], vector.counts[N_CELLS] - o)
        lay_out_seen_cells(vector, o, n)
        for b in range(0, panel.shape[1], W):
            one, two = ways_of_cells(vector, b, lanes)
            before, product = add(before, multiply(one, one)), add(product, multiply(one, two))
            after = add(after, multiply(two, two))
        put_back_seen_cells(vector, o, n)
    gamma, kappa = ratio_of_ways(rule.gamma, total(before), total(product), total(after)), rule.discount.kappa
    u = kappa if math.isinf(gamma) else max(-kappa, min(gamma, kappa))  # (4.19)
    vector.state[STEP] *= rule.discount.alpha * (rule.discount.level + rule.discount.slope * u)  # (4.18)


@noalloc_kernel
def ratio_of_ways(number, before, product, after):
    """Return gamma by equation 4.8, 4.9 or 4.10, from |D1|^2, D1 . D2 and |D2|^2; infinite for a division by zero."""
    if number == 1:
        return product / before if before > 0.0 else math.inf
    if number == 2:
        return math.sqrt(after / before) if before > 0.0 else math.inf
    return after / product if product != 0.0 else math.inf
