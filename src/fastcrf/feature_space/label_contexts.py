"""Label contexts: numbering, and the contexts that are the states of a chain of higher order.

A transition weight belongs to a label context (the previous labels) and to the next label. Contexts are numbered:

    a label k               k
    the labels j, k         K + k K + j                (k is the nearer one)
    the labels i, j, k      K + K K + (k K + j) K + i  and so on, up to as many labels as the chain's order

The nearer label is the more significant digit: contexts that end in the same label are adjacent, and dropping the
farthest label is a division. In a chain of order 2 a step from j, k to l has the weight of the bigram (k, l) and that
of the trigram (j, k, l). The second step of a sequence has no label before k, and has the bigram alone. Shorter n-grams
stay next to longer ones because most long ones are rare: the bigram covers trigrams with few observations, and a
penalty leaves only the difference to the trigram.

The states of a chain of higher order are the contexts that some weight distinguishes from shorter ones (Ye, Lee, Chieu
& Wu 2009, "Conditional random fields with high-order features for sequence labeling", NIPS): those that have a weight,
and all their prefixes and suffixes. A label sequence is in the longest state that it ends with. This is exact, and the
cost of a token is proportional to the number of known contexts, not to K to the power of the order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.checks import whole
from fastcrf.core.types import FeatureMap, Floats, Ints, Longs

HIGHEST = 9
LARGEST_NUMBER = 2**31 - 1


class Tree(NamedTuple):
    """The known contexts, one row each in the order of their numbers, so that a context's shorter one has a lower row.

    The successors of contexts have a row for each context and, as the last, one for the empty context, which leads to
    single labels.
    """

    numbers: Longs  # [H] ascending; the first K are the labels
    shorter: Longs  # [H] row of the context without its farthest label; -1 for a single label
    last: Longs  # [H] its nearest label
    following: Longs  # [H, K] row of the longest known context that it and one more label end with
    starts: Longs  # [H + 1] first entry of `longer` of each context
    longer: Longs  # [H - K] rows of the contexts that are longer by one earlier label
    place: Longs  # [H] row of its successors: its own or, if none is longer, that of a shorter one
    below: Longs  # [H] row of the successors of the next shorter one


def check_order(order: Any) -> int:
    """Return the order of a chain as an integer, or raise `ValueError`."""
    number = whole("order", order, 1)
    if number > HIGHEST:
        raise ValueError(f"order={number} is not supported; use an order from 1 to {HIGHEST}.")
    return number


def check_labels(n_labels: int, order: int) -> None:
    """Raise `ValueError` if there are too many labels to number their contexts."""
    if n_contexts(n_labels, order) > LARGEST_NUMBER:
        most = next(fewer for fewer in range(order, 0, -1) if n_contexts(n_labels, fewer) <= LARGEST_NUMBER)
        raise ValueError(
            f"A chain of order {order} with {n_labels:,} labels has more label contexts than can be numbered; "
            f"use order={most} or less, or fewer labels."
        )


def n_contexts(n_labels: int, longest: int) -> int:
    """Return the number of contexts of up to `longest` labels."""
    return sum(n_labels**length for length in range(1, longest + 1))


def lengths_of(contexts: np.ndarray, n_labels: int) -> Longs:
    """Return the number of labels of each context."""
    firsts = [min(n_contexts(n_labels, length), LARGEST_NUMBER + 1) for length in range(1, HIGHEST)]
    return 1 + np.searchsorted(firsts, contexts, side="right").astype(np.int64)


def labels_of(contexts: np.ndarray, n_labels: int) -> Longs:
    """Return the labels of each context, [n, longest]: the nearest in the last column, -1 before the farthest."""
    numbers, lengths = np.asarray(contexts, np.int64), lengths_of(contexts, n_labels)
    longest = int(lengths.max(initial=1))
    labels = np.full((len(numbers), longest), -1)
    for length in range(1, longest + 1):
        held = lengths == length
        value = numbers[held] - n_contexts(n_labels, length - 1)
        for back in range(length, 0, -1):  # the farthest is the last digit
            value, labels[held, longest - back] = np.divmod(value, n_labels)
    return labels


def context_of(labels: np.ndarray, n_labels: int) -> Longs:
    """Return the numbers of contexts [n, longest] as `labels_of` gives them."""
    numbers, lengths = np.zeros(len(labels), np.int64), (labels >= 0).sum(axis=1)
    for back in range(1, labels.shape[1] + 1):
        held = labels[:, -back] >= 0
        numbers[held] = numbers[held] * n_labels + labels[held, -back]
    return numbers + np.array([n_contexts(n_labels, length - 1) for length in range(labels.shape[1] + 1)])[lengths]


def renumbered(contexts: np.ndarray, label_ids: np.ndarray, n_labels: int) -> Longs:
    """Renumber contexts after label k becomes label_ids[k] of n_labels; -1 if a label is gone (its id is -1)."""
    labels = labels_of(contexts, max(len(label_ids), 1))
    moved = np.where(labels < 0, -1, np.append(label_ids, -1)[labels])
    return np.where(((labels >= 0) & (moved < 0)).any(axis=1), -1, context_of(moved, n_labels))


def known_contexts(features: FeatureMap) -> Longs:
    """Return the numbers of the contexts that the transition weights distinguish, ascending."""
    K = features.n_labels
    numbers = np.arange(K) if features.order == 1 else np.union1d(np.arange(K), features.sources)
    for length in range(features.order, 1, -1):
        own, first = numbers[lengths_of(numbers, K) == length] - n_contexts(K, length - 1), n_contexts(K, length - 2)
        numbers = np.union1d(numbers, np.concatenate((first + own // K, first + own % K ** (length - 1))))
    return numbers


def make_tree(numbers: Longs, n_labels: int) -> Tree:
    """Return the transitions between known contexts."""
    K, lengths = n_labels, lengths_of(numbers, n_labels)
    shorter, last = np.full(len(numbers), -1), np.arange(len(numbers)) % K
    following, above = (np.tile(np.arange(K), (len(numbers), 1)) for _ in range(2))
    for length in range(1, int(lengths.max()) + 1):
        held = np.flatnonzero(lengths == length)
        value = numbers[held] - n_contexts(K, length - 1)
        if length > 1:
            last[held] = value // K ** (length - 1)
            shorter[held] = np.searchsorted(numbers, n_contexts(K, length - 2) + value // K)
            above[held] = following[shorter[held]]
        longer = n_contexts(K, length) + np.arange(K) * K**length + value[:, None]
        place = np.minimum(np.searchsorted(numbers, longer), len(numbers) - 1)
        following[held] = np.where(numbers[place] == longer, place, above[held])
    before, labels = np.nonzero(following != above)
    starts = np.searchsorted(before, np.arange(len(numbers) + 1))
    return Tree(numbers, shorter, last, following, starts, following[before, labels], *find_places(shorter, starts))


def find_places(shorter: Longs, starts: Longs) -> tuple[Longs, Longs]:
    """Return for each context the row of its successors, and that of its shorter one's successors."""
    place, below = np.empty(len(shorter), np.int64), np.empty(len(shorter), np.int64)
    for h, row in enumerate(shorter.tolist()):
        below[h] = len(shorter) if row < 0 else place[row]
        place[h] = h if starts[h] < starts[h + 1] else below[h]
    return place, below


def rows_by_length(tree: Tree) -> list[Longs]:
    """Yield the rows of contexts of 2 labels, of 3, and so on."""
    n_labels = tree.following.shape[1]
    lengths = lengths_of(tree.numbers, n_labels)
    return [np.flatnonzero(lengths == length) for length in range(2, int(lengths.max()) + 1)]


def with_shorter(scores: Floats, tree: Tree) -> Floats:
    """Add to the scores [H, K] of each context those of all contexts that it ends with."""
    full = scores.copy()
    for rows in rows_by_length(tree):
        full[rows] += full[tree.shorter[rows]]
    return full


def and_for_shorter(counts: Floats, tree: Tree) -> Floats:
    """Add the counts [H, ...] of each context also to the contexts that it ends with: the transpose of the above.

    Writes: counts.
    """
    for rows in reversed(rows_by_length(tree)):
        np.add.at(counts, tree.shorter[rows], counts[rows])
    return counts


def states_of(path: Ints, tree: Tree) -> Longs:
    """Return the state at each position of a label sequence."""
    states = np.empty(len(path), np.int64)
    for t, label in enumerate(path.tolist()):
        states[t] = tree.following[states[t - 1], label] if t else label
    return states
