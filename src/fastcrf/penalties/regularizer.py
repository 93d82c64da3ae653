"""Penalties, and the conversion of their scales.

The package's objective is a sum over the corpus, in CRFsuite's scale:

    F(w) = sum_i s_i * -log p(y_i | x_i, w)  +  c1 |w|_1  +  c2 |w|^2            (no 1/2)

Stochastic kernels work in the papers' mean scale, (1/n) sum_i ... + lambda1 |w|_1 + (lambda2 / 2) |w|^2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.simd.vectors import dot


class Regularizer(NamedTuple):
    """The penalty c1 |w|_1 + c2 |w|^2, sum scale."""

    c1: float
    c2: float

    @property
    def kind(self) -> str:
        """Return the kind of penalty that a solver must handle: "none", "l1", "l2" or "l1+l2"."""
        return "+".join(name for name, c in (("l1", self.c1), ("l2", self.c2)) if c > 0) or "none"

    def value(self, weights: Floats) -> float:
        return self.c1 * float(np.abs(weights).sum()) + self.c2 * dot(weights, weights)

    def mean_scale(self, n: float) -> tuple[float, float]:
        """Return (lambda1, lambda2) of the papers' objective for n sequences."""
        return self.c1 / n, 2.0 * self.c2 / n


def sparsity(weights: Floats, c1: float, factors: Floats) -> float:
    """Return c1 |w|_1, with c1 multiplied by each weight's factor, if there are factors."""
    if c1 == 0.0:
        return 0.0
    return c1 * (dot(np.abs(weights), factors) if len(factors) else float(np.abs(weights).sum()))


def check_prior(c1: float, c2: float) -> None:
    """Raise `ValueError` unless the penalty is L2 only, as a prior requires."""
    if c1 > 0.0:
        raise ValueError(
            f"A prior is the mean of an L2 penalty alone, but c1={c1:g}; set c1=0, or leave the prior out."
        )
    if c2 == 0.0:
        raise ValueError("A prior is the mean of an L2 penalty, but c2=0; set c2 above 0, or leave the prior out.")


def make_regularizer(c1: float, c2: float) -> Regularizer:
    for name, c in (("c1", c1), ("c2", c2)):
        if not (math.isfinite(c) and c >= 0):
            raise ValueError(f"{name} must be a finite number >= 0; got {c!r}. Use 0, which switches that penalty off.")
    return Regularizer(float(c1), float(c2))


NO_FACTORS: Floats = np.empty(0)
