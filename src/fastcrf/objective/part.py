"""The features that a corpus can move, for solvers that draw sequences.

A model may have features of attributes that do not occur in the corpus at hand (it was warm-started from a larger one).
Their gradient is that of the penalty alone; weights that start at 0 stay there. Solvers that draw leave them out, so
that what they do between two epochs costs what the corpus costs, not what the model costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.layout import Layout, Positions, make_layout, make_positions
from fastcrf.chain.sequences import Sequences, make_sequences
from fastcrf.types import Corpus, FeatureMap, Floats, Longs


class Part(NamedTuple):
    """Some of a problem's features, and the corpus in terms of them."""

    features: FeatureMap
    places: Longs  # their places in the whole weight vector; [0] when these are all features
    sequences: Sequences

    def take(self, whole: Floats) -> Floats:
        """The weights of this part: `whole` itself when that is all, else a copy."""
        return whole[self.places] if len(self.places) else whole

    def put(self, weights: Floats, whole: Floats) -> None:
        """Copy the weights of this part back. Writes: whole."""
        if len(self.places):
            whole[self.places] = weights


def whole_part(corpus: Corpus, features: FeatureMap, layout: Layout, positions: Positions) -> Part:
    return Part(features, np.empty(0, np.int64), make_sequences(corpus, features, positions, layout))


def occurring_part(corpus: Corpus, features: FeatureMap) -> Part | None:
    """The part of the attributes that occur in the corpus; None when all do."""
    occurs = np.zeros(features.n_attributes, np.bool_)
    occurs[corpus.attributes] = True
    sizes = np.diff(features.offsets)
    if occurs[sizes > 0].all():
        return None
    kept = np.repeat(occurs, sizes)
    part = features._replace(
        offsets=np.concatenate(([0], np.cumsum(np.where(occurs, sizes, 0)))), labels=features.labels[kept]
    )
    transitions = np.arange(features.n_state, features.n_weights)
    layout = make_layout(part)
    sequences = make_sequences(corpus, part, make_positions(corpus, part, layout), layout)
    return Part(part, np.concatenate((np.flatnonzero(kept), transitions)), sequences)
