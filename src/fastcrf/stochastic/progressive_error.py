"""Count the wrong positions of each sample before the update (progressive validation), at no cost.

The prediction is the most probable label of each position, from the posteriors of the gradient. It is not the best
label sequence, which would require Viterbi's algorithm.
"""

from __future__ import annotations

from fastcrf.jit.kernel import outlined_kernel
from fastcrf.simd.lanes import larger, largest, load


@outlined_kernel
def count_wrong(chains, i, residuals, lanes):
    """Return the number of positions of block i where another label is at least as probable as the gold one.

    Residuals are posterior - gold, weighted: that of the gold label is at most 0, those of the others are posteriors.
    """
    base, wrong, W = chains.starts[chains.bounds[i]], 0, len(lanes)
    for c in range(chains.bounds[i], chains.bounds[i + 1]):
        weight = chains.weights[c] if len(chains.weights) > 0 else 1.0
        for p in range(chains.starts[c], chains.starts[c + 1]):
            row = load(residuals, p - base, 0, lanes)
            for b in range(W, residuals.shape[1], W):
                row = larger(row, load(residuals, p - base, b, lanes))
            wrong += largest(row) >= residuals[p - base, chains.labels[p]] + weight
    return wrong
