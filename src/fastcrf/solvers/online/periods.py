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
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from fastcrf.kernel import standing_kernel
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
    UNSEEN,
    WEIGHT,
    RatedVector,
    first_row,
    look_at_cell,
    look_at_row,
)


class Discount(NamedTuple):
    """v as a function of gamma."""

    kappa: float  # largest |gamma| that counts
    alpha: float  # largest v
    m: float
    n: float

    def of(self, gamma: float) -> float:
        u = math.copysign(min(abs(gamma), self.kappa), gamma)
        return (self.m + u) / (self.m + self.kappa + self.n)


def make_discount(kappa: float, alpha: float, beta: float) -> Discount:
    return Discount(kappa, alpha, (alpha + beta) / (alpha - beta) * kappa, 2.0 * (1.0 - alpha) / (alpha - beta) * kappa)


class Adaptation(Protocol):
    """What happens to step sizes at the end of a double period."""

    def factor(self, vector: RatedVector, lanes: tuple[int, ...]) -> float:
        """Adapt the rates of weights, if they have rates of their own; what the common step size is multiplied by."""
        ...


class ComponentAdaptation(NamedTuple):
    """A gamma for each weight. negative: what a ratio below zero counts, -1 as such, 1 by its size."""

    discount: Discount
    negative: float = -1.0

    def factor(self, vector: RatedVector, lanes: tuple[int, ...]) -> float:
        adapt_rates(vector, self.discount, self.negative, lanes)
        return self.discount.alpha


class GlobalAdaptation(NamedTuple):
    """One gamma for all weights that the double period looked at."""

    discount: Discount
    gamma: Callable[[float, float, float], float]  # of D1 . D1, D1 . D2 and D2 . D2; infinite where it has no meaning

    def factor(self, vector: RatedVector, lanes: tuple[int, ...]) -> float:
        sums = np.zeros(3)
        sum_products(vector, sums, lanes)
        gamma = self.gamma(*sums.tolist())
        return self.discount.alpha if math.isinf(gamma) else self.discount.of(gamma)


def gamma_1(before: float, product: float, after: float) -> float:
    """D2 . D1 / |D1|^2 (yang2012, eq. 4.8)."""
    return product / before if before else math.inf


def gamma_2(before: float, product: float, after: float) -> float:
    """|D2| / |D1| (eq. 4.9)."""
    return math.sqrt(after) / math.sqrt(before) if before else math.inf


def gamma_3(before: float, product: float, after: float) -> float:
    """|D2|^2 / (D2 . D1) (eq. 4.10)."""
    return after / product if product else math.inf


GAMMAS = {1: gamma_1, 2: gamma_2, 3: gamma_3}


def end_period(vector: RatedVector, adaptation: Adaptation, lanes: tuple[int, ...]) -> float:
    """Bring up to date what the double period looked at, adapt, and begin the next; the factor of the common step size.

    Writes: vector.
    """
    look_again(vector, lanes)
    factor = adaptation.factor(vector, lanes)
    n_rows, n_cells = vector.counts[N_ROWS], vector.counts[N_CELLS]
    vector.marks[vector.seen_rows[:n_rows], MARK] = UNSEEN
    vector.cells[vector.seen_cells[:n_cells], CELL_MARK] = UNSEEN
    vector.counts[:] = 0
    vector.clocks[BEGAN] = vector.clocks[MIDDLE] = vector.clocks[NOW]
    return factor


def pass_middle(vector: RatedVector) -> None:
    """The second half begins. Writes: vector."""
    vector.counts[LATE] = 1
    vector.clocks[MIDDLE] = vector.clocks[NOW]


@standing_kernel
def look_again(vector, lanes):
    """Writes: vector."""
    for o in range(vector.counts[N_ROWS]):
        look_at_row(vector, vector.seen_rows[o], lanes)
    for o in range(vector.counts[N_CELLS]):
        look_at_cell(vector, vector.seen_cells[o])


@standing_kernel
def adapt_rates(vector, discount, negative, lanes):
    """Multiply the rate of each weight that was looked at by v_j / alpha. Writes: vector."""
    for o in range(vector.counts[N_ROWS]):
        at = first_row(vector, vector.seen_rows[o])
        for k in range(vector.rows.shape[1]):
            start, half, end = vector.rows[at + START, k], vector.rows[at + HALF, k], vector.rows[at + WEIGHT, k]
            vector.rows[at + RATE, k] *= own_discount(start, half, end, discount, negative)
    for o in range(vector.counts[N_CELLS]):
        c = vector.seen_cells[o]
        start, half, end = vector.cells[c, START], vector.cells[c, HALF], vector.cells[c, WEIGHT]
        vector.cells[c, RATE] *= own_discount(start, half, end, discount, negative)


@standing_kernel
def own_discount(start, half, end, discount, negative):
    """v_j / alpha of one weight."""
    if half == start:
        return 1.0
    gamma = (end - half) / (half - start)  # (4.7)
    u = min(abs(gamma), discount.kappa) * (1.0 if gamma >= 0.0 else negative)
    return (discount.m + u) / (discount.m + discount.kappa + discount.n) / discount.alpha


@standing_kernel
def sum_products(vector, sums, lanes):
    """D1 . D1, D1 . D2 and D2 . D2 over what was looked at. Writes: sums."""
    for o in range(vector.counts[N_ROWS]):
        at = first_row(vector, vector.seen_rows[o])
        for k in range(vector.rows.shape[1]):
            before = vector.rows[at + HALF, k] - vector.rows[at + START, k]
            after = vector.rows[at + WEIGHT, k] - vector.rows[at + HALF, k]
            sums[0] += before * before
            sums[1] += before * after
            sums[2] += after * after
    for o in range(vector.counts[N_CELLS]):
        c = vector.seen_cells[o]
        before = vector.cells[c, HALF] - vector.cells[c, START]
        after = vector.cells[c, WEIGHT] - vector.cells[c, HALF]
        sums[0] += before * before
        sums[1] += before * after
        sums[2] += after * after
