"""SAGA with any fixed probabilities of the draws (SAGA-NUS), with the step size and rate of its theory by option.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, Proposition 1 (a) and appendix A.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    g_i <- grad nll_i(w) for all i;  d <- sum_i g_i                                       (one pass, before the start)
    repeat  draw i with probability p_i;  g <- grad nll_i(w)
            a <- n min p / (4 (L + lambda) + n lambda)
            w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/n ];   then d <- d - g_i + g,  g_i <- g

step="theory": L is the largest of the bounds of lipschitz_bounds.py, and the proposition holds:

    E|w_t - w*|^2 <= (1 - a lambda)^t [ |w_0 - w*|^2 + C ],
    C = min p / (2 L' (4 L' + n lambda)) sum_i 1/p_i |grad nll_i(w_0) - grad nll_i(w*)|^2,   L' = L + lambda

step="search": L is searched by Algorithm 2 of the paper, from that bound downwards at first, and L <- 2^(-1/n) L after
every draw. That is what makes the method practical.

sampling: "uniform"; "lipschitz", in proportion to the bounds; "mixed", half of the draws so and half so; or n numbers
to which the p_i are proportional. By the theory uniform draws are the fastest, since a is proportional to min p;
"mixed" is the default because non-uniform draws are what the method is about.

What it costs: on the OCR letters (c2 = 0.5, one seed) 200 passes bring the objective to within 40 % of the optimum with
step="theory" and uniform draws, to 0.5 % with step="search" (2 % with "mixed", 19 % with "lipschitz" draws). It is here
for its guarantee; `sag-nus-star` comes to within 1 % in 16 passes.

Differs from the paper: the penalty is exact instead of a part of each g_i, with which the proof holds all the more. C
is that of the proof, whose last line bounds 1 / (4 L' (4 L' + n lambda)) by 1 / (4 L' + n lambda)^2, which is less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastcrf.solvers.average_gradient.given_probabilities import given_probabilities
from fastcrf.solvers.average_gradient.lipschitz_bounds import lipschitz_bounds
from fastcrf.solvers.average_gradient.snapshots import FilledRun
from fastcrf.solvers.options import check_choice, check_positive, check_whole
from fastcrf.types import Floats, Step

STEPS = ("search", "theory")
SAMPLINGS = ("uniform", "lipschitz", "mixed")
LEAST = 0.01  # of the mean bound: even a sequence whose loss is linear is drawn


@dataclass(frozen=True)
class SAGANUS:
    """step: "search" or "theory"; sampling: "uniform", "lipschitz", "mixed" or n numbers; seed: of the draws."""

    name: ClassVar[str] = "saga-nus"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    step: str = "search"
    sampling: str | Sequence[float] = "mixed"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice(self.name, "step", self.step, STEPS)
        if isinstance(self.sampling, Iterable) and not isinstance(self.sampling, str):
            object.__setattr__(self, "sampling", tuple(self.sampling))  # an array, too, can be compared and saved now
            for i, number in enumerate(self.sampling):
                check_positive(self.name, f"sampling[{i}]", number)
        elif self.sampling not in SAMPLINGS:
            raise ValueError(
                f"{self.name}: sampling must be one of {', '.join(SAMPLINGS)}, or one number for each sequence; "
                f"got sampling={self.sampling!r}."
            )
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        bounds = lipschitz_bounds(problem.corpus, problem.features)
        rule = given_probabilities(self.probabilities(bounds), bounds.max() or 1.0, self.step == "search")
        run = FilledRun(problem, weights, memory, rule, self.seed)
        yield run.step() if memory else run.run_epoch()
        while True:
            yield run.run_epoch()

    def probabilities(self, bounds: Floats) -> Floats:
        """Numbers to which the p_i are proportional, all above 0."""
        mean = bounds.mean() or 1.0
        if self.sampling == "uniform":
            return np.ones_like(bounds)
        if self.sampling == "lipschitz":
            return np.maximum(bounds, LEAST * mean)
        if self.sampling == "mixed":
            return bounds + mean
        if len(self.sampling) != len(bounds):
            raise ValueError(
                f"{self.name}: sampling must be a name or one number for each of the {len(bounds)} sequences; "
                f"got {len(self.sampling)} numbers."
            )
        return np.array(self.sampling, np.float64)
