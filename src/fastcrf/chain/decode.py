"""Decoding a corpus with given weights: best labels, probabilities of labels and of whole label sequences."""

from __future__ import annotations

import numpy as np

from fastcrf.chain.expectations import infer
from fastcrf.chain.forward_backward import make_edges, make_lattice
from fastcrf.chain.lanes import choose_width
from fastcrf.chain.log_domain import log_chance
from fastcrf.chain.scores import fill_transitions, score_positions, transition_matrix
from fastcrf.chain.viterbi import best_labels
from fastcrf.kernel import kernel
from fastcrf.memory_room import SMALL, require_room
from fastcrf.types import Corpus, FeatureMap, Floats, Ints

DENSE = 1e6  # up to here doubles are dense enough to subtract log Z from a score


def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats) -> Ints:
    """Best label id of each position, [P]; ties go to the lowest id."""
    require_room_for(features.n_labels, len(corpus.offsets) - 1, squares=1, rows=1)
    return best_labels(corpus, features, weights)


def posteriors(corpus: Corpus, features: FeatureMap, weights: Floats) -> Floats:
    """p(y_t = k | x) of each position, [P, K]."""
    return infer_corpus(corpus, features, weights)[0]


def infer_corpus(corpus: Corpus, features: FeatureMap, weights: Floats) -> tuple[Floats, Floats]:
    """p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty)."""
    require_room_for(features.n_labels, corpus.n_positions, squares=6, rows=5)
    width, padded = choose_width(features.n_labels)
    longest = int(np.diff(corpus.starts).max(initial=1))
    lattice = make_lattice(longest, features.n_labels, padded)
    edges = make_edges(transition_matrix(features, weights), padded)
    probabilities = np.empty((corpus.n_positions, features.n_labels))
    log_z = np.zeros(corpus.n_sequences)
    fill_posteriors(corpus, features, weights, edges, lattice, probabilities, log_z, (0,) * width)
    return probabilities, log_z


def require_room_for(n_labels: int, n_positions: int, squares: int, rows: int) -> None:
    """Raise if so many matrices [K, K] and so many [P, K] would fill the memory."""
    n_bytes = 8 * n_labels * (squares * n_labels + rows * n_positions)
    if n_bytes > SMALL:
        what = f"Tagging {n_positions:,} tokens with {n_labels:,} labels"
        require_room(n_bytes, what, "tag fewer at a time, or use a model with fewer labels")


@kernel
def fill_posteriors(corpus, features, weights, edges, lattice, probabilities, log_z, lanes):
    """Writes: probabilities, log_z, lattice."""
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
        log_z[i] = infer(lattice, row, row + last - first, edges, 1.0, wide_edges, K, lanes)
        probabilities[first:last] = lattice.scores[: last - first, :K]


@kernel
def path_scores(corpus, features, weights, labels):
    """The score of each sequence with these labels (ids of each position), [N]."""
    scores = np.zeros(len(corpus.starts) - 1)
    transitions = np.zeros((features.n_labels, features.n_labels))
    fill_transitions(features, weights, transitions)
    for i in range(len(scores)):
        for p in range(corpus.starts[i], corpus.starts[i + 1]):
            if p > corpus.starts[i]:
                scores[i] += transitions[labels[p - 1], labels[p]]
            for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
                a = corpus.attributes[o]
                if a < 0:
                    continue
                for f in range(features.offsets[a], features.offsets[a + 1]):
                    if features.labels[f] == labels[p]:
                        scores[i] += weights[f] * (corpus.values[o] if len(corpus.values) else 1.0)
    return scores


def log_chances(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, log_z: Floats) -> Floats:
    """The log of the probability of each sequence's labels, [N], given its log Z."""
    chances = np.minimum(path_scores(corpus, features, weights, labels) - log_z, 0.0)
    for i in np.flatnonzero(np.abs(log_z) > DENSE):
        chances[i] = min(careful_log_chance(corpus, features, weights, labels, int(i)), 0.0)
    return chances


@kernel
def careful_log_chance(corpus, features, weights, labels, i):
    """The same of sequence i alone, whatever the size of its scores."""
    first, last = corpus.starts[i], corpus.starts[i + 1]
    scores = np.zeros((last - first, features.n_labels))
    transitions = np.zeros((features.n_labels, features.n_labels))
    score_positions(corpus, features, weights, first, last, scores)
    fill_transitions(features, weights, transitions)
    return log_chance(scores, transitions, labels[first:last])
