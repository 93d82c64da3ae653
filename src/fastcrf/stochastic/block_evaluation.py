"""Evaluate one block of sequences at the weights of a lazy vector: gather, score, infer."""

from __future__ import annotations

from fastcrf.inference.edges import refresh_edges
from fastcrf.inference.expectations import score_block
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors.reading import gather
from fastcrf.objective.blocks import infer_block
from fastcrf.simd.rows import copy_rows

LOSS, ENTROPY = range(2)  # columns of the figures of each block


@noalloc_kernel
def score_current(blocks, i, vector, space, lanes):
    """Compute the label scores of block i at the current weights, and its edges. Writes: vector, space."""
    K, bounds = blocks.layout.n_labels, blocks.chains.bounds
    gather(vector, blocks.support, i, space.weights, space.edges.scores, lanes)
    bias, scores = space.lattice.bias, space.lattice.scores
    score_block(blocks.local, space.weights, bias, bounds[i], bounds[i + 1], scores, lanes)
    return refresh_edges(space.edges, K, bias, lanes)


@outlined_kernel
def infer_current(blocks, i, edges, space, scores, lanes):
    """Return (loss, entropy) of the scored block i; copy its label scores to `scores`. Writes: space, scores.

    The entropy of the model's distribution over label sequences is loss - w . gradient: its part of a lower bound on
    the objective (certificates/certificate.py). By position, w . gradient is the sum of residuals times scores.
    """
    chains, K, slope = blocks.chains, blocks.layout.n_labels, 0.0
    length = chains.starts[chains.bounds[i + 1]] - chains.starts[chains.bounds[i]]
    copy_rows(space.lattice.scores, scores, length, lanes)
    loss = infer_block(chains, i, edges, space, K, lanes)
    for t in range(length):
        for k in range(K):
            slope += space.lattice.scores[t, k] * scores[t, k]
    for h in range(blocks.layout.n_contexts):
        for k in range(K):
            slope += space.edge_sums[h, k] * edges.scores[h, k]
    return loss, loss - slope
