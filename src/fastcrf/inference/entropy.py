"""Per-sequence figures for the certificate of a sparse optimum: log Z, expected score and gold score.

The entropy of p(. | x_i) is log Z_i minus the expected score; p(y_i | x_i) is exp(gold score - log Z_i).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.inference.edges import gold_score
from fastcrf.inference.expectations import end_of_block, infer, score_block
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice, Lattice
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel


@generic
def expected_edge_score(lattice, first, last, edges, wide_edges, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Return the expected score of the transitions of one sequence after `infer`.

    Writes: wide_edges (zeros).

    Implemented in entropy.py, live_labels.py and higher_order: expectations.py, live_contexts.py.
    """


class FigureSpace(NamedTuple):
    """Work arrays of one thread for these figures."""

    lattice: AnyLattice
    again: np.ndarray  # [B, Kp] a copy of the label scores, because inference overwrites the first
    wide_edges: np.ndarray  # as edges.scores: transitions of the log domain; zeros


def make_figure_space(lattice: AnyLattice, edges: AnyEdges) -> FigureSpace:
    return FigureSpace(lattice, np.empty_like(lattice.scores), np.zeros_like(edges.scores))


@expected_edge_score.register(Lattice)
@outlined_kernel
def expected_bigram_score(lattice, first, last, edges, wide_edges, n_labels, lanes):
    """Return sum_t E[V(y_{t-1}, y_t)]. Writes: wide_edges (zeros)."""
    expected = 0.0
    for j in range(n_labels):
        for k in range(n_labels):
            expected += wide_edges[j, k] * edges.scores[j, k]
            wide_edges[j, k] = 0.0
    for t in range(first + 1, last):
        row = t * edges.stride
        for j in range(n_labels):
            reached = 0.0
            for k in range(n_labels):
                reached += edges.forward[row + j, k] * edges.scores[row + j, k] * lattice.follow[t, k]
            expected += lattice.alpha[t - 1, j] * reached
    return expected


@noalloc_kernel
def sequence_figures(sequences, labels, first, last, workspace, figures, n_labels, lanes):
    """Set figures[i] = (log Z, expected score, gold score) of sequences first..last-1, unweighted; labels [P] are
    gold's.

    Writes: figures, workspace.
    """
    positions, table, edges = sequences.positions, sequences.table, sequences.edges
    starts, lattice, again = positions.starts, workspace.lattice, workspace.again
    while first < last:
        end = end_of_block(starts, first, last)
        base = starts[first]
        score_block(positions, table, lattice.bias, first, end, lattice.scores, lanes)
        score_block(positions, table, lattice.bias, first, end, again, lanes)
        for i in range(first, end):
            a, b = starts[i] - base, starts[i + 1] - base
            figures[i, 0] = infer(lattice, a, b, edges, 1.0, workspace.wide_edges, n_labels, lanes)
            figures[i, 1] = expected_edge_score(lattice, a, b, edges, workspace.wide_edges, n_labels, lanes)
            figures[i, 2] = gold_score(edges, labels[starts[i] : starts[i + 1]], again, a, n_labels)
            for t in range(a, b):
                for k in range(n_labels):
                    figures[i, 1] += lattice.scores[t, k] * again[t, k]
        first = end
