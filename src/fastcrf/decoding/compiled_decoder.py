"""Decoding a corpus with given weights: best labels, probabilities of labels and of whole label sequences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.decoding import plain_decoder as plain_decoder
from fastcrf.decoding.input_checks import require_memory_for, require_memory_for_states
from fastcrf.decoding.scores import fill_transitions, score_positions
from fastcrf.decoding.viterbi import best_labels
from fastcrf.feature_space.label_contexts import known_contexts, make_tree
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.higher_order.any_order import allowed_edges_from, edges_from, lattice_of, live_lattice_of
from fastcrf.inference.expectations import infer
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice
from fastcrf.inference.masks import mask_scores
from fastcrf.jit.kernel import kernel
from fastcrf.simd.widths import choose_width


def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None) -> Ints:
    """Return the best label id of each position, [P]; ties go to the lowest id. NONE: see allowed_viterbi.py."""
    require_memory_for(features.n_labels, corpus.n_positions, squares=1, rows=1)
    if features.order == 1 and allowed is None:
        return best_labels(corpus, features, weights)
    if features.order == 1:
        from fastcrf.decoding.allowed_viterbi import best_allowed_labels

        return best_allowed_labels(corpus, features, weights, allowed)
    from fastcrf.decoding.context_viterbi import best_allowed_labels_of_contexts, best_labels_of_contexts

    edges, lattice = prepared(corpus, features, weights, allowed)
    if allowed is None:
        return best_labels_of_contexts(corpus, features, weights, edges, lattice)
    return best_allowed_labels_of_contexts(corpus, features, weights, edges, lattice, allowed)


def prepared(
    corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None
) -> tuple[AnyEdges, AnyLattice]:
    """Return edges, and work space for the longest sequence."""
    require_memory_for_states(corpus, features, rows=8, columns=3)
    K, padded = features.n_labels, choose_width(features.n_labels)[1]
    tree = None if features.order == 1 else make_tree(known_contexts(features), K)
    longest = int(np.diff(corpus.starts).max(initial=1))
    scores, size = transition_matrix(features, weights), (tree, longest, K, padded)
    if allowed is None:
        return edges_from(tree, scores, padded), lattice_of(*size)
    return allowed_edges_from(tree, scores, allowed.transitions, padded), live_lattice_of(*size)


def posteriors(corpus: Corpus, features: FeatureMap, weights: Floats) -> Floats:
    """Compute p(y_t = k | x) of each position, [P, K]."""
    return infer_corpus(corpus, features, weights)[0]


def infer_corpus(
    corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None
) -> tuple[Floats, Floats]:
    """Compute p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty).

    With `allowed` they are those of the allowed label sequences; where there is none, probabilities are 0, log Z -inf.
    """
    require_memory_for(features.n_labels, corpus.n_positions, squares=6, rows=5)
    edges, lattice = prepared(corpus, features, weights, allowed)
    probabilities = np.zeros((corpus.n_positions, features.n_labels))
    log_z = np.zeros(corpus.n_sequences)
    live = np.empty((0, features.n_labels), np.bool_) if allowed is None else live_labels_of(corpus, allowed)
    lanes = (0,) * choose_width(features.n_labels)[0]
    fill_posteriors(corpus, features, weights, edges, lattice, live, Posteriors(probabilities, log_z), lanes)
    return probabilities, log_z


def best_of_scores(scores: Floats, starts: Longs, allowed: Allowed) -> Ints:
    """Return the allowed labels with the highest sum of scores [P, K], [P]. Writes: scores."""
    from fastcrf.decoding.allowed_viterbi import best_allowed_of_scores

    return best_allowed_of_scores(starts, scores, allowed)


class Posteriors(NamedTuple):
    """What inference gives."""

    probabilities: np.ndarray  # [P, K]
    log_z: np.ndarray  # [N]


def live_labels_of(corpus: Corpus, allowed: Allowed) -> np.ndarray:
    """Return which labels some allowed sequence has at each position, [P, K]."""
    from fastcrf.inference.live_labels import live_labels

    return live_labels(corpus.starts, allowed)


@kernel
def fill_posteriors(corpus, features, weights, edges, lattice, live, posteriors, lanes):
    """Fill in probabilities and log Z; `live` are the live labels [P, K], or [0, K] where all are.

    Writes: posteriors (probabilities only where there is a label sequence), lattice.
    """
    K, probabilities, log_z = features.n_labels, posteriors.probabilities, posteriors.log_z
    wide_edges = np.zeros(edges.scores.shape)
    row = np.int64(0)  # a literal 0 would make Numba compile `infer` and all it calls once more
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        if first == last:
            continue
        for t in range(last - first):
            lattice.scores[t] = lattice.bias[0]
        score_positions(corpus, features, weights, first, last, lattice.scores)
        if len(live) > 0:
            if not live[first].any():
                log_z[i] = -np.inf
                continue
            mask_scores(lattice.scores[: last - first], live, first)
        log_z[i] = infer(lattice, row, row + last - first, edges, 1.0, wide_edges, K, lanes)
        probabilities[first:last] = lattice.scores[: last - first, :K]


def path_scores(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints) -> Floats:
    """Compute the score of each sequence with these labels (ids of each position), [N]."""
    if features.order == 1:
        return bigram_path_scores(corpus, features, weights, labels)
    return plain_decoder.path_scores(corpus, features, weights, labels)


@kernel
def bigram_path_scores(corpus, features, weights, labels):
    """Compute the same in a chain of order 1."""
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
