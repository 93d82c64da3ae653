"""SGD-L1 with cumulative penalty: sparse models by stochastic gradient descent.

Tsuruoka, Tsujii & Ananiadou (2009), "Stochastic gradient descent training for L1-regularized log-linear models with
cumulative penalty", ACL, pp. 477-485.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + lambda1 |w|_1,   lambda1 = c1/n   (the paper's C is c1)

    u <- 0,  q <- 0
    for each sequence i in random order                      (Figure 2)
        a <- step size;   u <- u + a lambda1                 the penalty that a weight could have received
        for each feature j that i can have:
            z <- w_j <- w_j - a (grad nll_i(w))_j
            w_j <- max(0, w_j - (u + q_j)) if w_j > 0,  min(0, w_j + (u - q_j)) if w_j < 0
            q_j <- q_j + w_j - z                             the penalty that it has received

so that a weight which only noise moves away from zero returns as soon as it is used. A Step is one epoch. Step sizes
decrease exponentially, a_k = eta decay^(k/n) (eq. 6), or by schedule="epoch" as eta / (1 + k/n) (eq. 5); `tail` adds
the O(1/k) term of footnote 3. Weights are those that the updates use, as in the paper; with finalize=True, those of a
Step have received the entire penalty, while the run continues with its own.

Differs from the paper: samples are permutations; line 21 of Figure 2 belongs to both branches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import WEIGHTS, StateField
from fastcrf.core.types import Floats, Step
from fastcrf.lazy_vectors import lazy_vector, reading, turning
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.penalties.proximal import proximal_step, soft
from fastcrf.simd.lanes import add_scaled, keep, larger, load, scale, shift, store, zeros
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_truth, seed_of
from fastcrf.solvers.sgd.l1.stored_vector import (
    flush_stored,
    make_stored,
    penalize_then_descend,
    read_cell_stored,
    read_row_stored,
)
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent, descend
from fastcrf.solvers.sgd.options import STATE_FIELDS, SparseSteps, StochasticDescent

KEEPING = Keeping("penalty_received", "penalty_due")


@solver
class SGDL1(SparseSteps, StochasticDescent):
    """Train with SGD and the cumulative L1 penalty, for c1 > 0.

    Parameters
    ----------
    finalize
        Whether to apply the penalty still due to the weights that each epoch reports.
    """

    name: ClassVar[str] = "sgd-l1"
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS | {
        KEEPING.drift: WEIGHTS,
        KEEPING.number: StateField(low=0.0),
    }

    schedule: str = "exponential"
    finalize: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_truth(self.name, "finalize", self.finalize)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> LazyDescent:
        lambda1 = problem.regularizer.mean_scale(problem.n_sequences)[0]
        make = partial(make_stored, cls=CumulativeVector, amount=lambda1)
        return LazyDescent(problem, weights, state, make, KEEPING, self.batch_size, seed_of(self))

    def reported(self, step: Step) -> Step:
        return finalized(step) if self.finalize else step


def finalized(step: Step) -> Step:
    """Return the Step with the entire penalty applied: soft(w - q, u)."""
    received, due = step.state[KEEPING.drift], step.state[KEEPING.number]
    return step._replace(weights=proximal_step(step.weights, received, 1.0, due))  # Figure 2, lines 16 to 21


U = 1  # place of u in the state of a CumulativeVector


class CumulativeVector(NamedTuple):
    """u is state[1]."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] w and q
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] w, q, unused
    state: np.ndarray  # [2]
    lambda1: float


reading.read_row.register(CumulativeVector)(read_row_stored)
reading.read_cell.register(CumulativeVector)(read_cell_stored)
lazy_vector.flush.register(CumulativeVector)(flush_stored)
lazy_vector.turn.register(CumulativeVector)(lazy_vector.turn_each)
descend.register(CumulativeVector)(penalize_then_descend)


@lazy_vector.advance.register(CumulativeVector)
def advance_cumulative(vector, shrink, amount, lanes):
    """Add u <- u + amount lambda1 (line 6); a weight receives it when a sample updates the weight."""
    vector.state[U] += amount * vector.lambda1


@turning.turn_row.register(CumulativeVector)
def turn_row_cumulative(vector, r, masks, source, place, growth, step, lanes):
    """Run lines 12 to 21 for row r; the gradient is source[place] where the mask is set. Writes: vector."""
    u, W = vector.state[U], len(lanes)
    for b in range(0, vector.rows.shape[1], W):
        gradient = keep(masks[r, b // W], load(source, place, b, lanes))
        moved = add_scaled(-step, gradient, load(vector.rows, 2 * r, b, lanes))
        x, lowest = add_scaled(-1.0, load(vector.rows, 2 * r + 1, b, lanes), moved), shift(zeros(lanes), -u)
        highest = scale(-1.0, larger(lowest, scale(-1.0, x)))  # min(u, x), where NaNs stay
        w = add_scaled(-1.0, larger(lowest, highest), x)
        store(vector.rows, 2 * r, b, w)
        store(vector.rows, 2 * r + 1, b, add_scaled(-1.0, x, w))


@turning.turn_cell.register(CumulativeVector)
def turn_cell_cumulative(vector, c, change, growth, step):
    """Run lines 12 to 21 for cell c. Writes: vector."""
    x = vector.cells[c, 0] - step * change - vector.cells[c, 1]
    w = soft(x, vector.state[U])
    vector.cells[c, 0], vector.cells[c, 1] = w, w - x
