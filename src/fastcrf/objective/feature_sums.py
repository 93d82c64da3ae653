"""The largest feature sums of sequences, which bound the steps of iterative scaling.

The feature sum of a label sequence is M(x, y) = sum_f f(x, y). Without negative features each sequence has a largest
one,

    T(x) = max_y M(x, y)

the score of its best label sequence if every weight were 1, so Viterbi's algorithm finds it. Generalized iterative
scaling needs the largest of all; improved iterative scaling needs separate expected counts for each sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.decoding.compiled_decoder import path_scores, viterbi
from fastcrf.objective.likelihood import Likelihood


class GroupedCounts(NamedTuple):
    """Expected counts of groups of sequences, each with the largest feature sum in it."""

    sums: Floats  # [groups] ascending
    counts: Floats  # [groups, weights]


def feature_sums(corpus: Corpus, features: FeatureMap) -> Floats:
    """Return T(x) of each sequence, [N]; raise `ValueError` if a feature is negative."""
    lowest = float(corpus.values.min(initial=math.inf))
    if lowest < 0.0:
        raise ValueError(
            f"Iterative scaling needs attribute values of at least 0, but one is {lowest:g}; "
            "shift or scale the values, or use lbfgs."
        )
    ones = np.ones(features.n_weights)
    return path_scores(corpus, features, ones, viterbi(corpus, features, ones))


class SumGroups:
    """The sequences of a corpus, grouped by feature sum into at most `n_groups` groups."""

    def __init__(self, likelihood: Likelihood, sums: Floats, n_groups: int) -> None:
        self.likelihood, self.n_groups = likelihood, n_groups
        order = np.argsort(sums, kind="stable")
        bounds = group_bounds(sums[order], n_groups)
        self.sums = sums[order[bounds[1:] - 1]]
        self.groups = np.split(order, bounds[1:-1])

    def expected_counts(self, weights: Floats) -> tuple[float, GroupedCounts]:
        """Return the sum of log Z, and the expected counts of each group. One pass."""
        counts, total = np.empty((len(self.groups), len(weights))), 0.0
        for k, group in enumerate(self.groups):
            log_z, counts[k] = self.likelihood.expected_counts(weights, group)
            total += log_z
        return total, GroupedCounts(self.sums, counts)


def group_bounds(ascending: Floats, n_groups: int) -> Longs:
    """Return the first sequence of each group and their number: one group per sum or, if there are too many, equal
    ratios.

    The steps of a group are shorter by the ratio of its largest feature sum to the others in it.
    """
    classes = ascending
    if len(np.unique(ascending)) > n_groups:
        positive = ascending[ascending > 0.0]
        ratio = math.log(positive[-1] / positive[0])
        share = np.log(np.maximum(ascending, positive[0]) / positive[0]) / (ratio or 1.0)
        classes = np.ceil(share * n_groups).clip(1, n_groups)
    return np.concatenate(([0], np.flatnonzero(np.diff(classes)) + 1, [len(ascending)])).astype(np.int64)
