"""Hessian-vector products by algorithmic differentiation: NCG(AD) of Tsuboi et al. (2011), Pearlmutter's R-operator.

Every line of forward_backward.py is differentiated along r as it stands, scaling included, while the line itself is
computed again (Pearlmutter 1994, "Fast exact multiplication by the Hessian", Neural Computation 6). A product therefore
repeats inference, including exponentials, and caches nothing. It is the baseline for measuring tangents.py and an
independent way to the same numbers.
"""

from __future__ import annotations

from fastcrf.inference.expectations import add_edges, end_of_block, scatter_block, score_block
from fastcrf.inference.forward_backward import WIDEST_SPREAD, row_times, shift_scores
from fastcrf.inference.log_tangents import log_differentiate
from fastcrf.inference.tangents import add_changed_edges
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import add, add_scaled, flat_rows, load, multiply, scale, store, total, zeros


@outlined_kernel
def differentiate_forward(first, last, direction, bench, n_labels, lanes):
    """Compute alpha and its derivative. Writes: .alpha and .scaling of both lattices: 1 / z_{t-1} and z'_{t-1} /
    z_{t-1}.

    At the first position .scaling holds the last z and z', until `differentiate_backward` has read them.
    """
    lattice, change, edges = bench.lattice, bench.change, direction.edges
    B, rU, W = lattice.scores, change.scores, len(lanes)
    z, moved_z = 0.0, 0.0
    for t in range(first, last):
        sums, moved_sums = zeros(lanes), zeros(lanes)
        if t > first:
            lattice.scaling[t], change.scaling[t] = 1.0 / z, moved_z / z
        for b in range(0, B.shape[1], W):
            if t == first:
                row = multiply(load(B, t, b, lanes), load(lattice.start, 0, b, lanes))
                moved = multiply(row, load(rU, t, b, lanes))
            else:
                top = t * edges.stride
                factor = scale(lattice.scaling[t], load(B, t, b, lanes))
                row = multiply(row_times(lattice.alpha, t - 1, edges.forward, top, n_labels, b, lanes), factor)
                reached = add(
                    row_times(change.alpha, t - 1, edges.forward, top, n_labels, b, lanes),
                    row_times(lattice.alpha, t - 1, direction.forward, top, n_labels, b, lanes),
                )
                moved = add(multiply(reached, factor), multiply(row, load(rU, t, b, lanes)))
                moved = add_scaled(-change.scaling[t], row, moved)
            store(lattice.alpha, t, b, row)
            store(change.alpha, t, b, moved)
            sums, moved_sums = add(sums, row), add(moved_sums, moved)
        z, moved_z = total(sums), total(moved_sums)
    lattice.scaling[first], change.scaling[first] = z, moved_z


@outlined_kernel
def differentiate_backward(first, last, direction, bench, weight, n_labels, lanes):
    """Compute follow and its derivative, and node'. Writes: .follow of both, change.scores (node'), .scaling of
    both.
    """
    lattice, change, edges = bench.lattice, bench.change, direction.edges
    B, rU, W = lattice.scores, change.scores, len(lanes)
    z, moved_z = lattice.scaling[first], change.scaling[first]
    lattice.scaling[first] = change.scaling[first] = 0.0  # no edge leads to the first position
    for t in range(last - 1, first - 1, -1):
        top = (t + 1) * edges.stride
        for b in range(0, B.shape[1], W):
            if t == last - 1:
                beta = scale(weight / z, load(lattice.start, 0, b, lanes))
                moved = scale(-moved_z / z, beta)
            else:
                beta = row_times(lattice.follow, t + 1, edges.backward, top, n_labels, b, lanes)
                moved = add(
                    row_times(change.follow, t + 1, edges.backward, top, n_labels, b, lanes),
                    row_times(lattice.follow, t + 1, direction.backward, top, n_labels, b, lanes),
                )
            factor = scale(lattice.scaling[t], load(B, t, b, lanes))
            follow = multiply(factor, beta)
            moved_follow = add(multiply(factor, moved), multiply(follow, load(rU, t, b, lanes)))
            store(lattice.follow, t, b, follow)
            store(change.follow, t, b, add_scaled(-change.scaling[t], follow, moved_follow))
            node = multiply(load(change.alpha, t, b, lanes), beta)
            store(rU, t, b, add(node, multiply(load(lattice.alpha, t, b, lanes), moved)))


@outlined_kernel
def differentiate_block(sequences, first, end, direction, bench, n_labels, lanes):
    """Add the product of the sequences of a block. Writes: bench."""
    positions, weights = sequences.positions, sequences.weights
    lattice, change, left, product = bench.lattice, bench.change, bench.block, bench.product
    starts, Kp = positions.starts, lattice.scores.shape[1]
    base = starts[first]
    score_block(positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
    score_block(positions, direction.table, change.bias, first, end, change.scores, lanes)
    for i in range(first, end):
        weight = weights[i] if len(weights) > 0 else 1.0
        a, b = starts[i] - base, starts[i + 1] - base
        spread = shift_scores(lattice, a, b, lanes)[1]
        if spread + sequences.edges.spread > WIDEST_SPREAD:
            for t in range(a, b):
                for k in range(Kp):
                    left.emission[t, k] = lattice.scores[t, k]
            log_differentiate(a, a, b, direction, bench, weight, n_labels)
        else:
            exponentiate(flat_rows(lattice.scores, a, b))
            differentiate_forward(a, b, direction, bench, n_labels, lanes)
            differentiate_backward(a, b, direction, bench, weight, n_labels, lanes)
    n_positions, row = starts[end] - base, first - first
    add_edges(lattice, n_positions, sequences.edges, n_labels, bench.point.edges, lanes)
    add_changed_edges(lattice.alpha, row, lattice, change, n_positions, n_labels, product.edges, lanes)
    scatter_block(positions, first, end, change.scores, product.table, lanes)


@noalloc_kernel
def multiply_by_differentiation(sequences, first, last, direction, bench, n_labels, lanes):
    """Add the product of sequences first..last-1. Writes: bench."""
    while first < last:
        end = end_of_block(sequences.positions.starts, first, last)
        differentiate_block(sequences, first, end, direction, bench, n_labels, lanes)
        first = end
