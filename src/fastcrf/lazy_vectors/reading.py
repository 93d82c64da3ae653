"""Read the weights of a block: one loop over rows, one over cells; the type of the vector says how to read each."""

from __future__ import annotations

import numpy as np

from fastcrf.feature_space.support import add_prior
from fastcrf.jit.generic import inlined_generic
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel


@inlined_generic
def read_row(vector, r, target, place, lanes):  # type: ignore[no-untyped-def]
    """Apply the lazy updates of row r and copy its weights to target[place]. Writes: vector, target.

    Implemented in adaptive_vector.py, ball_vector.py, drifting_vector.py, proximal_vector.py, scaled_vector.py,
    solvers/sgd/asg.py and solvers/sgd/l1/stored_vector.py.
    """


@inlined_generic
def read_cell(vector, c):  # type: ignore[no-untyped-def]
    """Apply the lazy updates of cell c; return its weight. Writes: vector.

    Implemented in adaptive_vector.py, ball_vector.py, drifting_vector.py, proximal_vector.py, scaled_vector.py,
    solvers/sgd/asg.py and solvers/sgd/l1/stored_vector.py.
    """


@outlined_kernel
def gather(vector, support, i, weights, edge_scores, lanes):
    """Apply the lazy updates of block i and copy its weights, with the prior's. Writes: vector, weights,
    edge_scores.
    """
    read_rows(vector, support.rows[support.row_starts[i] : support.row_starts[i + 1]], weights.rows, lanes)
    read_cells(vector, support.cells[support.cell_starts[i] : support.cell_starts[i + 1]], weights.cells)
    read_rows(vector, support.edges, edge_scores, lanes)
    add_prior(support, i, weights, edge_scores, lanes)


@noalloc_kernel
def read_rows(vector, rows, target, lanes):
    """Read some rows. Writes: vector, target."""
    for o in range(len(rows)):
        read_row(vector, np.int64(rows[o]), target, o, lanes)


@noalloc_kernel
def read_cells(vector, cells, target):
    """Read some cells. Writes: vector, target."""
    for o in range(len(cells)):
        target[o] = read_cell(vector, np.uint64(cells[o]))
