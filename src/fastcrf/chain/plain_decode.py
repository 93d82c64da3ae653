"""Decoding in plain NumPy: what `fastcrf.chain.decode` does, without the compiler.

Loading Numba takes longer than tagging a few hundred sentences, and most of the memory of a small program. Some ten
calls of NumPy a position, on [K, K] arrays, are slow beside compiled code but ready at once.

Inference is in the log domain, normalised at each position, so that it is exact for scores of any finite size and for
sequences of any length. Where weights overflow, results are as useless as in compiled code, and as silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fastcrf.chain.transitions import transition_matrix
from fastcrf.types import Corpus, FeatureMap, Floats, Ints


@np.errstate(all="ignore")
def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats) -> Ints:
    """Best label id of each position, [P]; ties go to the lowest id."""
    scores, transitions = position_scores(corpus, features, weights), transition_matrix(features, weights)
    labels = np.empty(corpus.n_positions, np.int32)
    for first, last in pairwise(corpus.starts.tolist()):
        if first < last:
            labels[first:last] = best_path(scores[first:last], transitions)
    return labels


def best_path(scores: Floats, transitions: Floats) -> list[int]:
    """Best labels of one scored sequence."""
    best, came_from, every = scores[0], [], np.arange(len(transitions))
    for row in scores[1:]:
        candidates = best[:, None] + transitions
        before = candidates.argmax(axis=0)  # the first of equals
        best = row + candidates[before, every]
        came_from.append(before)
    labels = [int(best.argmax())]
    for before in reversed(came_from):
        labels.append(int(before[labels[-1]]))
    return labels[::-1]


@np.errstate(all="ignore")
def infer_corpus(corpus: Corpus, features: FeatureMap, weights: Floats) -> tuple[Floats, Floats]:
    """p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty)."""
    scores, transitions = position_scores(corpus, features, weights), transition_matrix(features, weights)
    log_z = np.zeros(corpus.n_sequences)
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        if first < last:
            log_z[i] = infer(scores[first:last], transitions)
    return scores, log_z


def infer(scores: Floats, transitions: Floats) -> float:
    """log Z of one sequence. Writes: scores (probabilities of the labels at each position)."""
    alpha, totals = forward(scores, transitions)
    both = alpha + backward(scores, transitions, totals)
    scores[:] = np.exp(both - both.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    return float(totals.sum())


def forward(scores: Floats, transitions: Floats) -> tuple[Floats, Floats]:
    """log p(y_t = k | x_1 ... x_t), [T, K], and what was taken off to normalise each row, [T]; log Z is their sum."""
    alpha, totals = np.empty_like(scores), np.empty(len(scores))
    for t, row in enumerate(scores):
        alpha[t] = row + log_sums(alpha[t - 1][:, None] + transitions) if t else row
        totals[t] = log_sums(alpha[t][:, None])[0]
        alpha[t] -= totals[t]
    return alpha, totals


def backward(scores: Floats, transitions: Floats, totals: Floats) -> Floats:
    """What follows each position, [T, K], scaled so that exp(alpha + beta) are the probabilities of the labels."""
    beta = np.zeros_like(scores)
    for t in range(len(scores) - 1, 0, -1):
        beta[t - 1] = log_sums((transitions + (scores[t] + beta[t])).T) - totals[t]
    return beta


@np.errstate(all="ignore")
def span_probabilities(
    corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, spans: Sequence[Sequence[tuple[int, int]]]
) -> list[list[float]]:
    """The probability that all labels of a span are those in `labels` (ids of each position), whatever is beside it.

    The spans of each sequence are (first, last + 1), counted from its first position.
    """
    scores, transitions = position_scores(corpus, features, weights), transition_matrix(features, weights)
    found = []
    for (first, last), wanted in zip(pairwise(corpus.starts.tolist()), spans, strict=True):
        path, own = labels[first:last], scores[first:last]
        alpha, totals = forward(own, transitions)
        beta = backward(own, transitions, totals)
        every = np.arange(last - first)
        steps = own[every, path] - totals
        steps[1:] += transitions[path[:-1], path[1:]]
        logs = [alpha[s, path[s]] + steps[s + 1 : e].sum() + beta[e - 1, path[e - 1]] for s, e in wanted]
        found.append(np.exp(np.minimum(logs, 0.0)).tolist())
    return found


def log_sums(terms: Floats) -> Floats:
    """log sum_j exp(terms[j, k]) of each column."""
    top = terms.max(axis=0)
    return top + np.log(np.exp(terms - top).sum(axis=0))


@np.errstate(all="ignore")
def path_scores(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints) -> Floats:
    """The score of each sequence with these labels (ids of each position), [N]."""
    scores, transitions = position_scores(corpus, features, weights), transition_matrix(features, weights)
    states, edges = scores[np.arange(len(labels)), labels], transitions[labels[:-1], labels[1:]]
    bounds = pairwise(corpus.starts.tolist())
    return np.array([states[first:last].sum() + edges[first : max(first, last - 1)].sum() for first, last in bounds])


def position_scores(corpus: Corpus, features: FeatureMap, weights: Floats) -> Floats:
    """Sum over the known attributes of each position of value * weight, [P, K]."""
    known = corpus.attributes >= 0
    attributes = corpus.attributes[known]
    positions = np.repeat(np.arange(corpus.n_positions), np.diff(corpus.offsets))[known]
    counts = features.offsets[attributes + 1] - features.offsets[attributes]
    before = np.cumsum(counts) - counts
    used = np.repeat(features.offsets[attributes] - before, counts) + np.arange(counts.sum())
    amounts = weights[used]
    if len(corpus.values):
        amounts = amounts * np.repeat(corpus.values[known], counts)
    places = np.repeat(positions, counts) * features.n_labels + features.labels[used]
    size = corpus.n_positions * features.n_labels
    sums = np.bincount(places, amounts, size).astype(np.float64, copy=False)  # of nothing, it gives whole numbers
    return sums.reshape(corpus.n_positions, features.n_labels)
