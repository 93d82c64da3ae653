"""Decoding a corpus with given weights: best labels, and label probabilities of each position."""

from __future__ import annotations

import numpy as np

from fastcrf.chain.expectations import infer
from fastcrf.chain.forward_backward import make_edges, make_lattice
from fastcrf.chain.lanes import choose_width
from fastcrf.chain.scores import score_positions, transition_matrix
from fastcrf.chain.viterbi import best_labels
from fastcrf.kernel import kernel
from fastcrf.types import Corpus, FeatureMap, Floats, Ints


def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats) -> Ints:
    """Best label id of each position, [P]; ties go to the lowest id."""
    return best_labels(corpus, features, weights)


def posteriors(corpus: Corpus, features: FeatureMap, weights: Floats) -> Floats:
    """p(y_t = k | x) of each position, [P, K]."""
    width, padded = choose_width(features.n_labels)
    longest = int(np.diff(corpus.starts).max(initial=1))
    lattice = make_lattice(longest, features.n_labels, padded)
    edges = make_edges(transition_matrix(features, weights), padded)
    probabilities = np.empty((corpus.n_positions, features.n_labels))
    fill_posteriors(corpus, features, weights, edges, lattice, probabilities, (0,) * width)
    return probabilities


@kernel
def fill_posteriors(corpus, features, weights, edges, lattice, probabilities, lanes):
    """Writes: probabilities, lattice."""
    K = features.n_labels
    wide_edges = np.zeros(edges.scores.shape)
    row = np.int64(0)  # a literal 0 would make Numba compile `infer` and all it calls once more
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        if first == last:
            continue
        for t in range(last - first):
            lattice.scores[t] = lattice.bias[0]
        score_positions(corpus, features, weights, first, last, lattice.scores)
        infer(lattice, row, row + last - first, edges, 1.0, wide_edges, K, lanes)
        probabilities[first:last] = lattice.scores[: last - first, :K]
