"""SAGA with fixed sampling probabilities, and optionally the step size and rate of its theory.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, Proposition 1 (a) and appendix A.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    g_i <- grad nll_i(w) for all i;  d <- sum_i g_i                                       (one pass, before the start)
    repeat  sample i with probability p_i;  g <- grad nll_i(w)
            a <- n min p / (4 (L + lambda) + n lambda)
            w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/n ];   then d <- d - g_i + g,  g_i <- g

step="theory": L is the largest of the bounds of lipschitz_bounds.py, and the proposition holds:

    E|w_t - w*|^2 <= (1 - a lambda)^t [ |w_0 - w*|^2 + C ],
    C = min p / (2 L' (4 L' + n lambda)) sum_i 1/p_i |grad nll_i(w_0) - grad nll_i(w*)|^2,   L' = L + lambda

step="search": L is searched by Algorithm 2 of the paper, downwards from that bound at first, and L <- 2^(-1/n) L after
every sample. The search makes the method practical.

sampling: "uniform"; "lipschitz", in proportion to the bounds; "mixed", half of the samples each; or n numbers to which
the p_i are proportional. By the theory uniform sampling is the fastest, since a is proportional to min p. "mixed" is
the default because the method is about non-uniform sampling.

The method is included for its guarantee, not for its speed (docs/explanation/sag-family.md).

Differs from the paper: the penalty is exact instead of a part of each g_i, and the proof still holds. C is that of the
proof, whose last line bounds 1 / (4 L' (4 L' + n lambda)) by 1 / (4 L' + n lambda)^2, which is less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.exceptions import OptionError
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.lipschitz_bounds import bounds_of_blocks
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_positive, seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.options import AverageGradient
from fastcrf.solvers.sag.schemes.given_probabilities import STATE_FIELDS, GivenProbabilities, given_probabilities

SAMPLINGS = ("uniform", "lipschitz", "mixed")
LEAST = 0.01  # of the mean bound: even a sequence with a linear loss is sampled


@solver
class SAGAFixedProbabilities(AverageGradient):
    """Train with SAGA, each sequence sampled with a probability that never changes.

    Parameters
    ----------
    step
        Step size: "search", by a line search for the Lipschitz constant, or "theory", by a bound on it.
    sampling
        "uniform", "lipschitz", "mixed", or a number for each sample of an epoch, in proportion to its probability.
    """

    name: ClassVar[str] = "saga-fixed-probabilities"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | STATE_FIELDS
    correction: ClassVar[float] = 1.0
    fills: ClassVar[bool] = True

    step: str = "search"
    sampling: str | Sequence[float] = "mixed"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "step", self.step, ("search", "theory"))
        if isinstance(self.sampling, Iterable) and not isinstance(self.sampling, str):
            object.__setattr__(self, "sampling", tuple(self.sampling))  # can be compared and saved
            for i, number in enumerate(self.sampling):
                check_positive(self.name, f"sampling[{i}]", number)
        elif self.sampling not in SAMPLINGS:
            message = (
                f"{self.name}: sampling must be one of {', '.join(SAMPLINGS)}, or one number for each sequence; "
                f"got sampling={self.sampling!r}."
            )
            raise OptionError(message, self.name, "sampling", self.sampling)

    def scheme(self, problem: SequenceProblem, n: int) -> GivenProbabilities:
        bounds = bounds_of_blocks(problem.corpus, problem.features, n, seed_of(self))
        return given_probabilities(self.probabilities(bounds), bounds.max() or 1.0, self.step == "search")

    def probabilities(self, bounds: Floats) -> Floats:
        """Return numbers to which the p_i are proportional, all above 0."""
        mean = bounds.mean() or 1.0
        if self.sampling == "uniform":
            return np.ones_like(bounds)
        if self.sampling == "lipschitz":
            return np.maximum(bounds, LEAST * mean)
        if self.sampling == "mixed":
            return bounds + mean
        if len(self.sampling) != len(bounds):
            message = (
                f"{self.name}: sampling must be a name or one number for each of {len(bounds)} samples; "
                f"got {len(self.sampling)} numbers."
            )
            raise OptionError(message, self.name, "sampling", self.sampling)
        return np.array(self.sampling, np.float64)
