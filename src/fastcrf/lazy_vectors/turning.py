"""Move the weights of a block: one loop over its rows and cells, one over the transitions; the type of the vector says
how to move a row or a cell.
"""

from __future__ import annotations

import numpy as np

from fastcrf.jit.generic import inlined_generic
from fastcrf.jit.kernel import outlined_kernel


@inlined_generic
def turn_row(vector, r, masks, source, place, growth, step, lanes):  # type: ignore[no-untyped-def]
    """Set d <- d + growth * change, v <- v - step * change, for row r, whose lazy updates were applied.

    change = source[place] where the mask is set. Writes: vector.

    Implemented in adaptive_vector.py, lazy_vector.py, scaled_vector.py, solvers/margin/arow.py,
    solvers/online/visit_log.py, solvers/sgd/l1/l1_ball_vector.py and solvers/sgd/l1/sgd_l1.py.
    """


@inlined_generic
def turn_cell(vector, c, change, growth, step):  # type: ignore[no-untyped-def]
    """Set d <- d + growth * change, v <- v - step * change, for cell c, whose lazy updates were applied.

    Writes: vector.

    Implemented in adaptive_vector.py, lazy_vector.py, scaled_vector.py, solvers/margin/arow.py,
    solvers/online/visit_log.py, solvers/sgd/l1/l1_ball_vector.py and solvers/sgd/l1/sgd_l1.py.
    """


@outlined_kernel
def turn_attributes(vector, support, i, growth, step, change, lanes):
    """Turn the attributes of block i along `change`, a local table. Writes: vector."""
    first = support.row_starts[i]
    for o in range(first, support.row_starts[i + 1]):
        turn_row(vector, np.int64(support.rows[o]), support.masks, change.rows, o - first, growth, step, lanes)
    first = support.cell_starts[i]
    for o in range(first, support.cell_starts[i + 1]):
        turn_cell(vector, support.cells[o], change.cells[o - first], growth, step)


@outlined_kernel
def turn_edges(vector, masks, growth, step, edge_change, n_contexts, lanes):
    """Turn the transitions, whose rows come last. Writes: vector."""
    transitions = len(masks) - n_contexts
    for j in range(n_contexts):
        turn_row(vector, transitions + j, masks, edge_change, j, growth, step, lanes)
