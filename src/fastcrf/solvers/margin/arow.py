"""AROW, adaptive regularization of weights: each weight has a variance, and weights with a small one move less.

Crammer, Kulesza & Dredze (2009), "Adaptive regularization of weight vectors", NIPS 22, pp. 414-422, as implemented in
CRFsuite's train_arow.c (Okazaki, 2007).

Minimizes no sum over the corpus. With v the variances and o the elementwise product:

    w <- 0;   v <- variance
    repeat
        for each sequence i in random order
            y <- the best label sequence at w;   D <- s_i (F(x_i, y_i) - F(x_i, y))
            if y != y_i
                cost <- score(y) - score(y_i) + number of wrong labels
                alpha <- cost / (gamma + D . (v o D))
                w <- w + alpha v o D
                v <- 1 / (1 / v + D o D / gamma)

A Step is one epoch. `info["training_loss"]` is the sum of s_i cost.

Differs from the paper: the covariance is diagonal, and label sequences replace the two classes. Differs from CRFsuite:
CRFsuite shuffles with the C library's rand(); a nonzero start is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.lazy_vectors.scaled_vector import ScaledVector
from fastcrf.lazy_vectors.turning import turn_attributes, turn_cell, turn_edges, turn_row
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.margin import run
from fastcrf.solvers.margin.mistakes import learn, slope_along, weight_of
from fastcrf.solvers.margin.run import MistakeRun, check_visits
from fastcrf.solvers.options import check_positive


@solver
class AROW:
    """Train with AROW, adaptive regularization of weight vectors.

    Parameters
    ----------
    variance
        Variance of each weight at the start.
    gamma
        Regularization: the larger, the less a single sequence moves the weights.
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "arow"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | {
        "variances": StateField("weights", fill=1.0, low=0.0)
    }

    variance: float = 1.0
    gamma: float = 1.0
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_positive(self.name, "variance", self.variance)
        check_positive(self.name, "gamma", self.gamma)
        check_visits(self)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        rule = ArowRule(float(self.gamma))
        beside = "variances", float(self.variance)
        run = MistakeRun(self, problem, weights, state, rule, beside)
        yield run.step()
        while True:
            yield run.run_epoch()


class ArowRule(NamedTuple):
    """AROW's rule; the number stored with each weight is its variance."""

    gamma: float


@learn.register(ArowRule)
def learn_by_variance(rule, state, mistake, lanes):
    i, weight = mistake.i, weight_of(state.blocks.chains, mistake.i)
    blocks, space = state.blocks, state.space
    cost = mistake.wrong + slope_along(state, i, lanes)
    spread = weight * weight * variance_along(state, i)
    vector = VariedVector(state.vector, state.beside)
    step, narrowing = weight * cost / (rule.gamma + spread), weight * weight / rule.gamma
    turn_edges(vector, blocks.support.masks, narrowing, step, space.edge_change, blocks.layout.n_contexts, lanes)
    turn_attributes(vector, blocks.support, i, narrowing, step, space.change, lanes)
    return weight * cost


@outlined_kernel
def variance_along(state, i):
    """Return D . (v o D) of sequence i."""
    variances, support, n_contexts = state.beside, state.blocks.support, state.blocks.layout.n_contexts
    change, edge_change, found, Kp = state.space.change, state.space.edge_change, 0.0, state.beside.rows.shape[1]
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        for k in range(Kp):
            found += change.rows[r - first, k] ** 2 * variances.rows[support.rows[r], k]
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        found += change.cells[o - first] ** 2 * variances.cells[support.cells[o]]
    transitions = len(variances.rows) - n_contexts
    for j in range(n_contexts):
        for k in range(Kp):
            found += edge_change[j, k] ** 2 * variances.rows[transitions + j, k]
    return found


class VariedVector(NamedTuple):
    """The weights, and their variances v."""

    weights: ScaledVector
    variances: ScaledVector


@turn_row.register(VariedVector)
def turn_row_varied(vector, r, masks, source, place, growth, step, lanes):
    """Set w <- w - step v o D, v <- v / (1 + growth v D o D) in row r. Slots without a feature have D = 0."""
    weights, variances = vector
    for k in range(weights.rows.shape[1]):
        v, D = variances.rows[r, k], source[place, k]
        weights.rows[r, k] -= step * v * D
        variances.rows[r, k] = v / (1.0 + growth * v * D * D)


@turn_cell.register(VariedVector)
def turn_cell_varied(vector, c, change, growth, step):
    weights, variances = vector
    v = variances.cells[c]
    weights.cells[c] -= step * v * change
    variances.cells[c] = v / (1.0 + growth * v * change * change)
