"""Decoding in plain NumPy: what `fastcrf.chain.decode` does, without the compiler.

Loading Numba takes longer than tagging a few hundred sentences, and most of the memory of a small program. Some ten
calls of NumPy a position, on [K, K] arrays, are slow beside compiled code but ready at once.

Inference is in the log domain, normalised at each position; the largest score of each position and the largest
transition are taken off first, so that what matters is near 0, where doubles are dense, however large the scores were.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fastcrf.chain.decoding_room import require_room_for
from fastcrf.chain.score_range import DENSE
from fastcrf.chain.transitions import transition_matrix
from fastcrf.types import Corpus, FeatureMap, Floats, Ints


@np.errstate(all="ignore")
def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats) -> Ints:
    """Best label id of each position, [P]; ties go to the lowest id."""
    require_room_for(features.n_labels, corpus.n_positions, squares=3, rows=4)
    scores, transitions = position_scores(corpus, features, weights), transition_matrix(features, weights)
    labels = np.empty(corpus.n_positions, np.int32)
    for first, last in pairwise(corpus.starts.tolist()):
        if first < last:
            labels[first:last] = best_path(scores[first:last], transitions)
    return labels


def best_path(scores: Floats, transitions: Floats) -> list[int]:
    """Best labels of one scored sequence. What is subtracted at every position is what compiled code subtracts."""
    best, came_from, every, widest = scores[0], [], np.arange(len(transitions)), np.abs(transitions).max()
    for row in scores[1:]:
        candidates = best[:, None] + transitions
        before = candidates.argmax(axis=0)  # the first of equals
        best = candidates[before, every]
        if max(widest, abs(best[0])) > DENSE:
            best = best - best.max()
        best = row + best
        came_from.append(before)
    labels = [int(best.argmax())]
    for before in reversed(came_from):
        labels.append(int(before[labels[-1]]))
    return labels[::-1]


@np.errstate(all="ignore")
def infer_corpus(corpus: Corpus, features: FeatureMap, weights: Floats) -> tuple[Floats, Floats]:
    """p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty)."""
    require_room_for(features.n_labels, corpus.n_positions, squares=3, rows=6)
    scores, transitions = position_scores(corpus, features, weights), transition_matrix(features, weights)
    log_z = np.zeros(corpus.n_sequences)
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        if first < last:
            log_z[i] = infer(scores[first:last], transitions)
    return scores, log_z


def infer(scores: Floats, transitions: Floats) -> float:
    """log Z of one sequence. Writes: scores (probabilities of the labels at each position)."""
    shifted, tops, edges, top = near_zero(scores, transitions)
    alpha, totals = forward(shifted, edges)
    both = alpha + backward(shifted, edges, totals)
    scores[:] = np.exp(both - both.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    return float(tops.sum() + totals.sum() + (len(scores) - 1) * top)


def near_zero(scores: Floats, transitions: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Scores less the largest of each position, those, transitions less the largest, and that."""
    tops, top = scores.max(axis=1), float(transitions.max())
    return scores - tops[:, None], tops, transitions - top, top


def forward(scores: Floats, transitions: Floats) -> tuple[Floats, Floats]:
    """log p(y_t = k | x_1 ... x_t), [T, K], and what was taken off to normalise each row, [T]; log Z is their sum."""
    alpha, totals = np.empty_like(scores), np.empty(len(scores))
    for t, row in enumerate(scores):
        reached = log_sums(alpha[t - 1][:, None] + transitions, row) if t else row
        top = reached.max()
        rest = np.log(np.exp(reached - top).sum())
        alpha[t], totals[t] = (reached - top) - rest, top + rest
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
    found: list[list[float]] = []
    for (first, last), wanted in zip(pairwise(corpus.starts.tolist()), spans, strict=True):
        if first == last:
            found.append([])
            continue
        path = labels[first:last]
        own, _, edges, _ = near_zero(scores[first:last], transitions)
        alpha, totals = forward(own, edges)
        beta = backward(own, edges, totals)
        every = np.arange(last - first)
        steps = own[every, path] - totals
        steps[1:] += edges[path[:-1], path[1:]]
        logs = [alpha[s, path[s]] + steps[s + 1 : e].sum() + beta[e - 1, path[e - 1]] for s, e in wanted]
        found.append(np.exp(np.minimum(logs, 0.0)).tolist())
    return found


def log_sums(terms: Floats, more: Floats | float = 0.0) -> Floats:
    """log sum_j exp(terms[j, k]) of each column, and `more`, which is added where digits are lost least."""
    top = terms.max(axis=0)
    return top + more + np.log(np.exp(terms - top).sum(axis=0))


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


def log_chance(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, i: int) -> float:
    """log p of the labels of sequence i, as differences from the path itself.

    Neither the path's score nor log Z is ever formed, which may be so large that their difference is lost.
    """
    alone, path = corpus.stretch(i, i + 1), labels[corpus.starts[i] : corpus.starts[i + 1]]
    scores, transitions = position_scores(alone, features, weights), transition_matrix(features, weights)
    ahead = scores[0] - scores[0, path[0]]
    for t in range(1, len(path)):
        edges = transitions - transitions[path[t - 1], path[t]]
        ahead = log_sums(ahead[:, None] + edges, scores[t] - scores[t, path[t]])
    return -float(log_sums(ahead[:, None])[0])
