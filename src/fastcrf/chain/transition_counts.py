"""How often label bigrams, and in chains of order 2 triples, occur with the gold labels; -1 (unknown) forms none."""

from __future__ import annotations

import numpy as np

from fastcrf.types import Corpus, Floats


def count_bigrams(corpus: Corpus, n_labels: int) -> tuple[Floats, np.ndarray]:
    """Frequency of each label bigram, and whether it occurs at all (a weight may be 0). Both [K, K]."""
    frequency, observed = np.zeros(n_labels**2), np.zeros(n_labels**2, np.bool_)
    for stretch in corpus.stretches():
        before, after = stretch.labels[:-1], stretch.labels[1:]
        bigrams = (before >= 0) & (after >= 0)  # labels below 0 (unknown) form none
        inner = stretch.starts[(stretch.starts > 0) & (stretch.starts < stretch.n_positions)]
        bigrams[inner - 1] = False  # from one sequence to the next
        codes = before[bigrams].astype(np.int64) * n_labels + after[bigrams]
        if len(stretch.weights):  # added one by one, so that sums do not depend on where stretches end
            np.add.at(frequency, codes, np.repeat(stretch.weights, np.diff(stretch.starts))[1:][bigrams])
        else:
            frequency += np.bincount(codes, minlength=n_labels**2)
        observed[codes] = True
    return frequency.reshape(n_labels, n_labels), observed.reshape(n_labels, n_labels)


def count_transitions(corpus: Corpus, n_labels: int, order: int) -> tuple[Floats, np.ndarray]:
    """Frequency of each bigram and, in a chain of order 2, triple, and whether it occurs. Both [histories, K]."""
    frequency, observed = count_bigrams(corpus, n_labels)
    if order == 1:
        return frequency, observed
    triples, seen = count_triples(corpus, n_labels)
    return np.concatenate((frequency, triples)), np.concatenate((observed, seen))


def count_triples(corpus: Corpus, n_labels: int) -> tuple[Floats, np.ndarray]:
    """The same for triples (j, k, l), in row k K + j and column l. Both [K K, K]."""
    frequency, observed = np.zeros(n_labels**3), np.zeros(n_labels**3, np.bool_)
    for stretch in corpus.stretches():
        lengths = np.diff(stretch.starts)
        within = np.arange(stretch.n_positions) - np.repeat(stretch.starts[:-1], lengths)
        last = np.flatnonzero(within >= 2)
        farther, nearer, label = (stretch.labels[last - back].astype(np.int64) for back in (2, 1, 0))
        known = (farther >= 0) & (nearer >= 0) & (label >= 0)
        codes = ((nearer * n_labels + farther) * n_labels + label)[known]
        weights = np.repeat(stretch.weights, lengths)[last][known] if len(stretch.weights) else 1.0
        np.add.at(frequency, codes, weights)
        observed[codes] = True
    return frequency.reshape(-1, n_labels), observed.reshape(-1, n_labels)
