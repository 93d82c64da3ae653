"""The loop of updates with a step size for each weight, and its predictions before each update."""

from __future__ import annotations

from typing import NamedTuple

from fastcrf.inference.edges import refresh_edges
from fastcrf.inference.expectations import score_block
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.turning import turn_attributes, turn_edges
from fastcrf.objective.blocks import Blocks, Workspace, collect_change, infer_block
from fastcrf.simd.rows import add_rows, clear_rows, copy_rows
from fastcrf.solvers.online.periods import ByComponent, ByProducts, count_update
from fastcrf.solvers.online.rated_vector import NOW, STEP, RatedVector
from fastcrf.solvers.online.visit_log import gather_rated
from fastcrf.stochastic.progressive_error import count_wrong
from fastcrf.stochastic.residuals import Residuals


class State(NamedTuple):
    """The arrays that updates read and write."""

    blocks: Blocks
    vector: RatedVector
    charge: float  # the penalty per weight for one sequence and a step size of 1
    rule: ByComponent | ByProducts  # the adaptation of step sizes
    space: Workspace
    residuals: Residuals  # of one update


@noalloc_kernel
def rated_updates(state, order, size, done, lanes):
    """Run one update for each `size` sequences of `order`; return (their losses, tokens predicted wrong), before each
    update.

    done: updates before these. Writes: state.
    """
    blocks, vector, charge = state.blocks, state.vector, state.charge
    space, residuals = state.space, state.residuals
    local, support, chains = blocks.local, blocks.support, blocks.chains
    starts, bounds, K, H = local.starts, chains.bounds, blocks.layout.n_labels, blocks.layout.n_contexts
    scores, bias = space.lattice.scores, space.lattice.bias
    loss, wrong = 0.0, 0
    for k in range((len(order) + size - 1) // size):
        batch, row = order[k * size : (k + 1) * size], 0
        clear_rows(residuals.edges, H, lanes)
        for i in batch:  # all sequences of an update use the same weights
            gather_rated(vector, support, i, space.weights, space.edges.scores, H, lanes)
            edges = refresh_edges(space.edges, K, bias, lanes)
            score_block(local, space.weights, bias, i, i + 1, scores, lanes)
            loss += infer_block(chains, i, edges, space, K, lanes)
            wrong += count_wrong(chains, i, scores, lanes)
            copy_rows(scores, residuals.nodes[row:], starts[i + 1] - starts[i], lanes)
            add_rows(space.edge_sums, residuals.edges, H, lanes)
            row += starts[i + 1] - starts[i]
        step = vector.state[STEP]
        turn_edges(vector, support.masks, 0.0, step, residuals.edges, H, lanes)  # w_j <- w_j - eta_j g_j (psa.py)
        row = 0
        for i in batch:
            collect_change(local, bounds, support, i, residuals.nodes[row:], space.change, lanes)
            turn_attributes(vector, support, i, 0.0, step, space.change, lanes)
            row += starts[i + 1] - starts[i]
        vector.state[NOW] += step * charge * len(batch)
        count_update(state.rule, done + k + 1, vector, lanes)  # eqs. 4.7 to 4.19 (periods.py)
    return loss, wrong
