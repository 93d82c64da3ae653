"""Evaluate the loss of a block along a direction, and search for its Lipschitz constant.

Schmidt et al. (2015), Algorithm 2:

    while nll(w - g / L) > nll(w) - |g|^2 / (2 L):   L <- 2 L

Along a direction the label scores are linear, so the scores of g are gathered once and each trial is one forward
recursion per sequence on U - step * (scores of g); w - g / L is never formed. The very first search of a run starts
from a guess and also decreases L, so that too large a guess does no harm. Two guards against rounding near the optimum:
a slack of a few units in the last place, and at most 60 doublings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.higher_order.any_order import no_edges, tree_of
from fastcrf.inference.edges import gold_score, refresh_edges
from fastcrf.inference.expectations import log_partition
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.objective.blocks import Blocks, Chains
from fastcrf.simd.lanes import add_scaled, load, store
from fastcrf.simd.widths import aligned_zeros

EPSILON = 2.220446049250313e-16
MOST_DOUBLINGS = 60


class Direction(NamedTuple):
    """Scores at the start and scores of the direction, of labels and of transitions, and work arrays of a trial."""

    scores: np.ndarray  # [T, Kp] label scores at w
    slopes: np.ndarray  # [T, Kp] label scores of the direction; padding 0
    edge_slopes: np.ndarray  # [contexts, Kp] transition scores of the direction
    trial: AnyEdges  # transition scores at the trial point
    bias: np.ndarray  # [1, Kp] zeros, to which the direction's scores are added


class Ray(NamedTuple):
    """The ray from w along a direction, for the blocks of `chains`."""

    chains: Chains
    direction: Direction
    edge_scores: np.ndarray  # [contexts, Kp] transition scores at w
    lattice: AnyLattice  # for the recursions of a trial
    n_labels: int


def make_direction(blocks: Blocks) -> Direction:
    longest, layout, Kp = blocks.widest[2], blocks.layout, blocks.layout.padded
    trial = no_edges(layout, tree_of(layout))
    areas = aligned_zeros(longest, Kp), aligned_zeros(longest, Kp), aligned_zeros(*layout.edge_shape)
    return Direction(*areas, trial, aligned_zeros(1, Kp))


@outlined_kernel
def loss_along(ray, i, step, lanes):
    """Return the weighted loss of block i at w - step * direction, by forward recursions.

    Writes: ray.lattice, ray.direction.trial.
    """
    chains, direction, lattice = ray.chains, ray.direction, ray.lattice
    edge_scores, n_labels = ray.edge_scores, ray.n_labels
    Kp, W, starts = edge_scores.shape[1], len(lanes), chains.starts
    base = starts[chains.bounds[i]]
    for t in range(starts[chains.bounds[i + 1]] - base):
        for b in range(0, Kp, W):
            there = add_scaled(-step, load(direction.slopes, t, b, lanes), load(direction.scores, t, b, lanes))
            store(lattice.scores, t, b, there)
    for j in range(len(edge_scores)):
        for b in range(0, Kp, W):
            there = add_scaled(-step, load(direction.edge_slopes, j, b, lanes), load(edge_scores, j, b, lanes))
            store(direction.trial.scores, j, b, there)
    trial = refresh_edges(direction.trial, n_labels, lattice.bias, lanes)
    loss = 0.0
    for c in range(chains.bounds[i], chains.bounds[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        first, last = starts[c] - base, starts[c + 1] - base
        gold = gold_score(trial, chains.labels[starts[c] : starts[c + 1]], lattice.scores, first, n_labels)
        loss += weight * (log_partition(lattice, first, last, trial, n_labels, lanes) - gold)
    return loss


@noalloc_kernel
def holds(ray, i, loss, square, L, lanes):
    """Return whether L satisfies Algorithm 2 for block i. Writes: ray.lattice, ray.direction.trial."""
    there = loss_along(ray, i, 1.0 / L, lanes)
    return not there > loss - square / (2.0 * L) + 4.0 * EPSILON * max(1.0, abs(loss))


@noalloc_kernel
def search_lipschitz(ray, i, loss, square, L, down, lanes):
    """Return (L that satisfies Algorithm 2, trials spent); `down`: the last such of L, L/2, L/4, ..., if L does.

    Loss and its gradient's square norm are sums over block i, and so is L. Writes: ray.lattice, ray.direction.trial.
    """
    falling = False
    for trials in range(1, MOST_DOUBLINGS + 1):  # one call of `holds`, because it is inlined with its recursion
        if holds(ray, i, loss, square, L, lanes):
            if not down:
                return L, trials
            falling = True
            L *= 0.5
        elif falling:
            return 2.0 * L, trials
        else:
            down = False
            L *= 2.0
    return L, MOST_DOUBLINGS
