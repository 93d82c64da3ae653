"""Stochastic average gradient with a line search for the Lipschitz constant.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, Algorithms 1 and 2; Le Roux, Schmidt & Bach (2012), NIPS.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    d <- 0, g_i <- 0, m <- 0, L <- 1
    repeat
        draw i uniformly;  g <- grad nll_i(w);  m <- m + 1 if i is new
        d <- d - g_i + g;  g_i <- g                                          (lines 10, 11)
        if |g|^2 > 1e-8: while nll_i(w - g/L) > nll_i(w) - |g|^2 / (2L): L <- 2 L      (Algorithm 2)
        a <- 1 / (L + lambda);  w <- (1 - a lambda) w - (a/m) d              (lines 15, 16)
        L <- 2^(-1/n) L                                                      (line 17)

A Step is n draws. `info["gradient_norm_estimate"]` is n |d/n + lambda w|, the paper's stopping quantity; it is infinite
until every sequence has been seen (the printed "m < n and" of line 3 must read "or").

Differs from the paper: the search compares with > instead of >=, with slack for rounding; the very first search goes
down as well as up, so that too large a first L does no harm; g_i is stored as marginals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.epochs.variance_reduced import AverageGradientRun
from fastcrf.parts.lipschitz import one_constant
from fastcrf.solvers.options import check_positive, check_whole
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class SAG:
    """first_lipschitz: where the search for L starts; seed: of the draws."""

    name: ClassVar[str] = "sag"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    first_lipschitz: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self.name, "first_lipschitz", self.first_lipschitz)
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        constants = one_constant(problem.n_sequences, self.first_lipschitz)
        run = AverageGradientRun(problem, weights, memory, constants, self.seed)
        yield run.step()
        while True:
            yield run.run_epoch()
