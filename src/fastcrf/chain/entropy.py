"""Per-sequence figures that certify a sparse optimum: log Z, expected score and gold score of each sequence.

The entropy of p(. | x_i) is log Z_i minus the expected score; p(y_i | x_i) is exp(gold score - log Z_i).
"""

from __future__ import annotations

import numpy as np

from fastcrf.chain.expectations import end_of_block, infer, score_block
from fastcrf.kernel import kernel


@kernel
def expected_edge_score(lattice, first, last, edges, n_labels):
    """sum_t E[V(y_{t-1}, y_t)] of one sequence that `infer` has been through in the probability domain."""
    expected = 0.0
    for t in range(first + 1, last):
        row = t * edges.stride
        for j in range(n_labels):
            reached = 0.0
            for k in range(n_labels):
                reached += edges.forward[row + j, k] * edges.scores[row + j, k] * lattice.follow[t, k]
            expected += lattice.alpha[t - 1, j] * reached
    return expected


@kernel
def sequence_figures(layout, labels, first, last, table, edges, lattice, figures, lanes):
    """figures[i] = (log Z, expected score, gold score) of sequences first..last-1, unweighted.

    `lattice` is a pair: the second one receives the scores once more, because inference overwrites the first.
    Writes: figures, both lattices.
    """
    K = layout.n_labels
    wide_edges = np.zeros(edges.scores.shape)
    while first < last:
        end = end_of_block(layout.starts, first, last)
        base = layout.starts[first]
        score_block(layout, table, first, end, lattice[0], lanes)
        score_block(layout, table, first, end, lattice[1], lanes)
        for i in range(first, end):
            a, b = layout.starts[i] - base, layout.starts[i + 1] - base
            wide_edges[:] = 0.0
            figures[i, 0] = infer(lattice[0], a, b, edges, 1.0, wide_edges, K, lanes)
            figures[i, 1] = expected_edge_score(lattice[0], a, b, edges, K) + np.sum(wide_edges * edges.scores)
            figures[i, 2] = 0.0
            for t in range(a, b):
                gold = labels[base + t]
                figures[i, 2] += lattice[1].scores[t, gold]
                if t > a:
                    figures[i, 2] += edges.scores[t * edges.stride + labels[base + t - 1], gold]
                for k in range(K):
                    figures[i, 1] += lattice[0].scores[t, k] * lattice[1].scores[t, k]
        first = end
