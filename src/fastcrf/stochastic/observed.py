"""Count the features of the gold labels of one sequence, for solvers that need more than expected minus observed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.edges import add_labeling
from fastcrf.inference.expectations import Table
from fastcrf.jit.kernel import outlined_kernel
from fastcrf.objective.blocks import Blocks, collect_change
from fastcrf.simd.rows import clear_rows
from fastcrf.simd.widths import aligned_zeros


class Observed(NamedTuple):
    """Features of the gold labels of one sequence."""

    counting: int  # whether the solver needs them
    nodes: np.ndarray  # [T, Kp]
    edges: np.ndarray  # [H, Kp]
    table: Table  # local: by attribute


def make_observed(blocks: Blocks, counting: bool) -> Observed:
    n_rows, n_cells, longest = blocks.widest
    Kp = blocks.layout.padded
    table = Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells))
    edges = aligned_zeros(*blocks.layout.edge_shape)
    return Observed(int(counting), aligned_zeros(longest, Kp), edges, table)


@outlined_kernel
def count_gold(blocks, i, edges, observed, lanes):
    """Count the gold features of block i; the type of `edges` defines the transitions. Writes: observed."""
    starts, gold = blocks.chains.starts, blocks.chains.labels
    clear_rows(observed.nodes, starts[i + 1] - starts[i], lanes)
    clear_rows(observed.edges, blocks.layout.n_contexts, lanes)
    for p in range(starts[i], starts[i + 1]):
        observed.nodes[p - starts[i], gold[p]] = 1.0
    add_labeling(edges, gold[starts[i] : starts[i + 1]], 1.0, observed.edges, blocks.layout.n_labels)
    collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, observed.nodes, observed.table, lanes)
