"""Samples, pair probabilities and entropies of each sequence of a corpus, compiled.

Backwards, a label sequence is a Markov chain too: p(y | x) = p(last state) * product of p(state before | state). These
chances need the forward probabilities alpha only:

    p(h before | h' at t) = alpha_{t-1}(h) M(h, h') / z_t(h'),     z_t(h') = sum_h alpha_{t-1}(h) M(h, h')

A sum z near underflow is computed again with logs, so scores may be as large as in the log domain.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.decoding.scores import score_allowed
from fastcrf.jit.kernel import kernel, strict_kernel

LEAST = 1e-200  # sums below are computed with logs: what a double cannot hold might matter in them


class Filter(NamedTuple):
    """Forward probabilities of one sequence, and work space."""

    scores: np.ndarray  # [T + 1, K] of labels; -inf where one is not allowed
    logs: np.ndarray  # [T, S] log p(state at t | scores up to t)
    alpha: np.ndarray  # [T, S] their exponentials
    factors: np.ndarray  # [E] exponentials of the steps
    row: np.ndarray  # [S] chances of the states before one state
    states: np.ndarray  # [2, S] probabilities of the states at a position, and at the one before


@kernel
def make_filter(starts, chain, n_labels):
    """Allocate arrays for the longest sequence. The largest step is subtracted from all (make_filtered_chain)."""
    longest, S = np.int64(0), len(chain.last) - 1
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return Filter(
        np.empty((longest + 1, n_labels)), np.empty((longest, S)), np.empty((longest, S)), np.exp(chain.steps),
        np.empty(S), np.empty((2, S)),
    )  # fmt: skip


@kernel
def sample_corpus(corpus, features, weights, chain, mask, uniform, labels):
    """Sample label sequences by uniform numbers [P, n]; return the first sequence that has none, or -1.

    Writes: labels [n, P].
    """
    space = make_filter(corpus.starts, chain, features.n_labels)
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        score_allowed(corpus, features, weights, mask, first, last, space.scores)
        if not run_filter(chain, space, last - first):
            return i
        for n in range(len(labels)):
            state = np.int64(len(chain.last) - 1)
            for t in range(last - first, 0, -1):
                state = sample_before(chain, space, t, state, uniform[first + t - 1, n])
                labels[n, first + t - 1] = chain.last[state]
    return -1


@kernel
def pairs_of_corpus(corpus, features, weights, chain, mask, pairs):
    """Compute p(y_t = j, y_{t+1} = k | x); return the first sequence that has no label sequence, or -1.

    Writes: pairs [P, K, K], 0 at the last position of a sequence.
    """
    space, S = make_filter(corpus.starts, chain, features.n_labels), len(chain.last) - 1
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        score_allowed(corpus, features, weights, mask, first, last, space.scores)
        if not run_filter(chain, space, last - first):
            return i
        if first < last:
            space.states[0] = space.alpha[last - first - 1]
        for t in range(last - first - 1, 0, -1):
            space.states[1] = 0.0
            for h in range(S):
                fill_before(chain, space, t, h)
                for e in range(chain.starts[h], chain.starts[h + 1]):
                    joint, before = space.states[0, h] * space.row[e - chain.starts[h]], chain.before[e]
                    space.states[1, before] += joint
                    pairs[first + t - 1, chain.last[before], chain.last[h]] += joint
            space.states[0] = space.states[1]
    return -1


@kernel
def entropies_of_corpus(corpus, features, weights, chain, mask, entropies):
    """Compute the entropy of p(y | x), [N]; return the first sequence that has no label sequence, or -1.

    Writes: entropies.
    """
    space, S = make_filter(corpus.starts, chain, features.n_labels), len(chain.last) - 1
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        score_allowed(corpus, features, weights, mask, first, last, space.scores)
        if not run_filter(chain, space, last - first):
            return i
        entropies[i] = 0.0
        if first < last:
            space.states[0] = space.alpha[last - first - 1]
            entropies[i] = entropy_of(space.states[0], S)
        for t in range(last - first - 1, 0, -1):
            space.states[1] = 0.0
            for h in range(S):
                if space.states[0, h] > 0.0:
                    fill_before(chain, space, t, h)
                    n = chain.starts[h + 1] - chain.starts[h]
                    entropies[i] += space.states[0, h] * entropy_of(space.row, n)
                    for e in range(chain.starts[h], chain.starts[h + 1]):
                        space.states[1, chain.before[e]] += space.states[0, h] * space.row[e - chain.starts[h]]
            space.states[0] = space.states[1]
    return -1


@strict_kernel
def entropy_of(chances, n):
    """Return the entropy of the first n chances."""
    entropy = 0.0
    for place in range(n):
        if chances[place] > 0.0:
            entropy -= chances[place] * math.log(chances[place])
    return entropy


@strict_kernel
def run_filter(chain, space, T):
    """Compute forward probabilities; return whether there is a label sequence. Writes: space.logs, space.alpha."""
    scores, logs, alpha, S, K = space.scores, space.logs, space.alpha, len(chain.last) - 1, space.scores.shape[1]
    for t in range(T):
        largest, top, total = -math.inf, -math.inf, 0.0
        for k in range(K):
            largest = max(largest, scores[t, k])
        if largest == -math.inf:
            return False
        for h in range(S):
            if t == 0:
                logs[t, h] = 0.0 if h < K else -math.inf
            else:
                logs[t, h] = log_reached(chain, space, t, h)
            logs[t, h] += scores[t, chain.last[h]] - largest
            top = max(top, logs[t, h])
        if top == -math.inf:
            return False
        for h in range(S):
            logs[t, h] -= top
            alpha[t, h] = math.exp(logs[t, h])
            total += alpha[t, h]
        rest = math.log(total)
        for h in range(S):
            logs[t, h] -= rest
            alpha[t, h] /= total
    return True


@strict_kernel
def log_reached(chain, space, t, h):
    """Return log z_t(h)."""
    total = 0.0
    for e in range(chain.starts[h], chain.starts[h + 1]):
        total += space.alpha[t - 1, chain.before[e]] * space.factors[e]
    if total > LEAST:
        return math.log(total)
    top = largest_log(chain, space, t, h)
    if top == -math.inf:
        return top
    total = 0.0
    for e in range(chain.starts[h], chain.starts[h + 1]):
        total += math.exp(space.logs[t - 1, chain.before[e]] + chain.steps[e] - top)
    return top + math.log(total)


@strict_kernel
def largest_log(chain, space, t, h):
    """Return the largest term of z_t(h), as a log."""
    top = -math.inf
    for e in range(chain.starts[h], chain.starts[h + 1]):
        top = max(top, space.logs[t - 1, chain.before[e]] + chain.steps[e])
    return top


@strict_kernel
def fill_before(chain, space, t, h):
    """Compute the chances of the states before state h at position t; 0 if none leads there. Writes: space.row."""
    first, last, row, total = chain.starts[h], chain.starts[h + 1], space.row, 0.0
    for e in range(first, last):
        row[e - first] = space.alpha[t - 1, chain.before[e]] * space.factors[e]
        total += row[e - first]
    if total <= LEAST:
        top, total = largest_log(chain, space, t, h), 0.0
        for e in range(first, last):
            row[e - first] = 0.0
            if top > -math.inf:
                row[e - first] = math.exp(space.logs[t - 1, chain.before[e]] + chain.steps[e] - top)
            total += row[e - first]
    for place in range(last - first):
        row[place] = row[place] / total if total > 0.0 else 0.0


@strict_kernel
def sample_before(chain, space, t, h, uniform):
    """Return a sampled state before state h at position t."""
    fill_before(chain, space, t, h)
    reached, found = 0.0, 0
    for place in range(chain.starts[h + 1] - chain.starts[h]):
        if space.row[place] > 0.0:
            reached, found = reached + space.row[place], place
            if reached > uniform:
                break
    return chain.before[chain.starts[h] + found]
