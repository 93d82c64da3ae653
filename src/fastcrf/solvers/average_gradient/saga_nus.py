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

It is here for its guarantee, not for its speed (docs/sag-family.md).

Differs from the paper: the penalty is exact instead of a part of each g_i, with which the proof holds all the more. C
is that of the proof, whose last line bounds 1 / (4 L' (4 L' + n lambda)) by 1 / (4 L' + n lambda)^2, which is less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fastcrf.draws.drifting_vector import make_drifting
from fastcrf.draws.lazy_weights import LazyWeights
from fastcrf.memory import Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.average_gradient import run
from fastcrf.solvers.average_gradient.given_probabilities import KEEPS, given_probabilities
from fastcrf.solvers.average_gradient.lipschitz_bounds import lipschitz_bounds
from fastcrf.solvers.average_gradient.options import epochs
from fastcrf.solvers.average_gradient.run import Run
from fastcrf.solvers.options import check_choice, check_positive, check_whole
from fastcrf.types import Floats, Step

STEPS = ("search", "theory")
SAMPLINGS = ("uniform", "lipschitz", "mixed")
LEAST = 0.01  # of the mean bound: even a sequence whose loss is linear is drawn


@dataclass(frozen=True)
class SAGANUS:
    """step: "search" or "theory"; sampling: "uniform", "lipschitz", "mixed" or n numbers; seed: of the draws;
    steps_per_epoch: Steps in n draws.
    """

    name: ClassVar[str] = "saga-nus"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    promises: ClassVar[str] = "optimum"
    keeps: ClassVar[Mapping[str, Kept]] = run.KEEPS | KEEPS

    step: str = "search"
    sampling: str | Sequence[float] = "mixed"
    seed: int = 0
    steps_per_epoch: int = 1

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
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        bounds = lipschitz_bounds(problem.corpus, problem.features)
        scheme = given_probabilities(self.probabilities(bounds), bounds.max() or 1.0, self.step == "search")
        run = Run(
            self.name, problem, weights, memory, scheme, partial(LazyWeights, make=make_drifting), seed=self.seed,
            filling=True, correction=1.0, steps=self.steps_per_epoch,
        )  # fmt: skip
        yield from epochs(run, resumed=bool(memory))

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
