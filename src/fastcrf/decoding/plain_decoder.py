"""Decoding in plain NumPy: what `fastcrf.decoding.compiled_decoder` does, without the compiler.

Loading Numba takes longer than tagging a few hundred sentences, and most of the memory of a small program. Some ten
calls of NumPy a position, on [K, K] arrays, are slower than compiled code but ready at once.

Inference is in the log domain, normalized at each position; the largest score of each position and the largest
transition are taken off first, so that what matters is near 0, where doubles are dense, however large the scores were.

The states of a chain of order 1 are its labels, those of others known histories (label_contexts.py): best and alpha are
arrays [S], steps [S, K].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.decoding.input_checks import require_memory_for, require_memory_for_states
from fastcrf.feature_space.label_contexts import Tree, known_contexts, make_tree, states_of, with_shorter
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.inference.score_range import DENSE, IMPOSSIBLE, MASKED


class Steps(NamedTuple):
    """The score of the step from each state to each label, less `top`, and its destination: `tree`, or the label."""

    scores: Floats  # [S, K]
    tree: Tree | None
    top: float

    @property
    def last(self) -> Longs | slice:
        """Return the label of each state, to index rows of label scores with."""
        return slice(None) if self.tree is None else self.tree.last

    def begin(self, row: Floats) -> Floats:
        """Return a row of logs by label, as states at the first position."""
        return np.append(row, np.full(len(self.scores) - len(row), -np.inf))

    @np.errstate(divide="ignore")  # a state that no label sequence is in has the log of 0
    def lead_on(self, terms: Floats, more: Floats) -> Floats:
        """Compute the log of the sum of exp of the terms [S, K] that lead to each state, and `more` of its label."""
        if self.tree is None:
            return log_sums(terms, more)
        places = self.tree.following.reshape(-1)
        tops, sums, flat = np.full(len(terms), -np.inf), np.zeros(len(terms)), terms.reshape(-1)
        np.maximum.at(tops, places, flat)
        np.add.at(sums, places, np.exp(flat - np.maximum(tops, LOWEST)[places]))
        return tops + more[self.last] + np.log(sums)

    def ahead(self, states: Floats) -> Floats:
        """Return the values of the states that each step leads to."""
        return states if self.tree is None else states[self.tree.following]

    def by_label(self, states: Floats) -> Floats:
        """Sum [T, S] over the states of each label, [T, K]."""
        if self.tree is None:
            return states
        labels = np.arange(self.scores.shape[1])
        return states @ (self.tree.last[:, None] == labels)


LOWEST = -1e308  # finite, for impossible label sequences
NONE = -1  # a label of a sequence that no label sequence is allowed for


def make_steps(features: FeatureMap, weights: Floats) -> Steps:
    scores = transition_matrix(features, weights)
    if features.order == 1:
        return Steps(scores, None, 0.0)
    tree = make_tree(known_contexts(features), features.n_labels)
    return Steps(with_shorter(scores, tree), tree, 0.0)


def scores_and_steps(
    corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None
) -> tuple[Floats, Steps]:
    """Return the scores of labels at each position, [P, K], and of steps; what is not allowed scores MASKED."""
    scores, steps = position_scores(corpus, features, weights), make_steps(features, weights)
    if allowed is not None:
        scores[~allowed.mask()] = MASKED
        steps.scores[~allowed.transitions[labels_of_states(steps)]] = MASKED
    return scores, steps


def near_zero(scores: Floats, steps: Steps) -> tuple[Floats, Floats, Steps]:
    """Return scores less the largest of each position, those, and steps less the largest."""
    tops, top = scores.max(axis=1), float(steps.scores.max())
    return scores - tops[:, None], tops, steps._replace(scores=steps.scores - top, top=top)


@np.errstate(all="ignore")
def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None) -> Ints:
    """Return the best label id of each position, [P]; ties go to the lowest id.

    Where no label sequence is allowed, the first label of the sequence is NONE.
    """
    require_memory_for(features.n_labels, corpus.n_positions, squares=3, rows=4)
    require_memory_for_states(corpus, features, rows=6, columns=2)
    return best_of_steps(*scores_and_steps(corpus, features, weights, allowed), corpus.starts, allowed)


def best_of_scores(scores: Floats, starts: Longs, allowed: Allowed) -> Ints:
    """Return the allowed labels with the highest sum of scores [P, K], [P]."""
    steps = Steps(np.where(allowed.transitions, 0.0, MASKED), None, 0.0)
    return best_of_steps(np.where(allowed.mask(), scores, MASKED), steps, starts, allowed)


def best_of_steps(scores: Floats, steps: Steps, starts: Longs, allowed: Allowed | None) -> Ints:
    """Return the best label id of each scored position, [P]."""
    labels, best = np.empty(len(scores), np.int32), best_path if steps.tree is None else best_states
    for first, last in pairwise(starts.tolist()):
        if first < last:
            labels[first:last] = best(scores[first:last], steps)
    if allowed is not None:
        wrong = np.flatnonzero(~allowed.keeps(labels, starts))
        labels[starts[np.searchsorted(starts, wrong, "right") - 1]] = NONE
    return labels


def best_path(scores: Floats, steps: Steps) -> list[int]:
    """Return the best labels of one scored sequence. It subtracts the same numbers as compiled code."""
    best, came_from = scores[0], []
    widest, every = float(np.abs(steps.scores).max(where=steps.scores > IMPOSSIBLE, initial=0.0)), np.arange(len(best))
    for row in scores[1:]:
        candidates = best[:, None] + steps.scores
        before = candidates.argmax(axis=0)  # the first of equals
        best = candidates[before, every]
        came_from.append(before)
        if max(widest, abs(best[0])) > DENSE:
            best = best - best.max()
        best = row + best
    labels = [int(best.argmax())]
    for before in reversed(came_from):
        labels.append(int(before[labels[-1]]))
    return labels[::-1]


def best_states(scores: Floats, steps: Steps) -> list[int]:
    """Return the same in a chain of higher order, as viterbi.py does it."""
    assert steps.tree is not None
    following, last = steps.tree.following, steps.tree.last
    best, came_from = steps.begin(scores[0]), [np.zeros(len(last), np.int64)]
    for row in scores[1:]:
        found, before = np.full(len(last), -np.inf), np.zeros(len(last), np.int64)
        candidates = best[:, None] + steps.scores
        np.maximum.at(found, following, candidates)
        came_from.append(before)
        states, labels = np.nonzero((candidates == found[following]) & (candidates > -np.inf))
        reached = following[states, labels]
        before[reached] = states
        for h, there in zip(states.tolist(), reached.tolist(), strict=True):
            if is_lower(last, came_from[:-1], h, int(before[there])):
                before[there] = h
        top = found.max()
        best = (found - (top if abs(top) > DENSE else 0.0)) + row[last]
    state = 0
    for h in range(1, len(last)):
        if best[h] > best[state] or (best[h] == best[state] and is_lower(last, came_from, h, state)):
            state = h
    path = []
    for before in reversed(came_from):
        path.append(int(last[state]))
        state = int(before[state])
    return path[::-1]


def is_lower(last: Longs, came_from: list[Longs], one: int, other: int) -> bool:
    """Return whether the best path to `one` has a lower label than that to `other` where they last differ."""
    for before in reversed(came_from):
        if one == other or last[one] != last[other]:
            break
        one, other = int(before[one]), int(before[other])
    return bool(last[one] < last[other])


@np.errstate(all="ignore")
def infer_corpus(
    corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None
) -> tuple[Floats, Floats]:
    """Compute p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty).

    With `allowed` they are those of the allowed label sequences; where there is none, probabilities are 0, log Z -inf.
    """
    require_memory_for(features.n_labels, corpus.n_positions, squares=3, rows=6)
    require_memory_for_states(corpus, features, rows=6, columns=4)
    scores, steps = scores_and_steps(corpus, features, weights, allowed)
    log_z = np.zeros(corpus.n_sequences)
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        if first < last:
            log_z[i] = infer(scores[first:last], steps)
            if log_z[i] < IMPOSSIBLE:
                scores[first:last], log_z[i] = 0.0, -np.inf
    return scores, log_z


def infer(scores: Floats, steps: Steps) -> float:
    """Compute log Z of one sequence. Writes: scores (probabilities of the labels at each position)."""
    shifted, tops, near = near_zero(scores, steps)
    alpha, totals = forward(shifted, near)
    both = np.array(alpha) + np.array(backward(shifted, near, totals))
    scores[:] = steps.by_label(np.exp(both - both.max(axis=1, keepdims=True)))
    scores /= scores.sum(axis=1, keepdims=True)
    return float(tops.sum() + totals.sum() + (len(scores) - 1) * near.top)


def forward(scores: Floats, steps: Steps) -> tuple[list[Floats], Floats]:
    """Compute log p(states at t | x_1 ...

    x_t), and the normalizer of each, [T]; log Z is the sum of the normalizers.
    """
    alpha: list[Floats] = []
    totals = np.empty(len(scores))
    for t, row in enumerate(scores):
        reached = steps.lead_on(alpha[-1][:, None] + steps.scores, row) if t else steps.begin(row)
        top = reached.max()
        rest = np.log(np.exp(reached - top).sum())
        alpha.append((reached - top) - rest)
        totals[t] = top + rest
    return alpha, totals


def backward(scores: Floats, steps: Steps, totals: Floats) -> list[Floats]:
    """Compute what follows the states at each position, scaled so that exp(alpha + beta) are their probabilities."""
    beta = [np.zeros(len(steps.scores))]
    for t in range(len(scores) - 1, 0, -1):
        ahead = steps.scores + (scores[t] + steps.ahead(beta[-1]))  # [states, labels]
        beta.append(log_sums(ahead.T) - totals[t])
    return beta[::-1]


@np.errstate(all="ignore")
def span_probabilities(
    corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, spans: Sequence[Sequence[tuple[int, int]]],
    allowed: Allowed | None = None,
) -> list[list[float]]:  # fmt: skip
    """Compute the probability that all labels of a span are those in `labels` (ids of each position).

    The spans of each sequence are (first, last + 1), counted from its first position.
    """
    scores, steps = scores_and_steps(corpus, features, weights, allowed)
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
    """Compute the log of the probability that labels first..last-1 are those of the path."""
    ahead = np.where(labels_of_states(steps) == path[first], alpha[first], -np.inf)
    for t in range(first + 1, last):
        terms = np.full_like(steps.scores, -np.inf)
        terms[:, path[t]] = ahead + steps.scores[:, path[t]]
        ahead = steps.lead_on(terms, scores[t] - totals[t])
    return float(log_sums(ahead + beta[last - 1]))


def labels_of_states(steps: Steps) -> Longs:
    return np.arange(len(steps.scores)) if steps.tree is None else steps.tree.last


def log_sums(terms: Floats, more: Floats | float = 0.0) -> Floats:
    """Compute the log of the sum of exp over the first axis, and add `more` where the fewest digits are lost."""
    top = np.maximum(terms.max(axis=0), LOWEST)
    return top + more + np.log(np.exp(terms - top).sum(axis=0))


@np.errstate(all="ignore")
def path_scores(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints) -> Floats:
    """Compute the score of each sequence with these labels (ids of each position), [N]."""
    scores, steps = position_scores(corpus, features, weights), make_steps(features, weights)
    bounds = pairwise(corpus.starts.tolist())
    return np.array([path_score(scores[first:last], steps, labels[first:last]) for first, last in bounds])


def path_score(scores: Floats, steps: Steps, path: Ints) -> float:
    states = path if steps.tree is None else states_of(path, steps.tree)
    return float(scores[np.arange(len(path)), path].sum() + steps.scores[states[:-1], path[1:]].sum())


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


def log_chance(
    corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, i: int, allowed: Allowed | None = None
) -> float:
    """Compute log p of the labels of sequence i, as differences from the path itself.

    It forms neither the path's score nor log Z, which may be so large that their difference is lost.
    """
    first, last = corpus.starts[i : i + 2].tolist()
    alone, path = corpus.slice_of(i, i + 1), labels[first:last]
    own = None if allowed is None else allowed.slice_of(first, last)
    scores, steps = scores_and_steps(alone, features, weights, own)
    states = path if steps.tree is None else states_of(path, steps.tree)
    ahead = steps.begin(scores[0] - scores[0, path[0]])
    for t in range(1, len(path)):
        step = steps.scores - steps.scores[states[t - 1], path[t]]
        ahead = steps.lead_on(ahead[:, None] + step, scores[t] - scores[t, path[t]])
    return -float(log_sums(ahead))
