"""The loop of SAGA with two samples: one draw for the step, an independent one for the memory.

With g_i the stored gradient of block i and d their sum, both blocks are evaluated at the same w:

    draw j by the rule and r uniformly;  D = grad nll_j(w) - g_j;  E = grad nll_r(w) - g_r
    w <- (1 - a lambda) w - a [ D / (n p_j) + d / n ];   then g_r <- g_r + E,  d <- d + E
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.chain.expectations import Table
from fastcrf.chain.lanes import aligned_zeros
from fastcrf.draws.lazy_vector import drift, turn
from fastcrf.draws.sampling import draw_uniform, epoch_uniforms
from fastcrf.kernel import kernel
from fastcrf.solvers.average_gradient.loop import visit
from fastcrf.solvers.average_gradient.rule import Rule, draw, probability, step_size
from fastcrf.solvers.average_gradient.snapshots import FilledRun, evaluate
from fastcrf.types import Floats


@kernel
def two_sample_draws(sequences, uniforms, lam, vector, memory, aside, rule, space, ray, lanes):
    """A draw for each pair of uniforms; the number of forward(-backward) recursions. Writes: all state.

    `aside` is the same memory with room of its own for a change.
    """
    support, blocks, K = sequences.support, sequences.chains.blocks, sequences.layout.n_labels
    n, evaluations = len(sequences.chains.starts) - 1, 0
    for k in range(len(uniforms)):
        j, r = draw(rule, uniforms[k, 0], lam), draw_uniform(uniforms[k, 1], len(blocks) - 1)
        importance = 1.0 / (n * probability(rule, j, lam))
        evaluations += visit(sequences, j, 0.0, vector, memory, rule, space, ray, lanes)
        evaluate(sequences, r, 1.0, vector, aside, space, lanes)
        evaluations += blocks[r + 1] - blocks[r]
        a = step_size(rule, lam)
        shrink = 1.0 - a * lam
        turn(vector, support, j, 0.0, importance * a / shrink, memory.change, memory.edge_change, K, lanes)
        # `drift` is going to apply a / n of the new part of d, which is not due before the next step.
        turn(vector, support, r, 1.0, -a / n / shrink, aside.change, aside.edge_change, K, lanes)
        drift(vector, shrink, a / n, lanes)
    return evaluations


class TwoSampleRun(FilledRun):
    """The state of one run and its epochs, of as many draws of two as there are blocks."""

    def __init__(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None, rule: Rule, seed: int) -> None:
        super().__init__(problem, weights, memory, rule, seed)
        rows, cells = self.memory.change
        room = Table(aligned_zeros(*rows.shape), np.zeros_like(cells))
        self.aside = self.memory._replace(change=room, edge_change=aligned_zeros(*self.memory.edge_change.shape))

    def uniforms(self, n: int) -> Floats:
        return epoch_uniforms(self.seed, self.epoch, 2 * n).reshape(n, 2)

    def draws(self, uniforms: Floats) -> int:
        return two_sample_draws(
            self.sequences, uniforms, self.lam, self.vector, self.memory, self.aside, self.rule,
            self.space, self.ray, self.lanes,
        )  # fmt: skip
