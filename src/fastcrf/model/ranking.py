"""Which sequences to annotate next: those whose labels the model is least sure of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastcrf.alternatives.of_corpus import Weighted, best_paths, entropies, log_chances_of_paths
from fastcrf.core.types import Corpus, Floats, Longs


class Ranking(NamedTuple):
    """Sequences, the most uncertain first.

    Parameters
    ----------
    indices : ndarray of int64
        Indices of the sequences in X.
    scores : ndarray of float64
        The measure of each of them.
    """

    indices: Longs
    scores: Floats


def entropy(corpus: Corpus, weighted: Weighted, lengths: Floats) -> Floats:
    """Return the entropy of each sequence, divided by `lengths`."""
    return entropies(corpus, weighted) / lengths


def margin(corpus: Corpus, weighted: Weighted, lengths: Floats) -> Floats:
    """Return how much more probable the best label sequence is than the second best one."""
    found = best_paths(corpus, weighted, 2)
    logs = [np.append(own, -np.inf)[:2] for own in log_chances_of_paths(corpus, weighted, found)]
    best, second = np.exp(np.array(logs).reshape(-1, 2).T / lengths)
    return best - second


def least_confident(corpus: Corpus, weighted: Weighted, lengths: Floats) -> Floats:
    """Return the probability that the best label sequence is wrong."""
    logs = log_chances_of_paths(corpus, weighted, best_paths(corpus, weighted, 1))
    return -np.expm1(np.array([own[0] for own in logs]) / lengths)


Measure = Callable[[Corpus, Weighted, Floats], Floats]
MEASURES: dict[str, Measure] = {"entropy": entropy, "margin": margin, "least_confident": least_confident}
SMALLEST_FIRST = "margin"


def lengths_of(corpus: Corpus, per_token: bool) -> Floats:
    """Return what logs are divided by."""
    return np.maximum(np.diff(corpus.starts), 1).astype(np.float64) if per_token else np.ones(corpus.n_sequences)


def ranked(by: str, scores: Floats) -> Ranking:
    """Return the most uncertain sequences first; of equals, those that come first."""
    order = np.argsort(scores if by == SMALLEST_FIRST else -scores, kind="stable")
    return Ranking(order, scores[order])
