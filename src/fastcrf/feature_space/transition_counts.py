"""Count label bigrams and, in chains of higher order, longer label n-grams of the gold labels.

Positions with label -1 (unknown) form none. The code of an n-gram is (number of the context) * K + label.
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Corpus, Floats, Longs
from fastcrf.feature_space.label_contexts import context_of


def count_bigrams(corpus: Corpus, n_labels: int) -> tuple[Floats, np.ndarray]:
    """Return the frequency of each label bigram, and whether it occurs at all (its weight may be 0). Both [K, K]."""
    frequency, observed = np.zeros(n_labels**2), np.zeros(n_labels**2, np.bool_)
    for part in corpus.slices():
        before, after = part.labels[:-1], part.labels[1:]
        bigrams = (before >= 0) & (after >= 0)  # labels below 0 (unknown) form none
        inner = part.starts[(part.starts > 0) & (part.starts < part.n_positions)]
        bigrams[inner - 1] = False  # between two sequences
        codes = before[bigrams].astype(np.int64) * n_labels + after[bigrams]
        if len(part.weights):  # added one by one, so that sums do not depend on the slices
            np.add.at(frequency, codes, np.repeat(part.weights, np.diff(part.starts))[1:][bigrams])
        else:
            frequency += np.bincount(codes, minlength=n_labels**2)
        observed[codes] = True
    return frequency.reshape(n_labels, n_labels), observed.reshape(n_labels, n_labels)


def count_transitions(corpus: Corpus, n_labels: int, order: int) -> tuple[Longs, Floats]:
    """Return (codes, ascending; frequencies) of all label n-grams of 2 to order + 1 labels that occur."""
    frequency, observed = count_bigrams(corpus, n_labels)
    codes, counts = np.flatnonzero(observed), [frequency[observed]]
    for length in range(2, order + 1):
        longer = (gram_codes(part, n_labels, length)[0] for part in corpus.slices())
        found = np.unique(np.concatenate([np.unique(some) for some in longer]))
        counts.append(count_codes(corpus, n_labels, length, found))
        codes = np.concatenate((codes, found))
    return codes, np.concatenate(counts)


def count_codes(corpus: Corpus, n_labels: int, length: int, codes: Longs) -> Floats:
    """Return the frequencies of the n-grams of `length` labels plus one, which have these codes."""
    frequency = np.zeros(len(codes))
    for part in corpus.slices():  # added one by one, so that sums do not depend on the slices
        found, positions = gram_codes(part, n_labels, length)
        weights = np.repeat(part.weights, np.diff(part.starts))[positions] if len(part.weights) else 1.0
        np.add.at(frequency, np.searchsorted(codes, found), weights)
    return frequency


def gram_codes(corpus: Corpus, n_labels: int, length: int) -> tuple[Longs, Longs]:
    """Return (codes, positions) of the n-grams of each position's label and the `length` labels before it."""
    lengths = np.diff(corpus.starts)
    within = np.arange(corpus.n_positions) - np.repeat(corpus.starts[:-1], lengths)
    last = np.flatnonzero(within >= length)
    grams = corpus.labels[last[:, None] - np.arange(length, -1, -1)]  # [positions, length + 1]
    known = (grams >= 0).all(axis=1)
    return context_of(grams[known, :-1], n_labels) * n_labels + grams[known, -1], last[known]
