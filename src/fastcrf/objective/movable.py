"""The features that a corpus can move, for solvers that draw sequences.

A model may have features of attributes that do not occur in the corpus at hand (it was warm-started from a larger one).
Their gradient is that of the penalty alone; weights that start at 0 stay there. Solvers that draw leave them out, so
that what they do between two epochs costs what the corpus costs, not what the model costs.

Solvers that draw several sequences at once divide the corpus into blocks, at random but once and for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.chain.blocks import Blocks
from fastcrf.chain.support import with_prior
from fastcrf.mapped import empty_beside
from fastcrf.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.vectors import dot

AT_ONCE = 1 << 14  # sequences that are moved together
SLICE_OF_POSITIONS = 30_000
NO_PRIOR: Floats = np.empty(0)


class MovablePart(NamedTuple):
    """Some of a problem's features, and the corpus in terms of them."""

    features: FeatureMap
    places: Longs  # their places in the whole weight vector; [0] when these are all features
    blocks: Blocks
    prior: Floats = NO_PRIOR  # of these features, if there is one

    def with_prior(self, whole: Floats) -> MovablePart:
        """The same with a prior, given for all features of the problem."""
        prior, blocks = self.take(whole), self.blocks
        support = with_prior(blocks.support, blocks.layout, self.features, prior)
        return self._replace(prior=prior, blocks=blocks._replace(support=support))

    def along_prior(self, slopes: Floats) -> float:
        """prior . slopes, those of this part."""
        return dot(self.prior, slopes) if len(self.prior) else 0.0

    def take(self, whole: Floats) -> Floats:
        """The weights of this part: `whole` itself when that is all, else a copy."""
        return whole[self.places] if len(self.places) else whole

    def put(self, weights: Floats, whole: Floats) -> None:
        """Copy the weights of this part back. Writes: whole."""
        if len(self.places):
            whole[self.places] = weights


def slice_size(corpus: Corpus) -> int:
    """Draws that take well under a second: epochs hand control back after so many, for Ctrl-C."""
    return max(1, SLICE_OF_POSITIONS * corpus.n_sequences // corpus.n_positions)


def occurring_features(corpus: Corpus, features: FeatureMap) -> tuple[FeatureMap, Longs] | None:
    """(the features of the attributes that occur in the corpus, their places); None when all occur."""
    occurs = np.zeros(features.n_attributes, np.bool_)
    for stretch in corpus.stretches():
        occurs[stretch.attributes] = True
    sizes = np.diff(features.offsets)
    if occurs[sizes > 0].all():
        return None
    kept = np.repeat(occurs, sizes)
    some = features._replace(
        offsets=np.concatenate(([0], np.cumsum(np.where(occurs, sizes, 0)))), labels=features.labels[kept]
    )
    transitions = np.arange(features.n_state, features.n_weights)
    return some, np.concatenate((np.flatnonzero(kept), transitions))


def partition(corpus: Corpus, n_blocks: int, seed: int) -> tuple[Corpus, Longs]:
    """(the sequences in an order that `seed` alone decides, first sequence of each block and their number).

    Blocks differ by one sequence at most: a small one would have a large Lipschitz constant.
    """
    order, bounds = order_of_blocks(corpus.n_sequences, n_blocks, seed)
    return reorder(corpus, order), bounds


def order_of_blocks(n: int, n_blocks: int, seed: int) -> tuple[np.ndarray, Longs]:
    """(the order of n sequences, first sequence of each block and their number), by `seed` alone."""
    return np.random.default_rng([seed, 0, 2]).permutation(n), np.arange(n_blocks + 1) * n // n_blocks


def reorder(corpus: Corpus, order: np.ndarray) -> Corpus:
    """Sequences of a corpus in any order and as often as they are named; of a mapped corpus they are mapped, too."""
    home, occurrences = corpus.attributes, corpus.offsets[corpus.starts]  # first of each sequence
    starts = np.concatenate(([0], np.cumsum(np.diff(corpus.starts)[order])))
    n_positions, n_occurrences = int(starts[-1]), int(np.diff(occurrences)[order].sum())
    moved = Corpus(
        starts=starts,
        offsets=empty_beside(home, n_positions + 1, np.int64),
        attributes=empty_beside(home, n_occurrences, np.int32),
        values=empty_beside(home, n_occurrences if len(corpus.values) else 0, np.float64),
        labels=empty_beside(home, n_positions, np.int32),
        weights=corpus.weights[order] if len(corpus.weights) else corpus.weights,
    )
    moved.offsets[0] = p = o = 0
    for first in range(0, len(order), AT_ONCE):
        _, positions = rearrange(corpus.starts, order[first : first + AT_ONCE])
        offsets, occurrences = rearrange(corpus.offsets, positions)
        held, place = slice(p, p + len(positions)), slice(o, o + len(occurrences))
        moved.offsets[p + 1 : held.stop + 1] = o + offsets[1:]
        moved.labels[held] = corpus.labels[positions]
        moved.attributes[place] = corpus.attributes[occurrences]
        if len(corpus.values):
            moved.values[place] = corpus.values[occurrences]
        p, o = held.stop, place.stop
    return moved


def rearrange(bounds: Longs, order: np.ndarray) -> tuple[Longs, Longs]:
    """Stretches bounds[i]:bounds[i + 1] one behind the other in another order: (their new bounds, what they hold)."""
    sizes = bounds[order + 1] - bounds[order]
    moved = np.concatenate(([0], np.cumsum(sizes)))
    return moved, np.arange(moved[-1]) + np.repeat(bounds[order] - moved[:-1], sizes)
