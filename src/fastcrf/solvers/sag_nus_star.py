"""Stochastic average gradient with non-uniform sampling, the method that schmidt2015 proposes (SAG-NUS*).

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, section 5.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

As `sag`, with a Lipschitz constant L_i for each sequence:

    draw i: with probability 1/2 uniformly, else among the sequences seen, in proportion to L_i
    first visit: L_i <- mean L / 2 (the very first: 1);   later visits: L_i <- 0.9 L_i;   then Algorithm 2 on L_i
    a <- 1/2 (1 / (max L + lambda) + 1 / (mean L + lambda))
    skipping (5.2): after xi searches in a row without a doubling, the next 2^(xi-1) visits neither search nor shrink

Differs from the paper: lambda in the step size (the text of section 5 omits it, Algorithm 1 does not); searches of
first visits do not count towards skipping, because they start from a guess; the very first search goes down as well as
up, so that too large a first L does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.epochs.variance_reduced import AverageGradientRun
from fastcrf.parts.lipschitz import own_constants
from fastcrf.solvers.options import check_positive, check_whole
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class SAGNUSStar:
    """skipping: of needless searches (section 5.2); first_lipschitz: the first L; seed: of the draws."""

    name: ClassVar[str] = "sag-nus-star"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    skipping: bool = True
    first_lipschitz: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self.name, "first_lipschitz", self.first_lipschitz)
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        constants = own_constants(problem.n_sequences, self.first_lipschitz, self.skipping)
        run = AverageGradientRun(problem, weights, memory, constants, self.seed)
        yield run.step()
        while True:
            yield run.run_epoch()
