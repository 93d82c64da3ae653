"""Dual points as marginals: SDCA's state of each sequence, and the dual along a direction.

A convex combination of two chains is not a chain. Among all distributions with its marginals of labels and steps, the
chain has the largest entropy, which is therefore a function of the marginals. With m_t(h, l) that of a step from the
state h (a label, or in a chain of higher order a known label context) to the label l at t,

    H(m) = h(m_1) + sum_{t>1} [ h(m_t) - h(sum_l m_t(., l)) ],        h(p) = - sum p log p

Between m and m', x of the way, D changes by s (H(m + x (m' - m)) - H(m)) + s x w . g - s^2 x^2 |g|^2 / (4 c2), with g
the change of the expected features; divided by s, that is the function that the line search maximizes.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.feature_space.label_contexts import Tree, make_tree, states_of
from fastcrf.inference.edges import count_shorter
from fastcrf.inference.expectations import infer
from fastcrf.inference.forward_backward import shift_scores
from fastcrf.inference.steps import expect_step, infer_log_steps, is_wide
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.objective.blocks import Blocks
from fastcrf.simd.lanes import add_scaled, flat_rows, load, store
from fastcrf.simd.logarithm import take_logarithms
from fastcrf.simd.rows import clear_rows, copy_rows
from fastcrf.simd.widths import aligned_zeros

SMALLEST = 1e-300  # smallest probability whose logarithm is taken


class ChainMarginals(NamedTuple):
    """The marginals of all sequences or, in the same form, of one."""

    labels: np.ndarray  # [P, Kp]
    steps: np.ndarray  # [(P - N) H, Kp] of the step to position p of sequence i in H rows from (p - i - 1) H


class Held(NamedTuple):
    """The place of a sequence's marginals."""

    first: int  # row of its first label
    step: int  # first row of its first step
    length: int


class Workspace(NamedTuple):
    """Work arrays for one sequence."""

    goal: ChainMarginals  # of the model
    scores: np.ndarray  # [T, Kp] label scores at w
    change: np.ndarray  # [T, Kp] of the label marginals, goal minus here
    logs: np.ndarray  # [H, Kp] logarithms of the steps to one position
    sums: np.ndarray  # [H, Kp] of steps over all positions


def make_marginals(blocks: Blocks, smoothing: float) -> ChainMarginals:
    """Return the gold label sequence with probability 1 - smoothing, mixed with the uniform distribution."""
    chains, layout, K = blocks.chains, blocks.layout, blocks.layout.n_labels
    P, n, H, tree = len(chains.labels), len(chains.starts) - 1, layout.n_contexts, make_tree(layout.contexts, K)
    labels, steps = aligned_zeros(P, layout.padded), aligned_zeros((P - n) * H, layout.padded)
    labels[:, :K] = smoothing / K
    labels[np.arange(P), chains.labels] += 1.0 - smoothing
    into = np.delete(np.arange(P), chains.starts[:-1])  # positions that have an incoming step
    within = into - np.repeat(chains.starts[:-1], np.diff(chains.starts) - 1)
    for t, chances in enumerate(uniform_steps(tree, layout.order), 1):
        steps.reshape(-1, H, layout.padded)[within >= t, :, :K] = smoothing * chances
    steps[np.arange(P - n) * H + gold_states(blocks, tree)[into - 1], chains.labels[into]] += 1.0 - smoothing
    return ChainMarginals(labels, steps)


def uniform_steps(tree: Tree, order: int) -> list[Floats]:
    """Return probabilities of the steps to positions 1 .. `order` and all later ones, for uniform label sequences."""
    H, K = tree.following.shape
    states, found = np.where(np.arange(H) < K, 1.0 / K, 0.0), []
    for _ in range(order):
        found.append(np.repeat(states[:, None] / K, K, axis=1))
        states = np.bincount(tree.following.ravel(), found[-1].ravel(), H)
    return found


def gold_states(blocks: Blocks, tree: Tree) -> Longs:
    """Return the state of the gold label sequence at each position."""
    starts, labels = blocks.chains.starts, blocks.chains.labels
    return np.concatenate([states_of(labels[a:b], tree) for a, b in pairwise(starts.tolist())])


def size_of(blocks: Blocks) -> int:
    """Return the bytes of the marginals of all sequences."""
    n, P, layout = len(blocks.chains.starts) - 1, len(blocks.chains.labels), blocks.layout
    return 8 * (P * layout.padded + (P - n) * layout.n_contexts * layout.padded)


def make_workspace(blocks: Blocks) -> Workspace:
    longest, H, Kp = blocks.widest[2], blocks.layout.n_contexts, blocks.layout.padded
    goal = ChainMarginals(aligned_zeros(longest, Kp), aligned_zeros(longest * H, Kp))
    return Workspace(goal, *(aligned_zeros(rows, Kp) for rows in (longest, longest, H, H)))


@outlined_kernel
def infer_goal(lattice, length, edges, wide_edges, workspace, n_labels, lanes):
    """Return log Z of a scored sequence; compute its marginals, by position. Writes: workspace.goal, lattice."""
    first, goal, H = np.int64(0), workspace.goal, len(workspace.sums)
    maxima, spread = shift_scores(lattice, first, length, lanes)
    if is_wide(edges, spread):
        return maxima + infer_log_steps(edges, lattice, length, goal.labels, goal.steps, n_labels, lanes)
    log_z = infer(lattice, first, length, edges, 1.0, wide_edges, n_labels, lanes)
    copy_rows(lattice.scores, goal.labels, length, lanes)
    for t in range(1, length):
        expect_step(edges, lattice, t, goal.steps[(t - 1) * H : t * H], n_labels, lanes)
    return maxima + log_z


@noalloc_kernel
def sum_steps(steps, first, n_steps, sign, sums, lanes):
    """Add sign * the steps to n_steps positions, in rows from `first` on, to sums. Writes: sums."""
    for r in range(n_steps * len(sums)):
        h = r % len(sums)
        for b in range(0, steps.shape[1], len(lanes)):
            store(sums, h, b, add_scaled(sign, load(steps, first + r, b, lanes), load(sums, h, b, lanes)))


@outlined_kernel
def expected_score(marginals, held, edges, workspace, n_labels, lanes):
    """Return the mean score of a sequence, whose label scores are in `workspace`. Writes: workspace.sums."""
    sums, total = workspace.sums, 0.0
    clear_rows(sums, len(sums), lanes)
    sum_steps(marginals.steps, held.step, held.length - 1, 1.0, sums, lanes)
    count_shorter(edges, sums, n_labels, lanes)
    for t in range(held.length):
        for k in range(n_labels):
            total += marginals.labels[held.first + t, k] * workspace.scores[t, k]
    for h in range(len(sums)):
        for k in range(n_labels):
            total += sums[h, k] * edges.scores[h, k]
    return total


@outlined_kernel
def entropy_between(marginals, held, workspace, x):
    """Return (H, its first and its second derivative) at fraction x of the way from a sequence's marginals to
    workspace.goal.

    Writes: workspace.logs.
    """
    goal, logs, n_contexts = workspace.goal, workspace.logs, len(workspace.logs)
    entropy, slope, curvature = add_entropy(
        marginals.labels, held.first, goal.labels, np.int64(0), np.int64(1), x, logs
    )
    for r in range(0, (held.length - 1) * n_contexts, n_contexts):
        part = add_entropy(marginals.steps, held.step + r, goal.steps, r, n_contexts, x, logs)
        less = entropy_of_sums(marginals.steps, held.step + r, goal.steps, r, n_contexts, x)
        entropy, slope, curvature = (
            entropy + part[0] - less[0],
            slope + part[1] - less[1],
            curvature + part[2] - less[2],
        )
    return entropy, slope, curvature


@outlined_kernel
def add_entropy(rows, first, goal, row, n_rows, x, logs):
    """Add h, h', h'' of some rows of probabilities at rows[first:] + x (goal[row:] - rows[first:]).

    Padding is 0 in both: 0 log 0 = 0. Writes: logs.
    """
    here, there = flat_rows(rows, first, first + n_rows), flat_rows(goal, row, row + n_rows)
    flat = flat_rows(logs, np.int64(0), n_rows)
    entropy, slope, curvature = 0.0, 0.0, 0.0
    for f in range(len(flat)):
        flat[f] = max(here[f] + x * (there[f] - here[f]), SMALLEST)
    take_logarithms(flat)
    for f in range(len(flat)):
        way = there[f] - here[f]
        p = max(here[f] + x * way, SMALLEST)
        entropy -= p * flat[f]
        slope -= way * flat[f]
        curvature -= way * way / p
    return entropy, slope, curvature


@outlined_kernel
def entropy_of_sums(rows, first, goal, row, n_rows, x):
    """Return the same of the sum of each row."""
    entropy, slope, curvature = 0.0, 0.0, 0.0
    for r in range(n_rows):
        here, way = 0.0, 0.0
        for k in range(rows.shape[1]):
            here += rows[first + r, k]
            way += goal[row + r, k] - rows[first + r, k]
        p = max(here + x * way, SMALLEST)
        log = math.log(p)
        entropy -= p * log
        slope -= way * log
        curvature -= way * way / p
    return entropy, slope, curvature


@noalloc_kernel
def move_towards(marginals, held, workspace, x, lanes):
    """Set m <- m + x (goal - m) for one sequence. Writes: marginals."""
    mix_rows(marginals.labels, held.first, workspace.goal.labels, held.length, x, lanes)
    mix_rows(marginals.steps, held.step, workspace.goal.steps, (held.length - 1) * len(workspace.sums), x, lanes)


@noalloc_kernel
def mix_rows(target, first, source, n_rows, x, lanes):
    """Add target[first:] += x (source - target[first:]), over n_rows rows. Writes: target."""
    for r in range(n_rows):
        for b in range(0, target.shape[1], len(lanes)):
            here = load(target, first + r, b, lanes)
            way = add_scaled(-1.0, here, load(source, r, b, lanes))
            store(target, first + r, b, add_scaled(x, way, here))
