"""The batch loop: log partition and expected feature counts of a range of sequences.

Sequences come in blocks of some hundred positions, so that a block's rows stay in cache from scores to scatter:

    scores      U[t, :] = sum of the table rows and cells of position t
    inference   posteriors p(y_t = k | x) in place (forward_backward.py, or log_domain.py for a large score range)
    edges       expected label bigrams, summed over the entire block with the sums held in registers
    scatter     posteriors added into the rows and cells they were scored from

This loop does not use gold labels: observed counts are constants that the objective subtracts once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.feature_space.layout import Positions
from fastcrf.inference.forward_backward import WIDEST_SPREAD, AnyEdges, Lattice, backward, forward, shift_scores
from fastcrf.inference.log_domain import log_backward, log_forward
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import add, add_scaled, add_to, flat_rows, load, panel_of, scale, store, zeros

BLOCK = 128  # positions per block; 64 to 2048 measure the same for gradients, not for products, which have more rows


class Table(NamedTuple):
    """Weights, or expected counts, in the arrangement of layout.py: two views of one flat array."""

    rows: np.ndarray  # [n_rows, Kp]
    cells: np.ndarray  # [n_cells]


class Sequences(NamedTuple):
    """Sequences at a point: the read-only input of inference."""

    positions: Positions
    weights: np.ndarray  # [N] of the sequences, or [0] when all are 1
    table: Table  # the state weights of the point
    edges: AnyEdges  # its transition weights


class Expected(NamedTuple):
    """The sums of one thread. `edges` counts in units of edges.forward; `wide_edges` are plain counts."""

    table: Table
    edges: np.ndarray  # as edges.forward
    wide_edges: np.ndarray  # the same, from the log-domain sequences


@generic
def infer(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Return log Z of one scored sequence (rows first..last-1), unweighted; compute weighted posteriors and edge
    factors.

    Writes: lattice, and wide_edges if the score range is too large for the probability domain.

    Implemented in expectations.py, live_labels.py and higher_order: expectations.py, live_contexts.py.
    """


@generic
def log_partition(lattice, first, last, edges, n_labels, lanes):  # type: ignore[no-untyped-def]
    """Return log Z of one scored sequence: the forward half of `infer`. Writes: lattice.

    Implemented in expectations.py, live_labels.py and higher_order: expectations.py, live_contexts.py.
    """


@generic
def add_edges(lattice, n_positions, edges, n_labels, sums, lanes):  # type: ignore[no-untyped-def]
    """Add the edge factors of all positions to sums, which count in units of edges.forward. Writes: sums.

    Implemented in expectations.py, live_labels.py and higher_order: expectations.py, live_contexts.py.
    """


@outlined_kernel
def score_block(positions, table, bias, first, last, scores, lanes):
    """Compute the label scores of sequences first..last-1, on top of the first row of `bias`. Writes: scores."""
    base, Kp, flat = positions.starts[first], scores.shape[1], flat_rows(scores, 0, len(scores))
    has_values = len(positions.row_values) > 0 or len(positions.cell_values) > 0
    for p in range(base, positions.starts[last]):
        for b in range(0, Kp, len(lanes)):
            row = load(bias, 0, b, lanes)
            if has_values:
                for r in range(positions.row_starts[p], positions.row_starts[p + 1]):
                    row = add_scaled(positions.row_values[r], load(table.rows, positions.rows[r], b, lanes), row)
            else:
                for r in range(positions.row_starts[p], positions.row_starts[p + 1]):
                    row = add(row, load(table.rows, positions.rows[r], b, lanes))
            store(scores, p - base, b, row)
    for i in range(first, last):
        corner = np.uint64((positions.starts[i] - base) * Kp)
        if has_values:
            for c in range(positions.cell_starts[i], positions.cell_starts[i + 1]):
                flat[corner + positions.slots[c]] += positions.cell_values[c] * table.cells[positions.cells[c]]
        else:
            for c in range(positions.cell_starts[i], positions.cell_starts[i + 1]):
                flat[corner + positions.slots[c]] += table.cells[positions.cells[c]]


@outlined_kernel
def scatter_block(positions, first, last, scores, table, lanes):
    """Add label quantities (posteriors) of sequences first..last-1 to the rows and cells they are scored from.

    Writes: table.
    """
    base, Kp, flat = positions.starts[first], scores.shape[1], flat_rows(scores, 0, len(scores))
    has_values = len(positions.row_values) > 0 or len(positions.cell_values) > 0
    for p in range(base, positions.starts[last]):
        for b in range(0, Kp, len(lanes)):
            quantity = load(scores, p - base, b, lanes)
            if has_values:
                for r in range(positions.row_starts[p], positions.row_starts[p + 1]):
                    add_to(table.rows, positions.rows[r], b, scale(positions.row_values[r], quantity))
            else:
                for r in range(positions.row_starts[p], positions.row_starts[p + 1]):
                    add_to(table.rows, positions.rows[r], b, quantity)
    for i in range(first, last):
        corner = np.uint64((positions.starts[i] - base) * Kp)
        if has_values:
            for c in range(positions.cell_starts[i], positions.cell_starts[i + 1]):
                table.cells[positions.cells[c]] += positions.cell_values[c] * flat[corner + positions.slots[c]]
        else:
            for c in range(positions.cell_starts[i], positions.cell_starts[i + 1]):
                table.cells[positions.cells[c]] += flat[corner + positions.slots[c]]


@add_edges.register(Lattice)
@outlined_kernel
def add_bigrams(lattice, n_positions, edges, n_labels, sums, lanes):
    """Add sums(j, k) += sum_t alpha_{t-1}(j) follow_t(k). Writes: sums."""
    add_outer(lattice.alpha, np.int64(-1), lattice.follow, np.int64(1), n_positions, n_labels, sums, lanes)


@outlined_kernel
def add_outer(rows, offset, follow, first, last, n_labels, sums, lanes):
    """Add sums(j, k) += rows(t + offset, j) follow(t, k) for t in first..last-1; four rows of sums stay in registers.

    Writes: sums.
    """
    panel = panel_of(lanes)
    for b in range(0, sums.shape[1], len(panel)):
        for j in range(0, n_labels, 4):  # rows are padded to a multiple of 4
            sum0, sum1, sum2, sum3 = zeros(panel), zeros(panel), zeros(panel), zeros(panel)
            for t in range(first, last):
                row = load(follow, t, b, panel)
                sum0 = add_scaled(rows[t + offset, j], row, sum0)
                sum1 = add_scaled(rows[t + offset, j + 1], row, sum1)
                sum2 = add_scaled(rows[t + offset, j + 2], row, sum2)
                sum3 = add_scaled(rows[t + offset, j + 3], row, sum3)
            add_to(sums, j, b, sum0)
            add_to(sums, j + 1, b, sum1)
            add_to(sums, j + 2, b, sum2)
            add_to(sums, j + 3, b, sum3)


@infer.register(Lattice)
@outlined_kernel
def infer_labels(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):
    """Implement `infer` for labels. Writes: as `infer`."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        log_z = log_forward(lattice, first, last, edges, n_labels)
        log_backward(lattice, first, last, edges, weight, n_labels, wide_edges)
        return maxima + log_z
    exponentiate(flat_rows(lattice.scores, first, last))
    log_z = forward(lattice, first, last, edges, n_labels, lanes)
    backward(lattice, first, last, edges, weight, n_labels, lanes)
    return maxima + log_z + (last - first - 1) * edges.top


@log_partition.register(Lattice)
@outlined_kernel
def log_partition_of_labels(lattice, first, last, edges, n_labels, lanes):
    """Implement `log_partition` for labels. Writes: lattice."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        return maxima + log_forward(lattice, first, last, edges, n_labels)
    exponentiate(flat_rows(lattice.scores, first, last))
    return maxima + forward(lattice, first, last, edges, n_labels, lanes) + (last - first - 1) * edges.top


@noalloc_kernel
def end_of_block(starts, first, last):
    """Return the largest end <= last such that sequences first..end-1 hold at most BLOCK positions (at least one
    sequence).
    """
    end = first + 1
    while end < last and starts[end + 1] - starts[first] <= BLOCK:
        end += 1
    return end


@noalloc_kernel
def infer_sequences(sequences, first, end, lattice, expected, n_labels, lanes):
    """Return the weighted sum of log Z of the sequences first..end-1 of one block; compute posteriors and expected
    bigrams.

    Writes: expected.edges, expected.wide_edges, lattice.
    """
    weights, starts, loss = sequences.weights, sequences.positions.starts, 0.0
    base = starts[first]
    score_block(sequences.positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
    for i in range(first, end):
        weight = weights[i] if len(weights) > 0 else 1.0
        a, b = starts[i] - base, starts[i + 1] - base
        loss += weight * infer(lattice, a, b, sequences.edges, weight, expected.wide_edges, n_labels, lanes)
    add_edges(lattice, starts[end] - base, sequences.edges, n_labels, expected.edges, lanes)
    return loss


@outlined_kernel
def expect_block(sequences, first, end, lattice, expected, n_labels, lanes):
    """Return the weighted sum of log Z of the sequences first..end-1 of one block; add their expected counts.

    Writes: expected, lattice.
    """
    loss = infer_sequences(sequences, first, end, lattice, expected, n_labels, lanes)
    scatter_block(sequences.positions, first, end, lattice.scores, expected.table, lanes)
    return loss


@noalloc_kernel
def expect(sequences, first, last, lattice, expected, n_labels, lanes):
    """Return the weighted sum of log Z of sequences first..last-1; add their expected counts. Writes: expected,
    lattice.
    """
    loss = 0.0
    while first < last:
        end = end_of_block(sequences.positions.starts, first, last)
        loss += expect_block(sequences, first, end, lattice, expected, n_labels, lanes)
        first = end
    return loss


@noalloc_kernel
def expect_some(sequences, chosen, first, last, lattice, expected, n_labels, lanes):
    """Run `expect` on chosen[first:last], in any order and with repetitions. Writes: expected, lattice."""
    loss = 0.0
    for n in range(first, last):
        i = chosen[n]
        loss += expect_block(sequences, i, i + 1, lattice, expected, n_labels, lanes)
    return loss


@noalloc_kernel
def log_partitions(sequences, first, last, lattice, log_z, n_labels, lanes):
    """Compute log Z of each of the sequences first..last-1, unweighted. Writes: log_z, lattice."""
    positions, starts = sequences.positions, sequences.positions.starts
    while first < last:
        end = end_of_block(starts, first, last)
        score_block(positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
        for i in range(first, end):
            a, b = starts[i] - starts[first], starts[i + 1] - starts[first]
            log_z[i] = log_partition(lattice, a, b, sequences.edges, n_labels, lanes)
        first = end
