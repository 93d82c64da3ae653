"""SAGA with samples in proportion to the Lipschitz constants, and a second, uniform sample for the stored gradients.

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, Proposition 1 (b) and appendix B.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    g_i <- grad nll_i(w) for all i;  d <- sum_i g_i                                       (one pass, before the start)
    repeat  sample j with probability p_j prop. to L_j + lambda, and r uniformly;  a <- 1 / (4 (mean L + lambda))
            w+ <- (1 - a lambda) w - a [ (grad nll_j(w) - g_j) / (n p_j) + d/n ]
            d <- d - g_r + grad nll_r(w),  g_r <- grad nll_r(w),  w <- w+

A sample takes two gradients: an epoch of n samples takes two passes, and searches.

step="theory": the L_i are the bounds of lipschitz_bounds.py, and the proposition holds, with the mean of the L_i
instead of the largest as in SAGA with uniform samples:

    E|w_t - w*|^2 <= (1 - min(1/(3n), lambda / (8 mean L')))^t [ |w_0 - w*|^2 + n / (2 mean L') (f(w_0) - f(w*)) ]

with L' = L + lambda. step="search": L_j is searched at the visits of j as in `sag-nus-star`, downwards from that bound
at first.

docs/explanation/sag-family.md has figures.

Differs from the paper: the step is that of the proof, 1 / (4 mean L), where the text prints 1 / (4 max L); the distance
is squared, and the bracket is that of the start, both of which the text omits. The penalty is exact instead of a part
of each g_i, and the proof still holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.inference.expectations import Table
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.lazy_vector import advance, turn
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.lipschitz_bounds import bounds_of_blocks
from fastcrf.simd.widths import aligned_zeros
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.loop import store_gradient, visit
from fastcrf.solvers.sag.options import AverageGradient, epochs
from fastcrf.solvers.sag.schemes.proportional import STATE_FIELDS, Proportional, proportional
from fastcrf.solvers.sag.schemes.scheme import sample, step_size
from fastcrf.stochastic.block_evaluation import LOSS
from fastcrf.stochastic.gradient_storage import StoredGradients
from fastcrf.stochastic.sampling import sample_uniform


@solver
class SAGATwoSamples(AverageGradient):
    """Train with SAGA, one sample for the step and another for the stored gradients.

    Parameters
    ----------
    step
        Step size: "search", by a line search for the Lipschitz constants, or "theory", by bounds on them.
    """

    name: ClassVar[str] = "saga-two-samples"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | STATE_FIELDS
    fills: ClassVar[bool] = True

    step: str = "search"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "step", self.step, ("search", "theory"))

    def scheme(self, problem: SequenceProblem, n: int) -> Proportional:
        return proportional(bounds_of_blocks(problem.corpus, problem.features, n, seed_of(self)), self.step == "search")

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        run = self.run(problem, weights, state)
        aside = with_room_of_its_own(run.arrays.average.gradients)

        def sample_two(uniforms: Floats) -> int:
            return two_sample_steps(run.arrays, aside, uniforms, run.lazy.lanes)

        yield from epochs(run, resumed=bool(state), samples=sample_two, uniforms=2)


def with_room_of_its_own(gradients: StoredGradients) -> StoredGradients:
    """Return the same stored gradients with separate arrays for a change."""
    rows, cells = gradients.change
    change = Table(aligned_zeros(*rows.shape), np.zeros_like(cells))
    return gradients._replace(change=change, edge_change=aligned_zeros(*gradients.edge_change.shape))


@noalloc_kernel
def two_sample_steps(state, aside, uniforms, lanes):
    """Take two samples for each pair of uniforms; return the number of forward(-backward) recursions. Writes: state,
    aside.

    Blocks j, for the step, and r, for the stored gradients, are evaluated at the same w; `aside` has r's arrays.
    """
    average, scheme, lam = state.average, state.scheme, state.lam
    vector, gradients, figures = average.vector, average.gradients, average.figures
    chains, support, H = average.blocks.chains, average.blocks.support, average.blocks.layout.n_contexts
    bounds, n, evaluations = chains.bounds, len(chains.starts) - 1, 0
    for k in range(len(uniforms)):
        (j, p), r = sample(scheme, uniforms[k, 0], lam), sample_uniform(uniforms[k, 1], len(bounds) - 1)
        loss, _, trials, _ = visit(state, j, 0.0, lanes)
        figures[j, LOSS] = loss
        store_gradient(average, aside, r, lanes)
        evaluations += (bounds[j + 1] - bounds[j]) * (1 + trials) + bounds[r + 1] - bounds[r]
        a = step_size(scheme, lam)
        shrink = 1.0 - a * lam
        step = 1.0 / (n * p) * a / shrink
        turn(vector, support, j, 0.0, step, gradients.change, gradients.edge_change, H, lanes)
        # `advance` will apply a / n of the new part of d, which belongs to the next step.
        turn(vector, support, r, 1.0, -a / n / shrink, aside.change, aside.edge_change, H, lanes)
        advance(vector, shrink, a / n, lanes)
    return evaluations
