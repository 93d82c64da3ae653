"""SGD-L1, naive: the subgradient of the penalty moves every weight at every update.

Tsuruoka, Tsujii & Ananiadou (2009), "Stochastic gradient descent training for L1-regularized log-linear models with
cumulative penalty", ACL, section 3.1, eq. 2, the baseline of that paper.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + lambda1 |w|_1,   lambda1 = c1/n   (the paper's C is c1)

    for each sequence i in random order
        a <- step size
        w <- w - a grad nll_i(w) - a lambda1 sign(w)         sign(0) = 0

Weights cross zero repeatedly and rarely reach it exactly, and the cost of an update is proportional to the model size.
The method is included as a baseline: its epoch takes a minute where the lazy variants take a second. A Step is one
epoch.

Differs from the paper: samples are permutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import seed_of
from fastcrf.solvers.sgd.l1.stored_vector import (
    flush_stored,
    make_stored,
    penalize_then_descend,
    read_cell_stored,
    read_row_stored,
)
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent, descend
from fastcrf.solvers.sgd.options import SparseSteps, StochasticDescent


@solver
class SGDL1Naive(SparseSteps, StochasticDescent):
    """Train with SGD and the subgradient of the L1 penalty, for c1 > 0."""

    name: ClassVar[str] = "sgd-l1-naive"
    guarantee: ClassVar[str] = "near the optimum"

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> LazyDescent:
        lambda1 = problem.regularizer.mean_scale(problem.n_sequences)[0]
        make = partial(make_stored, cls=NaiveVector, amount=lambda1)
        return LazyDescent(problem, weights, state, make, Keeping(), self.batch_size, seed_of(self))


class NaiveVector(NamedTuple):
    """state[0] is 1, here and below: w = v. Stamps are not used."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] w, unused
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] w, unused, unused
    state: np.ndarray  # [1]
    lambda1: float


reading.read_row.register(NaiveVector)(read_row_stored)
reading.read_cell.register(NaiveVector)(read_cell_stored)
lazy_vector.flush.register(NaiveVector)(flush_stored)
lazy_vector.turn_as_stored(NaiveVector)
descend.register(NaiveVector)(penalize_then_descend)


@lazy_vector.advance.register(NaiveVector)
@outlined_kernel
def advance_naive(vector, shrink, amount, lanes):
    """Set w <- w - amount lambda1 sign(w), for every weight."""
    penalty = amount * vector.lambda1
    for r in range(len(vector.stamps)):
        for k in range(vector.rows.shape[1]):
            w = vector.rows[2 * r, k]
            vector.rows[2 * r, k] = w - penalty * np.sign(w)
    for c in range(len(vector.cells)):
        w = vector.cells[c, 0]
        vector.cells[c, 0] = w - penalty * np.sign(w)
