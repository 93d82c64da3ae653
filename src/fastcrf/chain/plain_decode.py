"""Decoding in plain NumPy: what `fastcrf.chain.decode` does, without the compiler.

Loading Numba takes longer than tagging a few hundred sentences, and most of the memory of a small program. Some ten
calls of NumPy a position, on [K, K] arrays, are slow beside compiled code but ready at once.

Inference is in the log domain, normalised at each position; the largest score of each position and the largest
transition are taken off first, so that what matters is near 0, where doubles are dense, however large the scores were.

A state is as many labels as the chain's order: best and alpha are arrays [K] or [K, K], steps [K, K] or [K, K, K], and
what a step loses is the first label of a state. The step to the second position of a chain of order 2 loses none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fastcrf.chain.decoding_room import require_room_for, require_room_for_pairs
from fastcrf.chain.histories import with_bigrams
from fastcrf.chain.score_range import DENSE
from fastcrf.chain.transitions import transition_matrix
from fastcrf.types import Corpus, FeatureMap, Floats, Ints


class Steps(NamedTuple):
    """What the step to a position scores, the largest of all less `top`."""

    second: Floats  # [K, K] from the first position to the second
    later: Floats  # [K, K], or in a chain of order 2 [K, K, K]: to all others
    top: float

    @property
    def order(self) -> int:
        return self.later.ndim - 1

    def to(self, t: int) -> Floats:
        return self.second if t == 1 else self.later

    def widest(self) -> float:
        return float(max(np.abs(self.second).max(), np.abs(self.later).max()))


def make_steps(features: FeatureMap, weights: Floats) -> Steps:
    K, scores = features.n_labels, transition_matrix(features, weights)
    if features.order == 1:
        return Steps(scores, scores, 0.0)
    return Steps(scores[:K], with_bigrams(scores)[K:].reshape(K, K, K).transpose(1, 0, 2), 0.0)  # rows are k K + j


def near_zero(scores: Floats, steps: Steps) -> tuple[Floats, Floats, Steps]:
    """Scores less the largest of each position, those, and steps less the largest."""
    tops, top = scores.max(axis=1), float(max(steps.second.max(), steps.later.max()))
    return scores - tops[:, None], tops, Steps(steps.second - top, steps.later - top, top)


@np.errstate(all="ignore")
def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats) -> Ints:
    """Best label id of each position, [P]; ties go to the lowest id."""
    require_room_for(features.n_labels, corpus.n_positions, squares=3, rows=4)
    if features.order == 2:
        require_room_for_pairs(corpus, features.n_labels, cubes=5, squares=1)
    scores, steps = position_scores(corpus, features, weights), make_steps(features, weights)
    labels = np.empty(corpus.n_positions, np.int32)
    for first, last in pairwise(corpus.starts.tolist()):
        if first < last:
            labels[first:last] = best_path(scores[first:last], steps)
    return labels


def best_path(scores: Floats, steps: Steps) -> list[int]:
    """Best labels of one scored sequence. What is subtracted at every position is what compiled code subtracts."""
    best, came_from, widest, order = scores[0], [], steps.widest(), steps.order
    every, shape = np.arange(scores.shape[1] ** order), scores.shape[1:] * order
    for t, row in enumerate(scores[1:], 1):
        candidates = best[..., None] + steps.to(t)
        if best.ndim == order:
            flat = candidates.reshape(len(best), -1)
            before = flat.argmax(axis=0)  # the first of equals
            best = flat[before, every].reshape(shape)
            came_from.append(before.reshape(shape))
        else:
            best = candidates
        if max(widest, abs(best.flat[0])) > DENSE:
            best = best - best.max()
        best = row + best
    state = np.unravel_index(int(best.T.argmax()), best.T.shape)  # the last label counts first, then the one before
    labels = [int(label) for label in state]
    for before in reversed(came_from):
        nearest = labels[-before.ndim :][::-1]
        labels.append(int(before[tuple(nearest)]))
    return labels[::-1]


@np.errstate(all="ignore")
def infer_corpus(corpus: Corpus, features: FeatureMap, weights: Floats) -> tuple[Floats, Floats]:
    """p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty)."""
    require_room_for(features.n_labels, corpus.n_positions, squares=3, rows=6)
    if features.order == 2:
        require_room_for_pairs(corpus, features.n_labels, cubes=5, squares=3)
    scores, steps = position_scores(corpus, features, weights), make_steps(features, weights)
    log_z = np.zeros(corpus.n_sequences)
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        if first < last:
            log_z[i] = infer(scores[first:last], steps)
    return scores, log_z


def infer(scores: Floats, steps: Steps) -> float:
    """log Z of one sequence. Writes: scores (probabilities of the labels at each position)."""
    shifted, tops, near = near_zero(scores, steps)
    alpha, totals = forward(shifted, near)
    beta = backward(shifted, near, totals)
    for some in (slice(0, 1), slice(1, len(scores))):  # in a chain of order 2 the first position has no pairs
        if some.start < some.stop:
            both = np.array(alpha[some]) + np.array(beta[some])
            shares = np.exp(both - both.max(axis=tuple(range(1, both.ndim)), keepdims=True))
            scores[some] = shares if shares.ndim == 2 else shares.sum(axis=1)
    scores /= scores.sum(axis=1, keepdims=True)
    return float(tops.sum() + totals.sum() + (len(scores) - 1) * near.top)


def forward(scores: Floats, steps: Steps) -> tuple[list[Floats], Floats]:
    """log p(states at t | x_1 ... x_t), and what was taken off to normalise each, [T]; log Z is their sum."""
    alpha: list[Floats] = []
    totals = np.empty(len(scores))
    for t, row in enumerate(scores):
        if t == 0:
            reached = row
        elif alpha[-1].ndim == steps.order:
            reached = log_sums(alpha[-1][..., None] + steps.to(t), row)
        else:
            reached = (alpha[-1][..., None] + steps.to(t)) + row
        top = reached.max()
        rest = np.log(np.exp(reached - top).sum())
        alpha.append((reached - top) - rest)
        totals[t] = top + rest
    return alpha, totals


def backward(scores: Floats, steps: Steps, totals: Floats) -> list[Floats]:
    """What follows the states at each position, scaled so that exp(alpha + beta) are their probabilities."""
    beta = [np.zeros(scores.shape[1:] * min(steps.order, len(scores)))]
    for t in range(len(scores) - 1, 0, -1):
        ahead = steps.to(t) + (scores[t] + beta[-1])  # [(j,) k, l]
        beta.append(log_sums(np.moveaxis(ahead, -1, 0)) - totals[t])
    return beta[::-1]


@np.errstate(all="ignore")
def span_probabilities(
    corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, spans: Sequence[Sequence[tuple[int, int]]]
) -> list[list[float]]:
    """The probability that all labels of a span are those in `labels` (ids of each position), whatever is beside it.

    The spans of each sequence are (first, last + 1), counted from its first position.
    """
    scores, steps = position_scores(corpus, features, weights), make_steps(features, weights)
    found: list[list[float]] = []
    for (first, last), wanted in zip(pairwise(corpus.starts.tolist()), spans, strict=True):
        if first == last:
            found.append([])
            continue
        own, _, near = near_zero(scores[first:last], steps)
        alpha, totals = forward(own, near)
        beta, path = backward(own, near, totals), labels[first:last].tolist()
        logs = [span_chance(own, near, alpha, totals, beta, path, *span) for span in wanted]
        found.append(np.exp(np.minimum(logs, 0.0)).tolist())
    return found


def span_chance(
    scores: Floats, steps: Steps, alpha: list[Floats], totals: Floats, beta: list[Floats], path: list[int],
    first: int, last: int,
) -> float:  # fmt: skip
    """The log of the probability that labels first..last-1 are those of the path: what is left of the states there."""
    ahead = alpha[first][..., path[first]]
    for t in range(first + 1, last):
        known = path[max(first, t - steps.order) : t + 1]  # of the labels that the step looks at
        step: Floats = steps.to(t)[(..., *known)]  # type: ignore[arg-type]
        ahead = np.asarray(ahead + step + (scores[t, path[t]] - totals[t]))
        if ahead.ndim:  # what is before the span is not needed any more
            ahead = log_sums(ahead)
    behind = beta[last - 1][..., path[last - 1]]
    if last - first > 1 and behind.ndim:
        behind = behind[path[last - 2]]
    both = ahead + behind
    return float(log_sums(both)) if both.ndim else float(both)


def log_sums(terms: Floats, more: Floats | float = 0.0) -> Floats:
    """log of the sum of exp over the first axis, and `more`, which is added where digits are lost least."""
    top = terms.max(axis=0)
    return top + more + np.log(np.exp(terms - top).sum(axis=0))


@np.errstate(all="ignore")
def path_scores(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints) -> Floats:
    """The score of each sequence with these labels (ids of each position), [N]."""
    scores, steps = position_scores(corpus, features, weights), make_steps(features, weights)
    bounds = pairwise(corpus.starts.tolist())
    return np.array([path_score(scores[first:last], steps, labels[first:last]) for first, last in bounds])


def path_score(scores: Floats, steps: Steps, path: Ints) -> float:
    order = steps.order
    second = steps.second[tuple(path[:2])] if len(path) > 1 else 0.0
    later = steps.later[tuple(path[2 - order + n : len(path) - order + n] for n in range(order + 1))]
    return float(scores[np.arange(len(path)), path].sum() + second + later.sum())


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
    scores, steps = position_scores(alone, features, weights), make_steps(features, weights)
    order, ahead = features.order, scores[0] - scores[0, path[0]]
    for t in range(1, len(path)):
        own = steps.to(t)
        step = own - own[tuple(path[t + 1 - own.ndim : t + 1])]
        row, reached = scores[t] - scores[t, path[t]], ahead[..., None] + step
        ahead = log_sums(reached, row) if ahead.ndim == order else reached + row
    return -float(log_sums(ahead.reshape(-1)))
