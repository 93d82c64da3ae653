"""The arrangement of weights and corpus for kernels, built once per corpus.

Solvers, files and users see the compact vector of types.FeatureMap. Batch kernels use another arrangement. An attribute
that occurs with many labels is a dense padded row of the weight table (one vector load adds it to all label scores). An
attribute with few labels is a few single cells. The table is [rows | cells], flat:

    table[layout.place[f]] = weights[f]        for each state feature f       (`expand_weights`)
    expected[f] = sum of table[layout.place[f]] over the threads' tables      (`collect_gradient`)

Slots of a row without a feature are 0 when weights are expanded and are not read when gradients are collected, so
padding is invisible outside. Expanding the compact vector once per evaluation costs 1-2 % of the evaluation on
CoNLL-2000. It saves every solver from masks, and its vectors from 40 % of unused weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.feature_space.label_contexts import known_contexts
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.simd.widths import choose_width
from fastcrf.system.mapped_arrays import empty_beside

Indices = NDArray[np.uint32]  # unsigned: Numba then needs no test for negative indices in the inner loops


class Layout(NamedTuple):
    """The place of each weight in the table."""

    place: Indices  # [S] table index of each state weight
    n_rows: int
    n_cells: int
    n_labels: int
    padded: int  # Kp, row length
    width: int  # lanes per panel; divides Kp
    n_contexts: int  # rows of transition weights (label_contexts.py): K, or more in a chain of higher order
    contexts: Longs  # [n_contexts] their numbers
    order: int

    @property
    def edge_shape(self) -> tuple[int, int]:
        """Return the shape of transition matrices. Those of order 1 are square: some kernels take four rows at a
        time.
        """
        return self.padded if self.order == 1 else self.n_contexts, self.padded

    def rows_of(self, features: FeatureMap) -> Longs:
        """Return the row of each transition weight."""
        return np.searchsorted(self.contexts, features.sources)

    @property
    def n_row_slots(self) -> int:
        return self.n_rows * self.padded

    @property
    def table_size(self) -> int:
        return self.n_rows * self.padded + self.n_cells


class Positions(NamedTuple):
    """A corpus as table rows and cells."""

    starts: Longs  # [N + 1] first position of each sequence
    row_starts: Longs  # [P + 1] first row of each position
    rows: Indices  # [row occurrences] dense rows of the table
    row_values: Floats  # their values, or [0] when all are 1
    cell_starts: Longs  # [N + 1] first cell of each sequence
    cells: Indices  # [cell occurrences] index after the dense rows of the table
    slots: Indices  # [cell occurrences] (position in the sequence) * Kp + label
    cell_values: Floats  # their values, or [0] when all are 1


def dense_threshold(padded: int) -> int:
    """Return the least number of labels that makes an attribute a row. In a prototype the optimum was flat for K = 4 to
    91.
    """
    return max(1, min(padded // 6, 12))


def make_layout(features: FeatureMap) -> Layout:
    """Split the attributes into rows and cells."""
    width, padded = choose_width(features.n_labels)
    place, n_rows, n_cells = place_weights(features.offsets, features.labels, dense_threshold(padded), padded)
    if n_rows * padded + n_cells >= 2**32:
        raise ValueError(
            f"A table of {n_rows * padded + n_cells} weights exceeds 32-bit indices; "
            "raise min_freq or leave all_possible_states off."
        )
    contexts = known_contexts(features)
    return Layout(place, n_rows, n_cells, features.n_labels, padded, width, len(contexts), contexts, features.order)


def make_positions(corpus: Corpus, features: FeatureMap, layout: Layout) -> Positions:
    """Re-express a corpus in rows and cells, memory-mapped if the corpus is."""
    threshold, home = dense_threshold(layout.padded), corpus.attributes
    row_starts = empty_beside(home, corpus.n_positions + 1, np.int64)
    cell_starts = empty_beside(home, corpus.n_sequences + 1, np.int64)
    row_starts[0] = cell_starts[0] = 0
    count_occurrences(corpus, features.offsets, threshold, row_starts, cell_starts)
    n_rows, n_cells = int(row_starts[-1]), int(cell_starts[-1])
    has_values = len(corpus.values) > 0
    positions = Positions(
        starts=corpus.starts,
        row_starts=row_starts,
        rows=empty_beside(home, n_rows, np.uint32),
        row_values=empty_beside(home, n_rows if has_values else 0, np.float64),
        cell_starts=cell_starts,
        cells=empty_beside(home, n_cells, np.uint32),
        slots=empty_beside(home, n_cells, np.uint32),
        cell_values=empty_beside(home, n_cells if has_values else 0, np.float64),
    )
    fill_occurrences(corpus.starts, corpus.offsets, corpus.attributes, corpus.values, features, layout, positions)
    return positions


def place_weights(offsets: Longs, labels: Ints, threshold: int, padded: int) -> tuple[Indices, int, int]:
    """Return (table index of each weight, number of rows, number of cells); both in order of first occurrence."""
    sizes = np.diff(offsets)
    dense = sizes >= threshold
    n_rows = int(np.count_nonzero(dense))
    row_slots, in_row = np.repeat((np.cumsum(dense) - 1) * padded, sizes), np.repeat(dense, sizes)
    cells_up_to = np.cumsum(~in_row)
    place = np.where(in_row, row_slots + labels, n_rows * padded - 1 + cells_up_to)
    return place.astype(np.uint32), n_rows, int(cells_up_to[-1]) if len(labels) else 0


def count_occurrences(corpus: Corpus, offsets: Longs, threshold: int, row_starts: Longs, cell_starts: Longs) -> None:
    """Count rows per position and cells per sequence. Writes: row_starts, cell_starts (the first row or cell of
    each).
    """
    sizes = np.diff(offsets).astype(np.int32)  # at most K each
    i = p = 0
    for part in corpus.slices():
        cells = sizes[part.attributes]
        in_row = cells >= threshold
        cells[in_row] = 0
        places = slice(p + 1, p + 1 + part.n_positions)
        row_starts[places] = row_starts[p] + sums_before(in_row)[part.offsets[1:]]
        sequences = slice(i + 1, i + 1 + part.n_sequences)
        cell_starts[sequences] = cell_starts[i] + sums_before(cells)[part.offsets[part.starts[1:]]]
        i, p = i + part.n_sequences, p + part.n_positions


def sums_before(numbers: np.ndarray) -> Longs:
    """Return the sum of the numbers before each, and the total."""
    sums = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(numbers, out=sums[1:])
    return sums


@noalloc_kernel
def fill_occurrences(starts, occurrences, attributes, values, features, layout, positions):
    """Fill in the rows and cells. Writes: positions.rows, .row_values, .cells, .slots, .cell_values.

    `occurrences` are the offsets of the corpus. An attribute is a row if its first weight is in one.
    """
    offsets, labels, place = features.offsets, features.labels, layout.place
    padded, behind_rows, r, c = layout.padded, layout.n_rows * layout.padded, 0, 0
    has_values = len(values) > 0
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            corner = (p - starts[i]) * padded
            for o in range(occurrences[p], occurrences[p + 1]):
                a = attributes[o]
                for f in range(offsets[a], offsets[a + 1]):
                    if place[f] < behind_rows:
                        positions.rows[r] = place[f] // padded
                        if has_values:
                            positions.row_values[r] = values[o]
                        r += 1
                        break
                    positions.cells[c] = place[f] - behind_rows
                    positions.slots[c] = corner + labels[f]
                    if has_values:
                        positions.cell_values[c] = values[o]
                    c += 1


@noalloc_kernel
def expand_weights(weights, place, first, last, table):
    """Set table[place[f]] = weights[f] for f in first..last-1. Writes: table."""
    for f in range(first, last):
        table[place[f]] = weights[f]


@noalloc_kernel
def collect_gradient(tables, place, counts, weights, ridge, first, last, gradient):
    """Set gradient[f] = expected - observed + ridge * weight, f in first..last-1; return (weights . counts,
    |weights|^2).

    `tables` [threads, table size] are the expected counts of each thread. Writes: gradient.
    """
    gold, square = 0.0, 0.0
    for f in range(first, last):
        expected = 0.0
        for n in range(tables.shape[0]):
            expected += tables[n, place[f]]
        gold += weights[f] * counts[f]
        square += weights[f] * weights[f]
        gradient[f] = expected - counts[f] + ridge * weights[f]
    return gold, square
