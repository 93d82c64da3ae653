"""The n best label sequences of each sequence of a corpus, compiled.

This is algorithm 3 of Huang & Chiang (2005, "Better k-best parsing", IWPT) on the Viterbi lattice. A prefix is a label
sequence from the start to a position. Viterbi finds the best prefix that ends in each state. A worse one that ends in
the same state comes either from the same state before, by its next worse prefix, or from another one. So the next best
label sequence needs at most one new prefix at each position: the n best ones cost T K^2 + n T K.

Ties go to the lowest label id, the last label first, as in viterbi.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.decoding.scores import score_allowed
from fastcrf.inference.score_range import DENSE
from fastcrf.jit.kernel import kernel, strict_kernel

UNKNOWN, NONE = -1, -2  # a next worse prefix that is not searched for yet, and one that does not exist


class Best(NamedTuple):
    """The best label sequences: those of sequence i are rows of T labels, from place n starts[i] of `labels`."""

    labels: np.ndarray  # [n P] int32
    scores: np.ndarray  # [N, n]
    counts: np.ndarray  # [N] how many there are, at most n


class Prefixes(NamedTuple):
    """Prefixes by number. The best one that ends in state h at position t is t S + h.

    A state that has more than one prefix lists for each step to it the best prefix that it has not used yet.
    """

    scores: np.ndarray
    parents: np.ndarray  # the prefix without its last label
    states: np.ndarray
    worse: np.ndarray  # the next worse prefix that ends in the same state at the same position
    unused: np.ndarray  # the lists
    places: np.ndarray  # [T + 1, S + 1] where the list of a state begins, or UNKNOWN
    sizes: np.ndarray  # [2] how many prefixes there are, and how many places of `unused` are taken


class Scores(NamedTuple):
    """The scores of one sequence."""

    labels: np.ndarray  # [T + 1, K] 0 for the end; -inf where a label is not allowed
    tops: np.ndarray  # [T + 1] what is subtracted from all prefixes at a position


@kernel
def best_of_corpus(corpus, features, weights, chain, mask, n, best):
    """Find the n best label sequences of each sequence, or all if there are fewer. Writes: best."""
    longest, widest, n_states = np.int64(0), np.int64(0), len(chain.last) - 1
    for i in range(len(corpus.starts) - 1):
        longest = max(longest, corpus.starts[i + 1] - corpus.starts[i])
    for h in range(n_states):
        widest = max(widest, chain.starts[h + 1] - chain.starts[h])
    scores = Scores(np.empty((longest + 1, features.n_labels)), np.zeros(longest + 1))
    prefixes = make_prefixes(longest, n_states)
    path = np.empty(longest + 1, np.int64)
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        T = last - first
        score_allowed(corpus, features, weights, mask, first, last, scores.labels)
        end = find_best(chain, scores, prefixes, T)
        total, count = 0.0, 0
        for t in range(T + 1):
            total += scores.tops[t]
        while end >= 0:
            best.scores[i, count] = prefixes.scores[end] + total
            trace(chain, prefixes, end, best.labels[n * first + count * T : n * first + (count + 1) * T])
            count += 1
            if count == n:
                break
            prefixes = with_room(prefixes, T + 1, T * widest + n_states)
            end = find_next(chain, scores, prefixes, end, path[: T + 1])
        best.counts[i] = count


@kernel
def make_prefixes(longest, n_states):
    """Allocate prefixes: the best ones of the longest sequence, and a few more."""
    n, m = longest * n_states + 1 + 8 * (longest + 1), (8 + longest) * n_states
    return Prefixes(
        np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64),
        np.empty((longest + 1, n_states + 1), np.int64), np.zeros(2, np.int64),
    )  # fmt: skip


@kernel
def with_room(prefixes, n_prefixes, n_unused):
    """Return prefixes with room for so many more, and for so many more places in lists."""
    n, m = prefixes.sizes[0] + n_prefixes, prefixes.sizes[1] + n_unused
    if n <= len(prefixes.scores) and m <= len(prefixes.unused):
        return prefixes
    n, m = 2 * max(n, len(prefixes.scores) // 2), 2 * max(m, len(prefixes.unused) // 2)
    wider = Prefixes(
        np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64),
        prefixes.places, prefixes.sizes,
    )  # fmt: skip
    for p in range(prefixes.sizes[0]):
        wider.scores[p], wider.parents[p] = prefixes.scores[p], prefixes.parents[p]
        wider.states[p], wider.worse[p] = prefixes.states[p], prefixes.worse[p]
    for place in range(prefixes.sizes[1]):
        wider.unused[place] = prefixes.unused[place]
    return wider


@strict_kernel
def find_best(chain, scores, prefixes, T):
    """Find the best prefix for each position and state; return that of the end, or NONE.

    Writes: prefixes, scores.tops.
    """
    S = len(chain.last) - 1
    prefixes.sizes[0], prefixes.sizes[1] = T * S + 1, 0
    for t in range(T + 1):
        scores.tops[t] = 0.0
        top = -math.inf
        for h in range(S + 1):
            prefixes.places[t, h] = UNKNOWN
        for h in range(S) if t < T else range(S, S + 1):
            p = t * S + h if t < T else T * S
            prefixes.states[p], prefixes.worse[p], prefixes.parents[p] = h, UNKNOWN, NONE
            prefixes.scores[p] = 0.0 if t == 0 and (h < scores.labels.shape[1] or h == S) else -math.inf
            if t > 0:
                prefixes.scores[p], prefixes.parents[p] = best_step(chain, prefixes, h, (t - 1) * S)
            top = max(top, prefixes.scores[p])
        if 0 < t < T and DENSE < abs(top) < math.inf:
            scores.tops[t] = top
        for h in range(S) if t < T else range(S, S + 1):
            p = t * S + h if t < T else T * S
            prefixes.scores[p] = (prefixes.scores[p] - scores.tops[t]) + scores.labels[t, chain.last[h]]
    return T * S if prefixes.scores[T * S] > -math.inf else NONE


@strict_kernel
def find_next(chain, scores, prefixes, end, path):
    """Return the next worse prefix of the end after the worst that is known, or NONE. Writes: prefixes; path [T + 1].

    Its list must have what comes after the worst prefix, so the path of that one is followed back as far as what comes
    after is unknown.
    """
    t = len(path) - 1
    path[t] = end
    while t > 0 and prefixes.worse[path[t]] == UNKNOWN:
        path[t - 1] = prefixes.parents[path[t]]
        t -= 1
    if t == 0:
        prefixes.worse[path[0]] = NONE
    for s in range(t + 1, len(path)):
        prefixes.worse[path[s]] = extend(chain, scores, prefixes, path[s], s)
    return prefixes.worse[end]


@strict_kernel
def extend(chain, scores, prefixes, p, t):
    """Return the next worse prefix after p, the worst known one of its state at position t. Writes: prefixes."""
    h, S = prefixes.states[p], len(chain.last) - 1
    first, base = chain.starts[h], prefixes.places[t, h]
    if base == UNKNOWN:
        base = prefixes.sizes[1]
        prefixes.places[t, h] = base
        prefixes.sizes[1] += chain.starts[h + 1] - first
        for e in range(first, chain.starts[h + 1]):
            prefixes.unused[base + e - first] = (t - 1) * S + chain.before[e]
    place = base
    while prefixes.unused[place] != prefixes.parents[p]:
        place += 1
    prefixes.unused[place] = prefixes.worse[prefixes.parents[p]]
    place = best_place(chain, prefixes, h, base)
    if place < 0:
        return NONE
    new = prefixes.sizes[0]
    prefixes.sizes[0] += 1
    prefixes.states[new], prefixes.worse[new], prefixes.parents[new] = h, UNKNOWN, prefixes.unused[place]
    reached = prefixes.scores[prefixes.unused[place]] + chain.steps[first + place - base]
    prefixes.scores[new] = (reached - scores.tops[t]) + scores.labels[t, chain.last[h]]
    return new


@strict_kernel
def best_step(chain, prefixes, h, first):
    """Return the score of the best step to state h from the best prefixes, of which `first` is the first, and which one
    it is: NONE if no step is allowed.
    """
    best, found = -math.inf, np.int64(NONE)  # as the number of a prefix
    for e in range(chain.starts[h], chain.starts[h + 1]):
        p = first + chain.before[e]
        score = prefixes.scores[p] + chain.steps[e]
        if score > best or (found >= 0 and score == best and is_lower(chain, prefixes, p, found)):
            best, found = score, p
    return best, found


@strict_kernel
def best_place(chain, prefixes, h, base):
    """Return the place of the best unused prefix of state h, whose list begins at `base`; NONE if there is none."""
    best, found = -math.inf, NONE
    for e in range(chain.starts[h], chain.starts[h + 1]):
        place = base + e - chain.starts[h]
        p = prefixes.unused[place]
        if p >= 0:
            score = prefixes.scores[p] + chain.steps[e]
            if score > best or (found >= 0 and score == best and is_lower(chain, prefixes, p, prefixes.unused[found])):
                best, found = score, place
    return found


@strict_kernel
def is_lower(chain, prefixes, one, other):
    """Return whether the prefix of one state has the lower label where it last differs from that of another.

    Two states at a position differ in a label that they remember, so this looks back no further than the chain's order.
    """
    states, parents = prefixes.states, prefixes.parents
    while chain.last[states[one]] == chain.last[states[other]]:
        one, other = parents[one], parents[other]
    return chain.last[states[one]] < chain.last[states[other]]


@strict_kernel
def trace(chain, prefixes, end, labels):
    """Write the labels of a prefix of the end. Writes: labels."""
    p = prefixes.parents[end]
    for t in range(len(labels) - 1, -1, -1):
        labels[t] = chain.last[prefixes.states[p]]
        p = prefixes.parents[p]
