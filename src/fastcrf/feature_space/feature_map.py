"""Choose the features of a corpus, and count how often each occurs with the gold labels.

The features are CRFsuite's: the (attribute, label) pairs and the label bigrams that occur in the training corpus. The
frequency of a pair is Σ weight · value over its occurrences, that of a bigram Σ weight; a feature is kept if its
frequency is at least `min_freq`. CRFsuite also drops pairs whose values sum to less than 0, even if `min_freq` is 0.
Here they stay, unless `drop_negative` asks for CRFsuite's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.feature_space.label_contexts import check_labels, n_contexts
from fastcrf.feature_space.transition_counts import count_transitions
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.system.memory_budget import SMALL, require_memory


class Occurrences(NamedTuple):
    """Every attribute occurrence of a corpus, sorted by attribute."""

    bounds: Longs  # [A + 1] first occurrence of each attribute
    labels: Ints  # [occurrences] gold label of the position
    amounts: Floats  # [occurrences] weight · value, or [0] when every one is 1


class Pairs(NamedTuple):
    """The (attribute, label) pairs seen so far, by attribute and then label."""

    offsets: Longs  # [A + 1] first pair of each attribute
    labels: Ints  # [pairs]
    frequencies: Floats  # [pairs] Σ weight · value


class FeatureCounts(NamedTuple):
    """The frequency of each candidate feature."""

    pairs: Pairs
    codes: Longs  # [n-grams] (number of the context) * K + label of each label n-gram that occurs
    frequency: Floats  # [n-grams]; 0 if all its sequences have weight 0


class Seen(NamedTuple):
    """The labels that occur with an attribute, while its occurrences are counted."""

    frequency: Floats  # [K]
    last: Longs  # [K] last attribute that was seen with the label


def build_feature_map(
    corpus: Corpus, n_attributes: int, n_labels: int, *, order: int = 1, **options: Any
) -> FeatureMap:
    """Return the features of a training corpus; options as in `choose_features`."""
    return choose_features(count_features(corpus, n_attributes, n_labels, order), n_labels, order=order, **options)


def count_features(corpus: Corpus, n_attributes: int, n_labels: int, order: int = 1) -> FeatureCounts:
    """Count the candidate features of a labeled corpus."""
    check_labels(n_labels, order)
    return FeatureCounts(count_pairs(corpus, n_attributes, n_labels), *count_transitions(corpus, n_labels, order))


def choose_features(
    counts: FeatureCounts,
    n_labels: int,
    *,
    all_states: bool = False,
    all_transitions: bool = False,
    min_freq: float = 0.0,
    drop_negative: bool = False,
    transitions: bool = True,
    order: int = 1,
) -> FeatureMap:
    """Choose the features from the counts of one corpus or of several joined corpora.

    `all_states` adds every label to each attribute that occurs. `all_transitions` adds every label bigram (in a chain
    of higher order also every longer label n-gram). Added features have frequency 0 and are subject to `min_freq` like
    the others. Without `transitions` there are no label bigrams.
    """
    threshold = float(min_freq) if min_freq > 0 or drop_negative else -np.inf
    pairs = with_every_label(counts.pairs, n_labels) if all_states else counts.pairs
    kept = pairs.frequencies >= threshold
    kept_before = np.concatenate(([0], np.cumsum(kept)))
    codes = counts.codes[counts.frequency >= threshold]
    if all_transitions and threshold <= 0.0:
        require_memory_for_ngrams(n_contexts(n_labels, order), n_labels, order)
        codes = np.union1d(codes, np.arange(n_contexts(n_labels, order) * n_labels))
    sources, targets = np.divmod(codes if transitions else codes[:0], max(n_labels, 1))
    if order > 1:
        require_memory_for_ngrams(len(codes), n_labels, order)
    offsets, labels = kept_before[pairs.offsets], pairs.labels[kept]
    return FeatureMap(offsets, labels, sources.astype(np.int32), targets.astype(np.int32), int(n_labels), order)


def join_counts(counts: Sequence[FeatureCounts], n_labels: int) -> FeatureCounts:
    """Add the counts of several corpora, in their order."""
    keys = [codes_of(each.pairs.offsets, each.pairs.labels, n_labels) for each in counts]
    known, place = np.unique(np.concatenate(keys), return_inverse=True)
    frequencies = np.zeros(len(known))
    np.add.at(frequencies, place, np.concatenate([each.pairs.frequencies for each in counts]))
    offsets = np.searchsorted(known, np.arange(len(counts[0].pairs.offsets)) * n_labels)
    return FeatureCounts(
        Pairs(offsets, (known % n_labels).astype(np.int32), frequencies),
        *joined_grams(counts),
    )


def joined_grams(counts: Sequence[FeatureCounts]) -> tuple[Longs, Floats]:
    """Return (codes, frequencies) of the label n-grams of several corpora, added in their order."""
    codes, place = np.unique(np.concatenate([each.codes for each in counts]), return_inverse=True)
    frequency = np.zeros(len(codes))
    np.add.at(frequency, place, np.concatenate([each.frequency for each in counts]))
    return codes, frequency


def count_pairs(corpus: Corpus, n_attributes: int, n_labels: int) -> Pairs:
    """Count the pairs of a labeled corpus; positions whose label is below 0 (unknown) have none.

    It works slice by slice, because sorting takes as much memory as the sorted data.
    """
    pairs = Pairs(np.zeros(n_attributes + 1, np.int64), np.empty(0, np.int32), np.empty(0))
    for part in corpus.slices():
        occurrences = occurrences_by_attribute(part, n_attributes)
        most = min(len(pairs.labels) + len(occurrences.labels), n_attributes * n_labels)
        more = Pairs(np.zeros(n_attributes + 1, np.int64), np.empty(most, np.int32), np.empty(most))
        add_pairs(occurrences, pairs, Seen(np.zeros(n_labels), np.full(n_labels, -1)), more)
        n_pairs = int(more.offsets[-1])
        pairs = Pairs(more.offsets, more.labels[:n_pairs].copy(), more.frequencies[:n_pairs].copy())
    return pairs


def with_every_label(pairs: Pairs, n_labels: int) -> Pairs:
    """Add every label to each attribute that occurs; added pairs have frequency 0."""
    sizes = np.diff(pairs.offsets)
    rows = np.repeat(np.cumsum(sizes > 0) - 1, sizes)
    n_rows = np.count_nonzero(sizes)
    frequencies = np.zeros((n_rows, n_labels))
    frequencies[rows, pairs.labels] = pairs.frequencies
    offsets = np.concatenate(([0], np.cumsum(np.where(sizes > 0, n_labels, 0))))
    return Pairs(offsets, np.tile(np.arange(n_labels, dtype=np.int32), n_rows), frequencies.reshape(-1))


def occurrences_by_attribute(corpus: Corpus, n_attributes: int) -> Occurrences:
    """Return the attribute occurrences of a labeled corpus, sorted by attribute."""
    n_occurrences = len(corpus.attributes)
    with_amounts = len(corpus.values) > 0 or len(corpus.weights) > 0
    occurrences = Occurrences(
        bounds=np.zeros(n_attributes + 1, np.int64),
        labels=np.empty(n_occurrences, np.int32),
        amounts=np.empty(n_occurrences if with_amounts else 0),
    )
    sort_by_attribute(corpus, occurrences)
    return occurrences


@noalloc_kernel
def sort_by_attribute(corpus: Corpus, occurrences: Occurrences) -> None:
    """Sort by attribute with a counting sort, in order of appearance within an attribute. Writes: every array of
    occurrences.

    While the occurrences are placed, bounds[a + 1] is the place of the next one of attribute a; at the end attribute a
    + 1 begins there.
    """
    bounds = occurrences.bounds
    for o in range(len(corpus.attributes)):
        a = corpus.attributes[o]
        if a + 2 < len(bounds):
            bounds[a + 2] += 1
    for a in range(2, len(bounds)):
        bounds[a] += bounds[a - 1]
    for i in range(len(corpus.starts) - 1):
        weight = corpus.weights[i] if len(corpus.weights) else 1.0
        for p in range(corpus.starts[i], corpus.starts[i + 1]):
            for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
                place = bounds[corpus.attributes[o] + 1]
                bounds[corpus.attributes[o] + 1] += 1
                occurrences.labels[place] = corpus.labels[p]
                if len(occurrences.amounts):
                    occurrences.amounts[place] = weight * (corpus.values[o] if len(corpus.values) else 1.0)


@noalloc_kernel
def add_pairs(occurrences: Occurrences, before: Pairs, seen: Seen, after: Pairs) -> None:
    """Merge the pairs of `before` and of more occurrences; frequencies are summed in order of appearance.

    Writes: after (its arrays may be longer than needed), seen.
    """
    bounds, labels, amounts = occurrences
    frequency, last = seen
    end = 0
    for a in range(len(bounds) - 1):
        for f in range(before.offsets[a], before.offsets[a + 1]):
            last[before.labels[f]] = a
            frequency[before.labels[f]] = before.frequencies[f]
        for o in range(bounds[a], bounds[a + 1]):
            k = labels[o]
            if k < 0:
                continue
            if last[k] != a:
                last[k] = a
                frequency[k] = 0.0
            frequency[k] += amounts[o] if len(amounts) else 1.0
        if bounds[a] < bounds[a + 1] or before.offsets[a] < before.offsets[a + 1]:
            for k in range(len(last)):
                if last[k] == a:
                    after.labels[end] = k
                    after.frequencies[end] = frequency[k]
                    end += 1
        after.offsets[a + 1] = end


def count_gold(corpus: Corpus, features: FeatureMap) -> Floats:
    """Count how often each feature occurs with the gold labels, Σ weight · value, in the order of the weight vector.

    Pairs without a feature are ignored.
    """
    counts = np.zeros(features.n_weights)
    add_state_counts(count_pairs(corpus, features.n_attributes, features.n_labels), features, counts)
    codes, frequency = count_transitions(corpus, features.n_labels, features.order)
    wanted = features.sources.astype(np.int64) * features.n_labels + features.targets
    place = np.searchsorted(codes, wanted)
    place[place == len(codes)] = 0
    if len(codes):
        counts[features.n_state :] = np.where(codes[place] == wanted, frequency[place], 0.0)
    return counts


def add_state_counts(pairs: Pairs, features: FeatureMap, counts: Floats) -> None:
    """Add the frequencies of the pairs that are features to `counts`. Writes: counts."""
    if np.array_equal(pairs.offsets, features.offsets) and np.array_equal(pairs.labels, features.labels):
        counts[: features.n_state] += pairs.frequencies
        return
    known, met = (codes_of(offsets, labels, features.n_labels) for offsets, labels in (features[:2], pairs[:2]))
    place = np.searchsorted(known, met)
    place[place == len(known)] = 0
    among = np.flatnonzero(known[place] == met) if len(known) else place[:0]
    counts[place[among]] += pairs.frequencies[among]


def codes_of(offsets: Longs, labels: Ints, n_labels: int) -> Longs:
    """Return an ascending number for each (attribute, label)."""
    return np.repeat(np.arange(len(offsets) - 1) * n_labels, np.diff(offsets)) + labels


MATRICES = 8  # [contexts, K] that training a chain of higher order allocates


def require_memory_for_ngrams(n_grams: int, n_labels: int, order: int) -> None:
    """Raise if the label contexts of this many label n-grams would exceed the memory budget."""
    n_bytes = 8 * MATRICES * n_grams * n_labels
    if n_bytes > SMALL:
        what = f"A chain of order {order} whose {n_labels:,} labels form {n_grams:,} label n-grams"
        require_memory(n_bytes, what, "use a lower order, fewer labels or a higher min_freq")


def occurring_features(corpus: Corpus, features: FeatureMap) -> tuple[FeatureMap, Longs] | None:
    """Return (the features of the attributes that occur in the corpus, their places), or None if all occur."""
    occurs = np.zeros(features.n_attributes, np.bool_)
    for part in corpus.slices():
        occurs[part.attributes] = True
    sizes = np.diff(features.offsets)
    if occurs[sizes > 0].all():
        return None
    kept = np.repeat(occurs, sizes)
    some = features._replace(
        offsets=np.concatenate(([0], np.cumsum(np.where(occurs, sizes, 0)))), labels=features.labels[kept]
    )
    transitions = np.arange(features.n_state, features.n_weights)
    return some, np.concatenate((np.flatnonzero(kept), transitions))
