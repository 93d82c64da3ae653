"""The local table of a sample as a vector of features: masking, norm, product with w."""

from __future__ import annotations

from fastcrf.jit.kernel import outlined_kernel
from fastcrf.simd.lanes import add, keep, load, multiply, store, total, zeros


@outlined_kernel
def mask_change(support, i, change, edge_change, n_contexts, lanes):
    """Clear the slots that are not features; return the squared norm of the others. Writes: change, edge_change."""
    Kp, W = edge_change.shape[1], len(lanes)
    squares = zeros(lanes)
    first = support.row_starts[i]
    for r in range(first, support.row_starts[i + 1]):
        for b in range(0, Kp, W):
            row = keep(support.masks[support.rows[r], b // W], load(change.rows, r - first, b, lanes))
            store(change.rows, r - first, b, row)
            squares = add(squares, multiply(row, row))
    transitions = len(support.masks) - n_contexts
    for j in range(n_contexts):
        for b in range(0, Kp, W):
            row = keep(support.masks[transitions + j, b // W], load(edge_change, j, b, lanes))
            store(edge_change, j, b, row)
            squares = add(squares, multiply(row, row))
    of_cells = 0.0
    for c in range(support.cell_starts[i + 1] - support.cell_starts[i]):
        of_cells += change.cells[c] * change.cells[c]
    return total(squares) + of_cells


@outlined_kernel
def dot_change(support, i, change, edge_change, weights, edge_scores, n_contexts, lanes):
    """Return change . w, both local tables of block i with their transitions."""
    Kp, W = edge_change.shape[1], len(lanes)
    products = zeros(lanes)
    for r in range(support.row_starts[i + 1] - support.row_starts[i]):
        for b in range(0, Kp, W):
            product = multiply(load(change.rows, r, b, lanes), load(weights.rows, r, b, lanes))
            products = add(products, product)
    for j in range(n_contexts):
        for b in range(0, Kp, W):
            product = multiply(load(edge_change, j, b, lanes), load(edge_scores, j, b, lanes))
            products = add(products, product)
    of_cells = 0.0
    for c in range(support.cell_starts[i + 1] - support.cell_starts[i]):
        of_cells += change.cells[c] * weights.cells[c]
    return total(products) + of_cells
