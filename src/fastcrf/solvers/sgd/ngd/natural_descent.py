"""Descent along transformed gradients, one sequence at a time, on the scaled vector w = c v: Cao (2015), Figure 2.

    u = expected minus observed features of sequence i, at w
    w <- (1 - a lambda) w - a direction(u)            feature by feature (bregman_updates.py)

By position, the label residuals of each position are transformed before they are summed by attribute; transitions are
summed over the sequence in either case, as in CRFsuite's loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.scaled_vector import shrink_scaled
from fastcrf.lazy_vectors.turning import turn_attributes, turn_edges
from fastcrf.objective.blocks import Blocks, collect_change, infer_block
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.sgd.ngd.bregman_updates import COUNTING, direction
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from fastcrf.stochastic.block_evaluation import score_current
from fastcrf.stochastic.observed import Observed, count_gold, make_observed
from fastcrf.stochastic.progressive_error import count_wrong


class Transform(NamedTuple):
    """The transformation of gradients."""

    update: Any
    by_position: int  # 1, or 0 for the sums over a sequence
    observed: Observed


def natural_descent(problem: SequenceProblem, weights: Floats, update: Any, by_position: bool) -> ScaledDescent:
    """Return a descent along transformed gradients, one sequence at a time."""
    descent = ScaledDescent(problem, weights, batch_size=1, shrink_first=False)
    transform = make_transform(descent.blocks, update, by_position)

    def updates(order: np.ndarray, steps: Floats) -> tuple[float, int]:
        factors, moved = 1.0 - steps * descent.lam, (descent.vector, descent.space)
        done = natural_updates(descent.blocks, order, steps, factors, transform, *moved, descent.lanes)
        return done  # type: ignore[no-any-return]

    descent.updates = updates
    return descent


def make_transform(blocks: Blocks, update: Any, by_position: bool) -> Transform:
    return Transform(update, int(by_position), make_observed(blocks, isinstance(update, COUNTING)))


@noalloc_kernel
def natural_updates(blocks, order, steps, factors, transform, vector, space, lanes):
    """Run one update for each sequence of `order`; return (their losses, tokens predicted wrong), before each update.

    Update k multiplies w by factors[k] and descends by steps[k]; with steps of 0 the weights do not change. Writes:
    transform.observed, vector, space.
    """
    update, by_position, observed = transform
    local, support, bounds = blocks.local, blocks.support, blocks.chains.bounds
    K, H, lattice, loss = blocks.layout.n_labels, blocks.layout.n_contexts, space.lattice, 0.0
    wrong = 0
    for k in range(len(steps)):
        i = order[k]
        edges = score_current(blocks, i, vector, space, lanes)
        loss += infer_block(blocks.chains, i, edges, space, K, lanes)
        wrong += count_wrong(blocks.chains, i, lattice.scores, lanes)
        weight = blocks.chains.weights[i] if len(blocks.chains.weights) > 0 else 1.0
        if steps[k] == 0.0 or weight == 0.0:
            continue
        shrink_scaled(vector, factors[k])
        length = blocks.chains.starts[i + 1] - blocks.chains.starts[i]
        if observed.counting:
            count_gold(blocks, i, space.edges, observed, lanes)
        transform_rows(update, space.edge_sums, observed.edges, support.masks, support.edges, weight)
        if by_position:
            for t in range(length):
                transform_row(update, lattice.scores, observed.nodes, t, weight)
        collect_change(local, bounds, support, i, lattice.scores, space.change, lanes)
        if not by_position:
            first, last = support.row_starts[i], support.row_starts[i + 1]
            rows = support.rows[first:last]
            transform_rows(update, space.change.rows, observed.table.rows, support.masks, rows, weight)
            n_cells = support.cell_starts[i + 1] - support.cell_starts[i]
            transform_cells(update, space.change.cells, observed.table.cells, n_cells, weight)
        step = steps[k] / vector.factor[0]  # of v
        turn_edges(vector, support.masks, 0.0, step, space.edge_sums, H, lanes)
        turn_attributes(vector, support, i, 0.0, step, space.change, lanes)
    return loss, wrong


@noalloc_kernel
def transform_rows(update, gaps, observed, masks, rows, weight):
    """Set weight * direction(gap / weight) in each slot with a feature: gaps are weighted. Writes: gaps."""
    W = gaps.shape[1] // masks.shape[1]
    for o in range(len(rows)):
        for b in range(masks.shape[1]):
            bits = masks[rows[o], b]
            for k in range(b * W, (b + 1) * W):
                if bits & np.uint64(1):
                    gaps[o, k] = weight * direction(update, gaps[o, k] / weight, observed[o, k])
                bits >>= np.uint64(1)


@noalloc_kernel
def transform_row(update, gaps, observed, t, weight):
    """Transform row t. Writes: gaps[t]."""
    for k in range(gaps.shape[1]):
        gaps[t, k] = weight * direction(update, gaps[t, k] / weight, observed[t, k])


@noalloc_kernel
def transform_cells(update, gaps, observed, n_cells, weight):
    """Transform the cells. Writes: gaps."""
    for c in range(n_cells):
        gaps[c] = weight * direction(update, gaps[c] / weight, observed[c])
