"""One block of sequences at the weights of a lazy vector: gather, score, infer, and compare with what is stored."""

from __future__ import annotations

from fastcrf.chain.blocks import infer_block, refresh_edges
from fastcrf.chain.expectations import score_block
from fastcrf.draws.lazy_vector import gather, turn
from fastcrf.draws.stored_gradients import exchange
from fastcrf.kernel import kernel


@kernel
def score_current(blocks, i, vector, space, lanes):
    """Label scores of block i at the current weights, and its edges. Writes: vector, space."""
    K, bounds = blocks.layout.n_labels, blocks.chains.bounds
    gather(vector, blocks.support, i, space.weights, space.edges.scores, lanes)
    bias, scores = space.lattice.bias, space.lattice.scores
    score_block(blocks.local, space.weights, bias, bounds[i], bounds[i + 1], scores, lanes)
    return refresh_edges(space.edges, K, bias, lanes)


@kernel
def evaluate(blocks, i, growth, vector, gradients, space, lanes):
    """Evaluate block i: `growth` of its change is stored; its loss. Writes: vector, gradients, space."""
    edges = score_current(blocks, i, vector, space, lanes)
    loss = infer_block(blocks.chains, i, edges, space, blocks.layout.n_labels, lanes)
    exchange(gradients, blocks, i, growth, space, lanes)
    return loss


@kernel
def fill_gradients(blocks, first, last, vector, gradients, space, lanes):
    """Store the gradients of blocks first..last-1 in the place of the old ones, in d too; their loss.

    Writes: all but w.
    """
    K, total = blocks.layout.n_labels, 0.0
    for i in range(first, last):
        total += evaluate(blocks, i, 1.0, vector, gradients, space, lanes)
        turn(vector, blocks.support, i, 1.0, 0.0, gradients.change, gradients.edge_change, K, lanes)
    return total
