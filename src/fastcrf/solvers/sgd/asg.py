"""Averaged stochastic gradient: constant steps, and the mean of all iterates.

Polyak & Juditsky (1992), "Acceleration of stochastic approximation by averaging", SIAM J. Control Optim. 30(4); Xu
(2010), "Towards optimal one pass large scale learning with averaged stochastic gradient descent", for the lazy mean; a
baseline of Schmidt et al. (2015), AISTATS.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    for t = 1, 2, ..., sequences i in random order
        w <- (1 - a lambda) w - a grad nll_i(w);   total <- total + w

A Step is one epoch; its weights are total / t. Its state holds w and the total. Steps are a = eta; by option eta /
sqrt(t) or eta / (offset + t) (Schmidt et al. 2015, footnote 7).

Differs from the paper: permutations instead of independent samples. Calibrations on a subset score the last iterate;
calibration="full" scores the mean, as the paper does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import WEIGHTS, StateField
from fastcrf.core.types import FeatureMap, Floats, Step
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.lazy_vectors import lazy_vector, reading
from fastcrf.lazy_vectors.lazy_vector import Places, advance, make_places, turn
from fastcrf.lazy_vectors.scaled_vector import LARGEST, SMALLEST
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.simd.lanes import add_scaled, load, scale, store
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_positive, seed_of
from fastcrf.solvers.sgd.lazy_descent import Keeping, LazyDescent, descend
from fastcrf.solvers.sgd.options import STATE_FIELDS, StochasticDescent
from fastcrf.solvers.sgd.run import Descent
from fastcrf.solvers.sgd.schedules import Schedule, make_schedule

KEEPING = Keeping("total", "summed")
AVERAGE = {KEEPING.drift: WEIGHTS, KEEPING.number: StateField(low=0.0)}
SCHEDULES = ("constant", "sqrt", "inverse")


@solver
class ASG(StochasticDescent):
    """Train with averaged stochastic gradient descent.

    Parameters
    ----------
    schedule
        Step sizes: "constant", "sqrt" or "inverse".
    offset
        Of the schedule "inverse": update t has the step size eta / (offset + t).
    """

    name: ClassVar[str] = "asg"
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    state_fields: ClassVar[Mapping[str, StateField]] = STATE_FIELDS | AVERAGE
    streams: ClassVar[bool] = True

    schedule: str = "constant"
    offset: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "schedule", self.schedule, SCHEDULES)
        check_positive(self.name, "offset", self.offset)

    def descent(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> LazyDescent:
        return averaging(problem, weights, state, self.batch_size, seed_of(self))

    def rates(self, descent: Descent, eta: float) -> Schedule:
        return make_schedule(self.schedule, eta, descent.lam, descent.n_samples, offset=self.offset)

    def reported(self, step: Step) -> Step:
        return averaged(step)


def averaging(
    problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None, batch_size: int, seed: int
) -> LazyDescent:
    """Return a descent that sums its iterates."""
    make = partial(make_averaged, lam=problem.regularizer.mean_scale(problem.n_sequences)[1])
    return LazyDescent(problem, weights, state, make, KEEPING, batch_size, seed)


def averaged(step: Step) -> Step:
    """Return the Step with the mean of all iterates in place of the last one."""
    total, summed = step.state[KEEPING.drift], step.state[KEEPING.number]
    return step._replace(weights=total / summed) if summed > 0.0 else step


BETA, SUMMED, A = range(3)  # places in state; SUMMED is the number of w's in the sum


class AveragedVector(NamedTuple):
    """w and the sum of its iterates; stamps are not used."""

    rows: np.ndarray  # [2 (n_rows + H), Kp] v and u
    stamps: np.ndarray  # [n_rows + H]
    cells: np.ndarray  # [n_cells, 3] v, u, unused
    state: np.ndarray  # [3]
    lam: float


def make_averaged(
    layout: Layout, features: FeatureMap, weights: Floats, total: Floats, lam: float
) -> tuple[AveragedVector, Places]:
    rows, cells, places = make_places(layout, features, weights, total)
    return AveragedVector(rows, np.zeros(len(rows) // 2), cells, np.array([1.0, 0.0, 0.0]), float(lam)), places


@reading.read_row.register(AveragedVector)
def read_row_averaged(vector, r, target, place, lanes):
    for b in range(0, vector.rows.shape[1], len(lanes)):
        store(target, place, b, scale(vector.state[BETA], load(vector.rows, 2 * r, b, lanes)))


@reading.read_cell.register(AveragedVector)
def read_cell_averaged(vector, c):
    return vector.state[BETA] * vector.cells[c, 0]


@lazy_vector.flush.register(AveragedVector)
@outlined_kernel
def flush_averaged(vector, lanes):
    beta, summed = vector.state[BETA], vector.state[A]
    for r in range(len(vector.stamps)):
        for b in range(0, vector.rows.shape[1], len(lanes)):
            v, u = load(vector.rows, 2 * r, b, lanes), load(vector.rows, 2 * r + 1, b, lanes)
            store(vector.rows, 2 * r, b, scale(beta, v))
            store(vector.rows, 2 * r + 1, b, add_scaled(summed, v, u))
    for c in range(len(vector.cells)):
        vector.cells[c, 1] += summed * vector.cells[c, 0]
        vector.cells[c, 0] *= beta
    vector.state[BETA], vector.state[A] = 1.0, 0.0


lazy_vector.turn_as_stored(AveragedVector)


@lazy_vector.advance.register(AveragedVector)
def advance_averaged(vector, shrink, amount, lanes):
    """Set w <- shrink * w; the sum does not change. There is no drift for `amount`."""
    vector.state[BETA] *= shrink
    if not SMALLEST <= abs(vector.state[BETA]) <= LARGEST:
        lazy_vector.flush(vector, lanes)


@descend.register(AveragedVector)
def descend_and_sum(vector, support, i, step, share, change, edge_change, lanes):
    advance(vector, 1.0 - step * vector.lam, 0.0, lanes)
    weight = vector.state[A] * step * share / vector.state[BETA]
    turn(vector, support, i, weight, step * share, change, edge_change, len(support.edges), lanes)
    vector.state[A] += vector.state[BETA]
    vector.state[SUMMED] += 1.0
