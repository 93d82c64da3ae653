"""Products with the Hessian of the loss of chains of order 2. Nothing is kept between them (chain/pair_tangents.py)."""

from __future__ import annotations

import numpy as np

from fastcrf.chain.expectations import Expected
from fastcrf.chain.histories import and_as_bigrams, pair_history
from fastcrf.chain.lanes import aligned_zeros
from fastcrf.chain.layout import expand_weights
from fastcrf.chain.pair_tangents import make_pair_change, make_pair_direction, multiply_sequences
from fastcrf.chain.plain_decode import make_steps, position_scores
from fastcrf.chain.plain_tangents import covariances
from fastcrf.chain.transitions import transition_matrix
from fastcrf.objective.likelihood import Likelihood, split
from fastcrf.types import Corpus, Floats, Longs


class PairProducts:
    """Products at any point."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood, layout, n_jobs = likelihood, likelihood.layout, likelihood.n_jobs
        longest = len(likelihood.lattices[0].scores)
        self.changes = [make_pair_change(longest, layout.n_labels, layout.padded) for _ in range(n_jobs)]
        self.at_point = np.zeros((n_jobs, *layout.edge_shape))
        self.flat = aligned_zeros(1, layout.table_size)[0]
        self.nothing = np.zeros(likelihood.features.n_weights)
        self.all = np.arange(likelihood.corpus.n_sequences)

    def product(self, weights: Floats, direction: Floats, ridge: float = 0.0) -> Floats:
        """(Hessian at `weights` + ridge I) direction."""
        return self.product_of_some(weights, direction, self.all, ridge)

    def product_of_some(self, weights: Floats, direction: Floats, sequences: Longs, ridge: float = 0.0) -> Floats:
        """The same for the loss of some sequences, in any order and as often as they are named."""
        this, room, absolute = self.likelihood, self.likelihood.room(), self.likelihood.absolute(weights)
        wide, n = np.zeros(this.corpus.n_sequences, np.bool_), len(sequences)

        def prepare(k: int) -> None:
            room.clear(k)
            self.at_point[k] = 0.0
            expand_weights(absolute, this.layout.place, *this.weight_range(k), this.flat)
            expand_weights(direction, this.layout.place, *this.weight_range(k), self.flat)

        def multiply(k: int) -> None:
            expected: Expected = room.expected[k]
            share = sequences, n * k // this.n_jobs, n * (k + 1) // this.n_jobs
            work = this.lattices[k], self.changes[k], self.at_point[k], expected, wide
            data, shape = (this.positions, this.corpus.weights), (this.layout.n_labels, this.lanes)
            multiply_sequences(*data, *share, this.table, edges, along, *work, *shape)

        this.on_threads(prepare)
        edges = this.edges(absolute)
        table = split(this.layout, self.flat)
        along = make_pair_direction(table, transition_matrix(this.features, direction), edges)
        this.on_threads(multiply)
        changed = room.edge_sums[:, 0].sum(axis=0) * edges.forward
        changed += along.forward * self.at_point.sum(axis=0)
        product = this.collect(and_as_bigrams(changed, this.features), self.nothing, direction, ridge)[0]
        for i in sequences[wide[sequences]].tolist():
            product += self.wide_product(absolute, direction, i)
        return product

    def wide_product(self, weights: Floats, direction: Floats, i: int) -> Floats:
        """The share of one sequence whose scores are very wide."""
        features, corpus = self.likelihood.features, self.likelihood.corpus.stretch(i, i + 1)
        of_point, of_direction = (
            (position_scores(corpus, features, w), make_steps(features, w)) for w in (weights, direction)
        )
        nodes, steps = covariances(*of_point, *of_direction)
        K = features.n_labels
        changed = np.zeros((K + K * K, K))
        for step in steps[:1]:
            changed[:K] += step
        every = np.arange(K)
        histories = pair_history(every[:, None], every, K)  # of labels j, k
        for step in steps[1:]:
            changed[histories] += step
        product = state_sums(corpus, features.offsets, features.labels, nodes)
        edges = and_as_bigrams(changed, features)[features.sources, features.targets]
        weight = float(corpus.weights[0]) if len(corpus.weights) else 1.0
        return weight * np.concatenate((product, edges))


def state_sums(corpus: Corpus, offsets: Longs, labels: np.ndarray, nodes: Floats) -> Floats:
    """Quantities of labels [P, K], times values, summed by state feature."""
    sums = np.zeros(len(labels))
    for p, row in enumerate(nodes):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            held = slice(offsets[corpus.attributes[o]], offsets[corpus.attributes[o] + 1])
            sums[held] += row[labels[held]] * (corpus.values[o] if len(corpus.values) else 1.0)
    return sums
