"""Curvature of the loss at a point from label sequences drawn from the model: a diagonal, and dense blocks.

The Hessian of a CRF's loss is the covariance of the features f(x_i, y) under the model, summed over the sequences. Half
of the product of the difference of two independent draws with itself has this mean:

    E c c' / 2 = Cov f(x_i, y),     c = f(x_i, y) - f(x_i, y'),     y, y' ~ p(. | x_i, w)

Few entries of c are not 0: those of positions where y and y' differ. Such a block holds the covariances along the chain
and with the transitions. Token marginals do not show those: given the sentence, neighboring labels are nearly functions
of one another, so weight that moves from an attribute to its copy at the next position hardly changes the model, though
p (1 - p) is large for both.
"""

from __future__ import annotations

import math

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.feature_space.layout import Positions
from fastcrf.inference.expectations import Expected
from fastcrf.inference.forward_backward import Edges
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.sampled.label_draws import Difference, LabelDraws, Members, add_differences, draw_sequences
from fastcrf.system.mapped_arrays import folder_of

A_PAIR = 2
DIFFERENT = 0.5  # share of the pairs that differ, as a first guess
MOST_PAIRS = 16  # for each sequence


class SampledCurvature:
    """The curvature of the loss at `weights`: variances at once, blocks from pairs of draws for each sequence.

    seed: of the random numbers;
    factors: the derivative of the model's weights by those of the problem, if the two differ.
    variances: sum_t x^2 p (1 - p) of each feature, exactly; for transitions the expected counts, which bound them;
    passes: those spent until now, 1 for the variances and 1 or 2 for a block.
    """

    def __init__(self, likelihood: Likelihood, weights: Floats, seed: list[int], factors: Floats | float = 1.0) -> None:
        self.likelihood, self.weights, self.factors, self.passes = likelihood, weights, factors, 0
        self.squares, self.random = squared(likelihood.positions), np.random.default_rng(seed)
        self.variances: Floats = self._draw(0) * factors * factors

    def _draw(self, n_pairs: int) -> Floats:
        """Draw pairs of label sequences; return the variances in the model's weights. One pass.

        Writes: labels, passes.
        """
        this, shape = self.likelihood, (A_PAIR * n_pairs, self.likelihood.corpus.n_positions)
        uniforms, shifts = self.random.random(shape[1]), self.random.integers(shape[1], size=shape[0])
        draws = LabelDraws(self.squares, uniforms, shifts, np.zeros(shape, np.int16))

        def draw_shard(k: int, edges: Edges, expected: Expected) -> float:
            draw_sequences(this.sequences(edges), *this.shard(k), this.lattices[k], expected, draws, *this.shape)
            return 0.0

        _, variances, _ = this.gradient_by(draw_shard, self.weights, this.no_counts, 0.0)
        self.labels = draws.labels
        self.passes += 1
        return variances

    def _n_different(self) -> int:
        """Return how many pairs differ."""
        differ = self.labels[::A_PAIR] != self.labels[1::A_PAIR]
        return int(np.logical_or.reduceat(differ, self.likelihood.corpus.starts[:-1], axis=1).sum())

    def block(self, chosen: Longs, n_samples: int, most_products: float = math.inf) -> Floats | None:
        """Return the covariances of some features, given in ascending order, [d, d]; None beyond `most_products`.

        n_samples: the number of pairs that should differ, for which each sequence gets up to MOST_PAIRS.
        """
        n_pairs = pairs_for(n_samples, DIFFERENT * self.likelihood.corpus.n_sequences)
        self._draw(n_pairs)
        more = pairs_for(n_samples, self._n_different() / n_pairs)
        members = members_of(self.likelihood.features, chosen)
        if max(n_pairs, more) * self._n_products(members, len(chosen)) > most_products:
            return None
        if more >= 2 * n_pairs:
            self._draw(more)
        return self._mean_product(chosen, members)

    def _n_products(self, members: Members, d: int) -> float:
        """Return how many products of entries c c' has for one pair per sequence: many if tokens have many members."""
        corpus = self.likelihood.corpus
        held = np.concatenate(([0], np.cumsum(members.rows[corpus.attributes] >= 0)))[corpus.offsets]
        entries = A_PAIR * np.diff(held) * (self.labels[0] != self.labels[1])
        of_sequences = np.diff(np.concatenate(([0], np.cumsum(entries)))[corpus.starts])
        return 0.5 * float((np.minimum(of_sequences, d).astype(np.float64) ** 2).sum())

    def _mean_product(self, chosen: Longs, members: Members) -> Floats:
        """Return the mean of c c' / 2 over the pairs."""
        this, d = self.likelihood, len(chosen)
        block = np.zeros((d, d))

        def add_part(k: int) -> None:
            difference = Difference(np.zeros(d), np.empty(d, np.int64))
            for n in range(0, len(self.labels), A_PAIR):
                add_differences(this.corpus, members, self.labels[n : n + A_PAIR], k, this.n_jobs, difference, block)

        this.on_threads(add_part)
        block += np.tril(block, -1).T
        block /= len(self.labels)
        some = np.broadcast_to(self.factors, len(self.variances))[chosen]
        return block * np.outer(some, some)


def sampled_curvature(
    likelihood: Likelihood, weights: Floats, seed: list[int], factors: Floats | float = 1.0
) -> SampledCurvature | None:
    """Return the curvature at `weights`, or None for chains of higher order and for memory-mapped data."""
    if likelihood.features.order > 1 or folder_of(likelihood.corpus.attributes) is not None:
        return None
    return SampledCurvature(likelihood, weights, seed, factors)


def pairs_for(n_samples: int, different: float) -> int:
    """Return how many pairs each sequence needs if that many of the sequences' pairs differ."""
    return min(MOST_PAIRS, math.ceil(n_samples / max(different, 1.0)))


def squared(positions: Positions) -> Positions:
    """Return the positions with the squares of their values."""
    return positions._replace(row_values=positions.row_values**2, cell_values=positions.cell_values**2)


def members_of(features: FeatureMap, chosen: Longs) -> Members:
    """Return the numbers of the chosen features: by attribute and label, and by two labels."""
    n_state, K = features.n_state, features.n_labels
    states, transitions = chosen[chosen < n_state], chosen[chosen >= n_state] - n_state
    owners = np.searchsorted(features.offsets, states, side="right") - 1
    attributes, row = np.unique(owners, return_inverse=True)
    rows = np.full(features.n_attributes, -1, np.int32)
    rows[attributes] = np.arange(len(attributes))
    slots, edges = np.full((len(attributes), K), -1, np.int32), np.full((K, K), -1, np.int32)
    slots[row, features.labels[states]] = np.arange(len(states))
    edges[features.sources[transitions], features.targets[transitions]] = np.arange(len(states), len(chosen))
    return Members(rows, slots, edges)
