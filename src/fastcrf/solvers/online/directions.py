"""Where an update goes: along the gradient, or as far as iterative scaling on each of its sequences would.

A loop asks for the change of every weight, and goes by its step size against it. For iterative scaling (yang2012, eq.
4.1, with the exact root of scaling_root.py) that is -d, of

    E e^(S d) + k d = O

E and O are what the model expects and what is observed in one sequence, S its mass and k its share of 2 c2. The k w of
the printed formula is left to the penalty, which acts by itself; its k d bounds the step where a feature is expected
and not observed, which is most of them. Without a penalty, such a step changes no odds by more than 1e8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.objective.blocks import Blocks
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.feature_sums import feature_masses
from fastcrf.solvers.scaling_root import scaling_root
from fastcrf.stochastic.observed import Observed, count_gold, make_observed


class AlongGradient(NamedTuple):
    charge: float  # what the penalty takes of each weight for a sequence and a step size of 1


class ByScaling(NamedTuple):
    charge: float
    ridge: float  # k of a sequence
    masses: Floats  # [N] S of each sequence
    observed: Observed  # of one sequence: work space


Direction = AlongGradient | ByScaling


def make_direction(name: str, problem: SequenceProblem, blocks: Blocks) -> Direction:
    """name: gradient or gis."""
    n, ridge = problem.n_sequences, 2.0 * problem.c2
    charge = (ridge + problem.c1) / n  # one of them is 0
    if name == "gradient":
        return AlongGradient(charge)
    masses = feature_masses(problem.corpus, problem.features)
    masses[masses == 0.0] = 1.0  # of sequences without any feature
    return ByScaling(charge, ridge / n, masses, make_observed(blocks, counting=True))


DIRECTIONS = ("gradient", "gis")


@generic
def bend_edges(direction, blocks, i, edges, edge_sums, lanes):  # type: ignore[no-untyped-def]
    """From expected minus observed transitions of sequence i to the change that is wanted. Writes: edge_sums.

    `edges` say by their type what a transition is.
    """


@generic
def transform_change(direction, blocks, i, edges, change, lanes):  # type: ignore[no-untyped-def]
    """The same for its attributes. Writes: change (a local table)."""


@bend_edges.register(AlongGradient)
def leave_edges(direction, blocks, i, edges, edge_sums, lanes):
    """They are it."""


@transform_change.register(AlongGradient)
def leave_change(direction, blocks, i, edges, change, lanes):
    """They are it."""


@bend_edges.register(ByScaling)
@outlined_kernel
def scale_edges(direction, blocks, i, edges, edge_sums, lanes):
    count_gold(blocks, i, edges, direction.observed, lanes)
    scale_rows(direction, blocks, i, direction.observed.edges, blocks.support.edges, edge_sums)


@transform_change.register(ByScaling)
@outlined_kernel
def scale_change(direction, blocks, i, edges, change, lanes):
    support, table = blocks.support, direction.observed.table
    count_gold(blocks, i, edges, direction.observed, lanes)
    rows = support.rows[support.row_starts[i] : support.row_starts[i + 1]]
    scale_rows(direction, blocks, i, table.rows, rows, change.rows)
    weight = sequence_weight(blocks, i)
    for c in range(support.cell_starts[i + 1] - support.cell_starts[i]):
        change.cells[c] = scaling_change(direction, i, change.cells[c], weight * table.cells[c])


@outlined_kernel
def scale_rows(direction, blocks, i, observed, rows, gaps):
    """Where there is a feature; `rows` are those of the masks. Writes: gaps."""
    masks, weight = blocks.support.masks, sequence_weight(blocks, i)
    W = gaps.shape[1] // masks.shape[1]
    for o in range(len(rows)):
        for k in range(gaps.shape[1]):
            if masks[rows[o], k // W] >> np.uint64(k % W) & np.uint64(1):
                gaps[o, k] = scaling_change(direction, i, gaps[o, k], weight * observed[o, k])


@noalloc_kernel
def scaling_change(direction, i, gap, observed):
    """-d of a weight, from expected minus observed and observed features of sequence i, weighted."""
    S, expected = direction.masses[i], max(gap + observed, 0.0)  # which rounding may have made negative
    return -scaling_root(expected, direction.ridge / S, observed) / S


@noalloc_kernel
def sequence_weight(blocks, i):
    return blocks.chains.weights[i] if len(blocks.chains.weights) > 0 else 1.0
