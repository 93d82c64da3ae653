"""The features that a corpus can change, for stochastic solvers.

A model may have features of attributes that do not occur in the current corpus (after a warm start from a larger one).
Their gradient is that of the penalty alone, and weights that start at 0 stay there. Stochastic solvers leave them out,
so that the work between two epochs depends on the corpus, not on the model.

Stochastic solvers with a batch divide the corpus into blocks, at random but once per run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.feature_space.support import with_prior
from fastcrf.objective.blocks import Blocks
from fastcrf.simd.vectors import dot

SLICE_OF_POSITIONS = 30_000
NO_PRIOR: Floats = np.empty(0)


class MovablePart(NamedTuple):
    """Some of a problem's features, and the corpus in terms of them."""

    features: FeatureMap
    places: Longs  # their places in the whole weight vector; [0] when these are all features
    blocks: Blocks
    prior: Floats = NO_PRIOR  # of these features, if there is one

    def with_prior(self, whole: Floats) -> MovablePart:
        """Return the same part with a prior, given for all features of the problem."""
        prior, blocks = self.take(whole), self.blocks
        support = with_prior(blocks.support, blocks.layout, self.features, prior)
        return self._replace(prior=prior, blocks=blocks._replace(support=support))

    def along_prior(self, slopes: Floats) -> float:
        """Return prior . slopes, those of this part."""
        return dot(self.prior, slopes) if len(self.prior) else 0.0

    def take(self, whole: Floats) -> Floats:
        """Return the weights of this part: `whole` itself if the part has all features, else a copy."""
        return whole[self.places] if len(self.places) else whole

    def put(self, weights: Floats, whole: Floats) -> None:
        """Copy the weights of this part back. Writes: whole."""
        if len(self.places):
            whole[self.places] = weights


def slice_size(corpus: Corpus) -> int:
    """Return a number of samples that takes well under a second: epochs yield control after so many, for Ctrl-C."""
    return max(1, SLICE_OF_POSITIONS * corpus.n_sequences // corpus.n_positions)
