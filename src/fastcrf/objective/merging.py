"""Merge duplicate attributes: a smaller problem with the same optimum.

The data cannot distinguish attributes that occur at the same positions with the same values: a rare word, its lower
case form, its prefixes and suffixes. They are common: half of all attributes or more, with typical features of names.
Under an L2 penalty k of them have the same weight at the optimum, u, so one attribute with the weight W = k u replaces
them and costs c2 W^2 / k. In terms of v = W / sqrt(k) the penalty is c2 v^2 again:

    loss(.., u, .., u, ..) + c2 k u^2  =  loss'(.., sqrt(k) v, ..) + c2 v^2,        v = sqrt(k) u

Norms and gaps do not change: |v|^2 is the sum of the squares, and the gradient's norm is the same. With an additional
L1 penalty, c1 k |u| = c1 sqrt(k) |v|: the factor of c1 is sqrt(k). With an L1 penalty alone the weights of a group need
not be equal, so such problems are not merged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import SLICE, Corpus, FeatureMap, Floats, Longs
from fastcrf.data.corpus.occurrences import with_attributes
from fastcrf.system.mapped_arrays import empty_beside

WORTH_WHILE = 0.95  # of the weights: if more remain, merging does not pay


class Merging(NamedTuple):
    """A corpus with one attribute for each group, and its features."""

    corpus: Corpus
    features: FeatureMap
    sizes: Longs  # [groups] k, the number of merged attributes
    places: Longs  # [weights of the whole] the weight of `features` for each
    roots: Floats  # [weights] sqrt(k), and 1 for transitions

    def join(self, whole: Floats) -> Floats:
        """Return v for the weights of the whole; weights of a group are summed, and may differ."""
        return np.bincount(self.places, whole, len(self.roots)) / self.roots

    def spread(self, joined: Floats) -> Floats:
        """Return the weights of the whole for v."""
        return (joined / self.roots)[self.places]

    def valued(self) -> Corpus:
        """Return the corpus with sqrt(k) as part of the values, for code that treats v as plain weights."""
        return self.corpus._replace(values=gathered(np.sqrt(self.sizes), self.corpus.attributes, self.corpus.values))


def gathered(factors: Floats, places: np.ndarray, times: Floats) -> Floats:
    """Return factors[places] * times; memory-mapped if places is."""
    found = empty_beside(places, len(places), np.float64)
    for first in range(0, len(places), SLICE):
        some = slice(first, first + SLICE)
        found[some] = factors[places[some]]
        if len(times):
            found[some] *= times[some]
    return found


def merge_equal(corpus: Corpus, features: FeatureMap) -> Merging | None:
    """Return the smaller problem; None if it would hardly be smaller."""
    groups, representatives = equal_attributes(corpus, features.n_attributes)
    sizes = np.diff(features.offsets)
    n_state = int(sizes[representatives].sum())
    if n_state > WORTH_WHILE * features.n_state or not np.array_equal(sizes, sizes[representatives][groups]):
        return None
    offsets = np.concatenate(([0], np.cumsum(sizes[representatives])))
    owners = np.repeat(np.arange(features.n_attributes), sizes)
    places = offsets[groups[owners]] + np.arange(features.n_state) - features.offsets[owners]
    labels = np.empty(n_state, features.labels.dtype)
    labels[places] = features.labels
    if not np.array_equal(labels[places], features.labels):
        return None  # the features are not those of these data alone
    n_transitions, members = len(features.sources), np.bincount(groups)
    is_first = np.zeros(features.n_attributes, np.bool_)
    is_first[representatives] = True
    return Merging(
        corpus=with_attributes(corpus, is_first, groups.astype(np.int32)),
        features=features._replace(offsets=offsets, labels=labels),
        sizes=members,
        places=np.concatenate((places, n_state + np.arange(n_transitions))),
        roots=np.concatenate((np.sqrt(np.repeat(members, np.diff(offsets))), np.ones(n_transitions))),
    )


def equal_attributes(corpus: Corpus, n_attributes: int) -> tuple[Longs, Longs]:
    """Return (group of each attribute, first attribute of each group), both in the order of the attributes.

    The hash of an attribute is the sum of random numbers over its positions, two of them. Duplicate attributes add the
    same numbers in the same order, so their sums are equal to the last bit. Those of other attributes differ in at
    least one of some hundred bits, whatever the data are, because the numbers are unpredictable.
    """
    random, sums = np.random.default_rng(), np.zeros((n_attributes, 2))
    for part in corpus.slices():
        times = np.diff(part.offsets)
        for k in range(2):
            amounts = np.repeat(random.uniform(1.0, 2.0, part.n_positions), times)
            if len(part.values):
                amounts *= part.values
            sums[:, k] += np.bincount(part.attributes, amounts, n_attributes)
    _, first, group = np.unique(sums.view(np.complex128)[:, 0], return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(first))
    return number[group], first[order]
