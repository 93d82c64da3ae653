"""SAGA with the non-uniform sampling of SAG-NUS*.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, section 5.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

Draws, Lipschitz constants and skipping are those of `sag-nus-star`, the step size a is a third of its, as SAGA's theory
asks; the step is that of `saga` with the importance weight that makes it right in the mean:

    p_i = 1/2 1/n + 1/2 L_i / sum L over the sequences seen    (1/2 1/n for one not seen yet)
    w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/m ];   then d <- d - g_i + g,  g_i <- g

Differs from the paper: Proposition 1 proves rates for constants known in advance; here they are searched. As in `saga`,
d is divided by the number m of sequences seen, and SAG's longer step is not taken: it may circle around the optimum.
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
class SAGANUSStar:
    """skipping: of needless searches (section 5.2); first_lipschitz: the first L; seed: of the draws."""

    name: ClassVar[str] = "saga-nus-star"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    skipping: bool = True
    first_lipschitz: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self.name, "first_lipschitz", self.first_lipschitz)
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        constants = own_constants(problem.n_sequences, self.first_lipschitz, self.skipping, caution=3.0)
        run = AverageGradientRun(problem, weights, memory, constants, self.seed, correction=1.0)
        yield run.step()
        while True:
            yield run.run_epoch()
