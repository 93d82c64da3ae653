"""The batch loop: log partition and expected feature counts of a range of sequences.

Sequences are taken in blocks of some hundred positions, so that a block's rows stay in cache from scores to scatter:

    scores      U[t, :] = sum of the table rows and cells of position t
    inference   posteriors p(y_t = k | x) in place (forward_backward.py, or log_domain.py where scores are very wide)
    edges       expected label bigrams, summed over the whole block with the sums held in registers
    scatter     posteriors added into the rows and cells they were scored from

Gold labels play no part here: observed counts are constants that the objective subtracts once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.exponential import exponentiate
from fastcrf.chain.forward_backward import WIDEST_SPREAD, backward, forward, shift_scores
from fastcrf.chain.lanes import add, add_scaled, load, store
from fastcrf.chain.log_domain import log_backward, log_forward
from fastcrf.kernel import kernel

BLOCK = 512  # positions a block; 64 to 2048 measure the same


class Table(NamedTuple):
    """Weights, or expected counts, in the arrangement of layout.py: two views of one flat array."""

    rows: np.ndarray  # [n_rows, Kp]
    cells: np.ndarray  # [n_cells]


class Expected(NamedTuple):
    """What one thread sums up. `edges` counts in units of edges.forward; `wide_edges` are plain counts."""

    table: Table
    edges: np.ndarray  # [Kp, Kp]
    wide_edges: np.ndarray  # [Kp, Kp] from the log-domain sequences


@kernel
def score_block(layout, table, first, last, lattice, lanes):
    """Label scores of sequences first..last-1. Writes: lattice.scores."""
    base = layout.starts[first]
    scores, flat = lattice.scores, lattice.scores.reshape(-1)
    Kp, has_values = layout.padded, len(layout.row_values) > 0 or len(layout.cell_values) > 0
    for p in range(base, layout.starts[last]):
        for b in range(0, Kp, len(lanes)):
            row = load(lattice.bias, 0, b, lanes)
            if has_values:
                for r in range(layout.row_starts[p], layout.row_starts[p + 1]):
                    row = add_scaled(layout.row_values[r], load(table.rows, layout.rows[r], b, lanes), row)
            else:
                for r in range(layout.row_starts[p], layout.row_starts[p + 1]):
                    row = add(row, load(table.rows, layout.rows[r], b, lanes))
            store(scores, p - base, b, row)
    for i in range(first, last):
        corner = np.uint64((layout.starts[i] - base) * Kp)
        if has_values:
            for c in range(layout.cell_starts[i], layout.cell_starts[i + 1]):
                flat[corner + layout.slots[c]] += layout.cell_values[c] * table.cells[layout.cells[c]]
        else:
            for c in range(layout.cell_starts[i], layout.cell_starts[i + 1]):
                flat[corner + layout.slots[c]] += table.cells[layout.cells[c]]


@kernel
def scatter_block(layout, first, last, lattice, table, lanes):
    """Add the posteriors of sequences first..last-1 to the rows and cells they were scored from. Writes: table."""
    base = layout.starts[first]
    scores, flat = lattice.scores, lattice.scores.reshape(-1)
    Kp, has_values = layout.padded, len(layout.row_values) > 0 or len(layout.cell_values) > 0
    for p in range(base, layout.starts[last]):
        for b in range(0, Kp, len(lanes)):
            posterior = load(scores, p - base, b, lanes)
            if has_values:
                for r in range(layout.row_starts[p], layout.row_starts[p + 1]):
                    row = layout.rows[r]
                    grown = add_scaled(layout.row_values[r], posterior, load(table.rows, row, b, lanes))
                    store(table.rows, row, b, grown)
            else:
                for r in range(layout.row_starts[p], layout.row_starts[p + 1]):
                    row = layout.rows[r]
                    store(table.rows, row, b, add(posterior, load(table.rows, row, b, lanes)))
    for i in range(first, last):
        corner = np.uint64((layout.starts[i] - base) * Kp)
        if has_values:
            for c in range(layout.cell_starts[i], layout.cell_starts[i + 1]):
                table.cells[layout.cells[c]] += layout.cell_values[c] * flat[corner + layout.slots[c]]
        else:
            for c in range(layout.cell_starts[i], layout.cell_starts[i + 1]):
                table.cells[layout.cells[c]] += flat[corner + layout.slots[c]]


@kernel
def add_edges(lattice, n_positions, n_labels, sums, lanes):
    """sums(j, k) += sum_t alpha_{t-1}(j) follow_t(k): four rows of sums stay in registers while t runs. Writes: sums."""
    alpha, follow = lattice.alpha, lattice.follow
    for b in range(0, sums.shape[1], len(lanes)):
        for j in range(0, n_labels, 4):  # rows are padded to a multiple of 4
            sum0, sum1 = load(sums, j, b, lanes), load(sums, j + 1, b, lanes)
            sum2, sum3 = load(sums, j + 2, b, lanes), load(sums, j + 3, b, lanes)
            for t in range(1, n_positions):
                row = load(follow, t, b, lanes)
                sum0 = add_scaled(alpha[t - 1, j], row, sum0)
                sum1 = add_scaled(alpha[t - 1, j + 1], row, sum1)
                sum2 = add_scaled(alpha[t - 1, j + 2], row, sum2)
                sum3 = add_scaled(alpha[t - 1, j + 3], row, sum3)
            store(sums, j, b, sum0)
            store(sums, j + 1, b, sum1)
            store(sums, j + 2, b, sum2)
            store(sums, j + 3, b, sum3)


@kernel
def infer(lattice, first, last, edges, weight, wide_edges, n_labels, lanes):
    """log Z of one scored sequence (rows first..last-1), unweighted; its posteriors and edge factors, weighted.

    Writes: lattice, and wide_edges where the scores are too wide for the probability domain.
    """
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        log_z = log_forward(lattice, first, last, edges, n_labels)
        log_backward(lattice, first, last, edges, weight, log_z, n_labels, wide_edges)
        return maxima + log_z
    exponentiate(lattice.scores[first:last].reshape(-1))
    log_z = forward(lattice, first, last, edges, n_labels, lanes)
    backward(lattice, first, last, edges, weight, n_labels, lanes)
    return maxima + log_z + (last - first - 1) * edges.top


@kernel
def log_partition(lattice, first, last, edges, n_labels, lanes):
    """log Z of one scored sequence: the forward half of `infer`. Writes: lattice."""
    maxima, spread = shift_scores(lattice, first, last, lanes)
    if spread + edges.spread > WIDEST_SPREAD:
        return maxima + log_forward(lattice, first, last, edges, n_labels)
    exponentiate(lattice.scores[first:last].reshape(-1))
    return maxima + forward(lattice, first, last, edges, n_labels, lanes) + (last - first - 1) * edges.top


@kernel
def end_of_block(starts, first, last):
    """The largest end <= last such that sequences first..end-1 hold at most BLOCK positions (one sequence at least)."""
    end = first + 1
    while end < last and starts[end + 1] - starts[first] <= BLOCK:
        end += 1
    return end


@kernel
def expect(layout, first, last, table, edges, lattice, expected, lanes):
    """Weighted sum of log Z over sequences first..last-1, and their weighted expected counts. Writes: expected, lattice."""
    weighted = len(layout.weights) > 0
    loss = 0.0
    while first < last:
        end = end_of_block(layout.starts, first, last)
        base = layout.starts[first]
        score_block(layout, table, first, end, lattice, lanes)
        for i in range(first, end):
            weight = layout.weights[i] if weighted else 1.0
            a, b = layout.starts[i] - base, layout.starts[i + 1] - base
            loss += weight * infer(lattice, a, b, edges, weight, expected.wide_edges, layout.n_labels, lanes)
        add_edges(lattice, layout.starts[end] - base, layout.n_labels, expected.edges, lanes)
        scatter_block(layout, first, end, lattice, expected.table, lanes)
        first = end
    return loss


@kernel
def log_partitions(layout, first, last, table, edges, lattice, log_z, lanes):
    """log Z of each of the sequences first..last-1, unweighted. Writes: log_z, lattice."""
    while first < last:
        end = end_of_block(layout.starts, first, last)
        base = layout.starts[first]
        score_block(layout, table, first, end, lattice, lanes)
        for i in range(first, end):
            a, b = layout.starts[i] - base, layout.starts[i + 1] - base
            log_z[i] = log_partition(lattice, a, b, edges, layout.n_labels, lanes)
        first = end


