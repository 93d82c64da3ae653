"""A bound on the optimality gap that does not require the optimum.

Let g be the gradient of the loss at w and H_i the entropy of p(. | x_i, w). Weak duality gives a lower bound on F*
for any choice of dual distributions; the model's own give, for c2 > 0,

    F* >= sum_i s_i H_i - sum_j max(|g_j| - c1, 0)^2 / (4 c2),            sum_i s_i H_i = loss(w) - w . g

which for c1 = 0 means F(w) - F* <= |grad F(w)|^2 / (4 c2). For c2 = 0 < c1 the dual point must satisfy |g_j| <= c1. The
model's distributions are therefore combined with the gold label sequence until they do: s = min(1, c1 / |g|_inf), a_i =
1 - s + s q_i, q_i = p(y_i | x_i, w), and the bound is

    F* >= sum_i s_i [ -a_i log a_i - s (1 - q_i) log s + s (H_i + q_i log q_i) ]

Without a penalty there is no bound, and the certificate has an infinite gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel

ROUNDING_OF_F = 1e-12  # of the objective, a float64 sum over sequences and weights: no gap is certified below it


@dataclass(frozen=True, repr=False)
class Certificate:
    """A certified bound on the optimality gap: F(w) - F* <= gap.

    Attributes
    ----------
    objective : float
        F(w), penalties included. NaN if the algorithm minimizes another function.
    lower_bound : float
        A certified lower bound on F*; minus infinity if there is none.
    gap : float
        objective - lower_bound, and at least the rounding error of the objective, 1e-12 of it.
    relative_gap : float
        gap / lower_bound, a bound on (F(w) - F*) / F*; infinite if the lower bound is not positive.
    applies : bool
        Whether the algorithm minimizes the objective.
    penalized : bool
        Whether the objective has a penalty. Without one there is no lower bound.
    convex : bool
        Whether the objective is convex: that of partial labels is not, and has no lower bound.
    """

    objective: float
    lower_bound: float
    penalized: bool = True
    convex: bool = True

    @property
    def gap(self) -> float:
        """Bound F(w) - F* from above."""
        return max(self.objective - self.lower_bound, ROUNDING_OF_F * abs(self.objective))

    @property
    def relative_gap(self) -> float:
        """Bound (F(w) - F*) / F* from above; infinite if the lower bound is not positive."""
        if self.gap == 0.0:
            return 0.0
        return self.gap / self.lower_bound if self.lower_bound > 0 else math.inf

    @property
    def applies(self) -> bool:
        """Return whether the algorithm minimizes the objective."""
        return not math.isnan(self.objective)

    def __repr__(self) -> str:
        bounds = f"objective={self.objective:.6g}, lower_bound={self.lower_bound:.6g}"
        return f"Certificate({bounds}, gap={self.gap:.3g}, relative_gap={self.relative_gap:.1e})"

    def __str__(self) -> str:
        if not self.applies:
            return "not applicable: this algorithm does not minimize the objective"
        if not self.convex:
            return "no certificate: the objective of partial labels is not convex"
        if math.isinf(self.gap) and not self.penalized:
            return "no certificate: without a penalty there is no bound on the distance to the optimum"
        if math.isinf(self.gap):
            return "no certificate: the lower bound overflows float64; scale the values of the attributes down"
        if self.relative_gap > 1.0:  # F* may be less than half of this: true of most starts, and not useful
            return f"objective {self.objective:,.6g}; its optimality gap has no useful bound yet"
        return f"objective {self.objective:,.6g} is within {100 * self.relative_gap:.2g} % of the optimum"


NOT_APPLICABLE = Certificate(math.nan, -math.inf)  # of weights from an algorithm that does not minimize F


@kernel
def strongly_convex_gap(weights: Floats, gradient: Floats, c1: float, factors: Floats, c2: float) -> float:
    """Return F(w) minus the lower bound on F* for c2 > 0; `gradient` is that of the smooth part, loss + c2 |w|^2.

    The loss cancels. With g the gradient of the loss alone, the rest is a sum over the weights of

        c1 |w_j| + c2 w_j^2 + w_j g_j + max(|g_j| - c1, 0)^2 / (4 c2)

    No term is negative: rounding loses nothing, and one pass over the vectors computes it. factors: the factor of c1
    for each weight, if there are any.
    """
    gap = 0.0
    for f in range(len(weights)):
        w = weights[f]
        g = gradient[f] - 2.0 * c2 * w
        threshold = c1 * factors[f] if len(factors) > 0 else c1
        excess = max(abs(g) - threshold, 0.0)
        gap += (threshold * abs(w) + c2 * w * w) + w * g + excess * excess / (4.0 * c2)
    return gap


ROUNDING = 1e-10  # of a bound that is a difference of sums over the corpus and over the weights


def dual_bound(entropy: float, slopes: Floats, c1: float, c2: float, along_prior: float = 0.0) -> float | None:
    """Return a lower bound on F* from any distributions over the label sequences of each sequence, or None without a
    penalty.

    The arguments are their entropy, weighted and summed, and `slopes`, their expected minus observed features.

        F* >= entropy - sum_f max(|slopes_f| - c1, 0)^2 / (4 c2)

    For c2 = 0 they are combined with the gold label sequence, whose entropy and slopes are 0, until no component
    exceeds c1. along_prior: prior . slopes, a term of the bound for the penalty c2 |w - prior|^2.
    """
    if c1 == c2 == 0.0:
        return None
    if c2 == 0.0:
        largest = float(np.abs(slopes).max(initial=0.0))
        bound = entropy * min(1.0, c1 / largest if largest > 0.0 else 1.0)
    else:
        bound = entropy + along_prior - conjugate(slopes, c1) / (4.0 * c2)
    return bound - ROUNDING * (abs(entropy) + abs(along_prior))


@kernel
def conjugate(slopes: Floats, c1: float) -> float:
    """Return sum_f max(|slopes_f| - c1, 0)^2."""
    total = 0.0
    for f in range(len(slopes)):
        excess = max(abs(slopes[f]) - c1, 0.0)
        total += excess * excess
    return total


def sparse_bound(figures: Floats, sequence_weights: Floats, largest_slope: float, c1: float) -> float:
    """Return a lower bound on F* for c2 = 0 < c1, from (log Z, expected score, gold score) of each sequence."""
    log_z, expected, gold = figures.T
    q = np.exp(np.minimum(gold - log_z, 0.0))
    entropy = np.maximum(log_z - expected, 0.0)
    share = min(1.0, c1 / largest_slope) if largest_slope > 0 else 1.0
    mixed = 1.0 - share + share * q
    mixed_log = mixed * np.log(np.maximum(mixed, np.finfo(float).tiny))  # 0 log 0 = 0
    terms = -mixed_log - share * (1.0 - q) * math.log(share) + share * (entropy + q * (gold - log_z))
    return float(terms @ sequence_weights) if len(sequence_weights) else float(terms.sum())
