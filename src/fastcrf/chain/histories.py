"""The labels before a label, by number: what a transition weight belongs to besides the label that follows.

    a label k            k
    the labels j, k      K + k K + j        (k is the nearer one; chains of order 2 only)

The nearer label counts most: histories that end in the same label lie together, as the recursions read them, and the
longer history of a label is found from the shorter one. In a chain of order 2 a step from j, k to l has the weight of
the bigram (k, l) and that of the triple (j, k, l); the second step of a sequence has no label before k, and the bigram
alone. Bigrams stay beside triples because most triples are rare: what a triple was not seen often enough to say, its
bigram says, and a penalty leaves to the triple what differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcrf.checks import whole
from fastcrf.types import FeatureMap, Floats, Longs

HIGHEST = 2


def check_order(order: Any) -> int:
    """How many labels before a label its transition weights look at: 1 or 2, or one sentence."""
    number = whole("order", order, 1)
    if number > HIGHEST:
        raise ValueError(f"order={number} is not supported, whose cost would be K^{number + 1} a token; use 1 or 2.")
    return number


def n_histories(n_labels: int, order: int) -> int:
    return n_labels if order == 1 else n_labels + n_labels**2


def pair_history(farther: np.ndarray, nearer: np.ndarray, n_labels: int) -> Longs:
    """Of labels j, k."""
    return n_labels + np.asarray(nearer, np.int64) * n_labels + farther


def labels_of(histories: np.ndarray, n_labels: int) -> tuple[Longs, Longs]:
    """(label before the nearer one, or -1; nearer label) of each history."""
    numbers = np.asarray(histories, np.int64)
    pairs = numbers >= n_labels
    nearer, farther = np.divmod(numbers - n_labels, max(n_labels, 1))
    return np.where(pairs, farther, -1), np.where(pairs, nearer, numbers)


def renumbered(histories: np.ndarray, label_ids: np.ndarray, n_labels: int) -> Longs:
    """The histories when label k becomes label_ids[k] of n_labels; -1 where a label is gone (its id is -1)."""
    farther, nearer = labels_of(histories, len(label_ids))
    near = label_ids[nearer]
    far = np.where(farther < 0, -1, label_ids[farther])
    numbers = np.where(farther < 0, near, pair_history(far, near, n_labels))
    return np.where((near < 0) | ((farther >= 0) & (far < 0)), -1, numbers)


def with_bigrams(scores: Floats) -> Floats:
    """Scores [histories, K] of steps: of a triple, its own and its bigram's."""
    K = scores.shape[1]
    full = scores.copy()
    if len(scores) > K:
        full[K:] += np.repeat(scores[:K], K, axis=0)
    return full


def and_as_bigrams(counts: Floats, features: FeatureMap) -> Floats:
    """Counts [histories, ...] of steps, with those of triples added to their bigrams, too: the transpose of the above.

    Writes: counts.
    """
    K = features.n_labels
    if features.order == 2:
        counts[:K] += counts[K:].reshape(K, K, -1).sum(axis=1)
    return counts
