"""SGD-L1 with cumulative penalty: sparse models by stochastic gradient descent.

Tsuruoka, Tsujii & Ananiadou (2009), "Stochastic gradient descent training for L1-regularized log-linear models with
cumulative penalty", ACL, pp. 477-485.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + lambda1 |w|_1,   lambda1 = c1/n   (the paper's C is c1)

    u <- 0,  q <- 0
    for each sequence i in random order                      (Figure 2)
        a <- step size;   u <- u + a lambda1                 what penalty a weight could have received
        for each feature j that i can have:
            z <- w_j <- w_j - a (grad nll_i(w))_j
            w_j <- max(0, w_j - (u + q_j)) if w_j > 0,  min(0, w_j + (u - q_j)) if w_j < 0
            q_j <- q_j + w_j - z                             what penalty it has received

so that a weight which only noise moves away from zero is brought back as soon as it is used. A Step is one epoch. Step
sizes fall exponentially, a_k = eta decay^(k/n) (eq. 6), or by schedule="epoch" as eta / (1 + k/n) (eq. 5); `tail` adds
the O(1/k) term of footnote 3. Weights are those that the updates see, as in the paper; with finalize=True, those of a
Step have received the whole penalty, while the run goes on with its own.

Differs from the paper: it draws permutations; line 21 of Figure 2 belongs to both branches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from fastcrf.memory import WEIGHTS, Kept
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.proximal import proximal_step
from fastcrf.solvers.options import check_truth
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent
from fastcrf.solvers.sgd.sparse_descent import SparseDescent
from fastcrf.solvers.sgd.sparse_vectors import CumulativeVector, make_stored
from fastcrf.solvers.sgd.stochastic_descent import KEEPS
from fastcrf.types import Floats, Step

KEEPING = Keeping("penalty_received", "penalty_due")


@dataclass(frozen=True)
class SGDL1(SparseDescent):
    """finalize: whether the weights of a Step have received the whole penalty; others: see SparseDescent."""

    name: ClassVar[str] = "sgd-l1"
    keeps: ClassVar[Mapping[str, Kept]] = KEEPS | {KEEPING.drift: WEIGHTS, KEEPING.number: Kept(low=0.0)}

    schedule: str = "exponential"
    finalize: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_truth(self.name, "finalize", self.finalize)

    def descent(self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None) -> LazyDescent:
        lambda1 = problem.regulariser.mean_scale(problem.n_sequences)[0]
        make = partial(make_stored, cls=CumulativeVector, amount=lambda1)
        return LazyDescent(problem, weights, memory, make, KEEPING, self.batch, self.seed)

    def reported(self, step: Step) -> Step:
        return finalized(step) if self.finalize else step


def finalized(step: Step) -> Step:
    """The Step with all the penalty that is due: soft(w - q, u)."""
    received, due = step.memory[KEEPING.drift], step.memory[KEEPING.number]
    return step._replace(weights=proximal_step(step.weights, received, 1.0, due))
