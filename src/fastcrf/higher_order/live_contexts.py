"""Inference over allowed label sequences in a chain of higher order (inference/live_labels.py).

Transitions are between labels: a step from a label context is allowed if the transition from its nearest label is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.feature_space.label_contexts import Tree
from fastcrf.higher_order.expectations import add_steps, expected_step_score
from fastcrf.higher_order.lattice import (
    ContextEdges,
    ContextLattice,
    context_backward,
    context_forward,
    make_context_edges,
    too_wide,
)
from fastcrf.higher_order.log_domain import context_log_backward, context_log_forward
from fastcrf.inference.entropy import expected_edge_score
from fastcrf.inference.expectations import add_edges, infer, log_partition
from fastcrf.inference.live_labels import all_dense, back_to_logs, exponentiate_live, shift_live
from fastcrf.inference.score_range import MASKED
from fastcrf.jit.kernel import outlined_kernel


class LiveContextLattice(NamedTuple):
    """The work arrays of a ContextLattice, for scores of which some are MASKED."""

    scores: np.ndarray
    alpha: np.ndarray
    follow: np.ndarray
    scaling: np.ndarray
    bias: np.ndarray
    start: np.ndarray
    rows: np.ndarray
    beta: np.ndarray
    came_from: np.ndarray
    favored: np.ndarray


def live_context_lattice(lattice: ContextLattice) -> LiveContextLattice:
    return LiveContextLattice(*lattice)


def allowed_context_edges(scores: Floats, transitions: np.ndarray, tree: Tree, padded: int) -> ContextEdges:
    """Build the edges of the weights [H, K], some of whose steps are not allowed."""
    edges, K = make_context_edges(scores, tree, padded), len(transitions)
    allowed = transitions[tree.last]
    steps = edges.steps[:, :K]
    top, low = steps[allowed].max(initial=-np.inf), steps[allowed].min(initial=np.inf)
    top, low = (float(top), float(low)) if allowed.any() else (0.0, 0.0)
    edges.forward[:, :K] = np.where(allowed, np.exp(np.minimum(steps - top, 0.0)), 0.0)
    steps[~allowed] = MASKED
    return edges._replace(top=top, spread=top - low)


@infer.register(LiveContextLattice)
@outlined_kernel
def infer_live_contexts(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):
    """Implement `infer`. Writes: lattice, wide_edges."""
    maxima, spread = shift_live(lattice.scores, first, last, n_labels)
    if not too_wide(edges, spread):
        exponentiate_live(lattice.scores, first, last)
        log_z = context_forward(lattice, first, last, edges, n_labels, lanes)
        if all_dense(lattice.alpha, first, last):
            context_backward(lattice, first, last, edges, weight, n_labels, lanes)
            return maxima + log_z + (last - first - 1) * edges.top
        back_to_logs(lattice.scores, first, last, n_labels)
    log_z = context_log_forward(lattice, first, last, edges, n_labels)
    context_log_backward(lattice, first, last, edges, weight, n_labels, wide_edges)
    return maxima + log_z


@log_partition.register(LiveContextLattice)
@outlined_kernel
def log_partition_of_live_contexts(lattice, first, last, edges, n_labels, lanes):
    """Implement `log_partition`. Writes: lattice."""
    maxima, spread = shift_live(lattice.scores, first, last, n_labels)
    if not too_wide(edges, spread):
        exponentiate_live(lattice.scores, first, last)
        log_z = context_forward(lattice, first, last, edges, n_labels, lanes)
        if all_dense(lattice.alpha, first, last):
            return maxima + log_z + (last - first - 1) * edges.top
        back_to_logs(lattice.scores, first, last, n_labels)
    return maxima + context_log_forward(lattice, first, last, edges, n_labels)


@add_edges.register(LiveContextLattice)
@outlined_kernel
def add_steps_of_live(lattice, n_positions, edges, n_labels, sums, lanes):
    """Implement `add_edges`. Writes: sums; lattice.rows (zeros again)."""
    add_steps(lattice, n_positions, edges, n_labels, sums, lanes)


@expected_edge_score.register(LiveContextLattice)
@outlined_kernel
def expected_score_of_live_contexts(lattice, first, last, edges, wide_edges, n_labels, lanes):
    """Implement `expected_edge_score`. Writes: wide_edges (zeros); lattice.rows (zeros again)."""
    return expected_step_score(lattice, first, last, edges, wide_edges, n_labels, lanes)
