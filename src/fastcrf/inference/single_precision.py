"""The batch loop of expectations.py in single precision: half the memory traffic, twice as many labels per register.

The scattered quantities are residuals (posteriors minus gold labels), not posteriors. Most posteriors are nearly 0 or
nearly 1, and a gradient consists of their differences from 0 or 1, which sums of ones in single precision would lose.
Label bigrams are summed in single precision within a block only, log Z always in double precision.

Let s be max V - min V, the spread of the transition scores. The range of the label scores is unlimited: a label with a
lower score, for whose exponential exp(-50) is taken, has a posterior of at most exp(s - 50), because neither its
predecessors nor its successors can prefer it by more than exp(s). With s up to `WIDEST_SINGLE_SPREAD`, nothing that
singles would show is lost, and z_t >= exp(-s), alpha_t(k) >= exp(-s - 50) / K and beta_t(k) <= exp(2 s) are normal
numbers. Transitions with a larger spread need doubles.
"""

from __future__ import annotations

import numpy as np

from fastcrf.inference.expectations import Expected, Table, end_of_block, infer_sequences, scatter_block
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel

WIDEST_SINGLE_SPREAD = 30.0


@outlined_kernel
def residuals_of_block(sequences, labels, first, end, lattice, residuals, n_labels, lanes):
    """Return the weighted sum of log Z of the sequences first..end-1 of one block; compute residuals and expected
    bigrams.

    Writes: residuals, lattice.
    """
    weights, starts = sequences.weights, sequences.positions.starts
    loss = infer_sequences(sequences, first, end, lattice, residuals, n_labels, lanes)
    for i in range(first, end):
        weight = weights[i] if len(weights) > 0 else 1.0
        for p in range(starts[i], starts[i + 1]):
            lattice.scores[p - starts[first], labels[p]] -= weight
    scatter_block(sequences.positions, first, end, lattice.scores, residuals.table, lanes)
    return loss


@noalloc_kernel
def expect_in_single_precision(sequences, labels, first, last, lattice, rows, expected, n_labels, lanes):
    """Return the weighted sum of log Z of sequences first..last-1; sequences, lattice and lanes are of singles.

    `expected` receives residuals in its table, and counts of bigrams. Writes: expected, lattice, rows (a table's
    temporary rows in singles: 0 before and after).
    """
    starts, loss = sequences.positions.starts, 0.0
    residuals = Expected(Table(rows, expected.table.cells), expected.edges, expected.wide_edges)
    while first < last:
        end = end_of_block(starts, first, last)
        loss += residuals_of_block(sequences, labels, first, end, lattice, residuals, n_labels, lanes)
        first = end
    move_rows(rows, expected.table.rows)
    return loss


@outlined_kernel
def move_rows(singles, doubles):
    """Add all rows of singles to those of doubles. Writes: doubles, singles (0)."""
    for row in range(len(singles)):
        for k in range(singles.shape[1]):
            doubles[row, k] += singles[row, k]
            singles[row, k] = np.float32(0.0)
