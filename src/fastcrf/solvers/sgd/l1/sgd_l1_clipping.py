"""SGD-L1 with clipping at zero, by lazy updates.

Carpenter (2008), "Lazy sparse stochastic gradient descent for regularized multinomial logistic regression", Alias-i;
Tsuruoka, Tsujii & Ananiadou (2009), ACL, section 3.1; it is a special case of Duchi & Singer (2008), FOLOS, and of
Langford, Li & Zhang (2009), truncated gradient.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + lambda1 |w|_1,   lambda1 = c1/n   (the paper's C is c1)

    for each sequence i in random order
        a <- step size
        w <- soft(w - a grad nll_i(w), a lambda1)            every weight moves towards zero, and stops there

Lazy updates clip the weights that a sequence does not use when they are next needed: the deferred clips are one long
clip (lazy_vectors/proximal_vector.py, with a drift of zero). A Step is one epoch; step sizes are eta / (1 + k/n) (eq.
5), or decrease exponentially by schedule="exponential".

Differs from the paper: samples are permutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from fastcrf.core.types import Floats
from fastcrf.lazy_vectors.proximal_vector import make_proximal
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import seed_of
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent
from fastcrf.solvers.sgd.options import SparseSteps, StochasticDescent


@solver
class SGDL1Clipping(SparseSteps, StochasticDescent):
    """Train with SGD and an L1 penalty that stops at 0, for c1 > 0."""

    name: ClassVar[str] = "sgd-l1-clipping"

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> LazyDescent:
        lambda1 = problem.regularizer.mean_scale(problem.n_sequences)[0]
        make = partial(make_proximal, c1=lambda1, n_steps=problem.n_sequences + 1)
        return LazyDescent(problem, weights, state, make, Keeping(), self.batch_size, seed_of(self))
