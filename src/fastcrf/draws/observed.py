"""The features of the gold labels of one sequence, for solvers that ask for more than expected minus observed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.blocks import Blocks, clear_rows, collect_change
from fastcrf.chain.expectations import Table
from fastcrf.chain.lanes import aligned_zeros
from fastcrf.kernel import standing_kernel


class Observed(NamedTuple):
    """Features of the gold labels of one sequence."""

    counting: int  # whether anyone asks for them
    nodes: np.ndarray  # [T, Kp]
    edges: np.ndarray  # [Kp, Kp]
    table: Table  # local: by attribute


def make_observed(blocks: Blocks, counting: bool) -> Observed:
    n_rows, n_cells, longest = blocks.widest
    Kp = blocks.layout.padded
    table = Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells))
    return Observed(int(counting), aligned_zeros(longest, Kp), aligned_zeros(Kp, Kp), table)


@standing_kernel
def count_gold(blocks, i, observed, lanes):
    """Writes: observed."""
    starts, gold = blocks.chains.starts, blocks.chains.labels
    clear_rows(observed.nodes, starts[i + 1] - starts[i], lanes)
    clear_rows(observed.edges, blocks.layout.n_labels, lanes)
    for p in range(starts[i], starts[i + 1]):
        observed.nodes[p - starts[i], gold[p]] = 1.0
        if p > starts[i]:
            observed.edges[gold[p - 1], gold[p]] += 1.0
    collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, observed.nodes, observed.table, lanes)
