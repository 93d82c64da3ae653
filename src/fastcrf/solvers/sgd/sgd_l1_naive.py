"""SGD-L1, naive: the sub-gradient of the penalty moves every weight at every update.

Tsuruoka, Tsujii & Ananiadou (2009), "Stochastic gradient descent training for L1-regularized log-linear models with
cumulative penalty", ACL, section 3.1, eq. 2, where it is what to improve upon.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + lambda1 |w|_1,   lambda1 = c1/n   (the paper's C is c1)

    for each sequence i in random order
        a <- step size
        w <- w - a grad nll_i(w) - a lambda1 sign(w)         sign(0) = 0

Weights pass zero again and again and hardly ever hit it, and an update costs what the model costs. That is its point: a
model whose sparse relatives take a second an epoch takes it a minute. A Step is one epoch.

Differs from the paper: it draws permutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent
from fastcrf.solvers.sgd.sparse_descent import SparseDescent
from fastcrf.solvers.sgd.sparse_vectors import NaiveVector, make_stored
from fastcrf.types import Floats


@dataclass(frozen=True)
class SGDL1Naive(SparseDescent):
    """See SparseDescent."""

    name: ClassVar[str] = "sgd-l1-naive"
    promises: ClassVar[str] = "neighbourhood"

    def descent(self, problem: SequenceProblem, weights: Floats, memory: Mapping[str, Any] | None) -> LazyDescent:
        lambda1 = problem.regulariser.mean_scale(problem.n_sequences)[0]
        make = partial(make_stored, cls=NaiveVector, amount=lambda1)
        return LazyDescent(problem, weights, memory, make, Keeping(), self.batch, self.seed)
