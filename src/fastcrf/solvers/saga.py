"""SAGA with a line search for the Lipschitz constant.

Defazio, Bach & Lacoste-Julien (2014), "SAGA: a fast incremental gradient method with support for non-strongly convex
composite objectives", NIPS; for CRFs as in Schmidt et al. (2015), AISTATS, section 5.1.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

As `sag`, but the step is right in the mean:

    w <- (1 - a lambda) w - a [ (g - g_i) + d/m ];   then d <- d - g_i + g,  g_i <- g

with i drawn uniformly, L searched by Algorithm 2 of schmidt2015, and a = 1 / (3 (L + lambda)), the step of the theory.

Differs from the paper: the penalty is exact instead of a part of each g_i; d is divided by the number m of sequences
seen, as SAG does, so that the first epoch is not spent on zeros; the very first search goes down as well as up. SAG's
longer step 1 / (L + lambda) is not for SAGA: on small problems it circles around the optimum.
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
class SAGA:
    """first_lipschitz: where the search for L starts; seed: of the draws."""

    name: ClassVar[str] = "saga"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    first_lipschitz: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self.name, "first_lipschitz", self.first_lipschitz)
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        constants = one_constant(problem.n_sequences, self.first_lipschitz, caution=3.0)
        run = AverageGradientRun(problem, weights, memory, constants, self.seed, correction=1.0)
        yield run.step()
        while True:
            yield run.run_epoch()
