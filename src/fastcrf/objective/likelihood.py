"""Negative log-likelihood of a corpus and its gradient, on threads.

Sequences are split into contiguous shards of equal cost, one a thread. Each thread adds expected counts into a table
of its own; the tables are summed when the gradient is collected, so the result depends on the number of threads (in
the last digits) and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fastcrf.chain.entropy import sequence_figures
from fastcrf.chain.expectations import BLOCK, Expected, Table, expect, log_partitions
from fastcrf.chain.feature_map import count_gold
from fastcrf.chain.forward_backward import Edges, make_edges, make_lattice
from fastcrf.chain.lanes import aligned_zeros
from fastcrf.chain.layout import Layout, Positions, collect_gradient, expand_weights, make_layout, make_positions
from fastcrf.chain.transitions import transition_matrix
from fastcrf.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.vectors import dot


class Sums(NamedTuple):
    """What one evaluation adds up, over sequences and over weights."""

    log_z: float
    gold: float  # weights . counts
    square: float  # |weights|^2
    gradient: Floats  # expected features - counts + ridge * weights


class Likelihood:
    """sum_i s_i * -log p(y_i | x_i, w), its gradient, and per-sequence figures.

    With a prior, what it is given are the differences v = w - prior, and |w|^2 is |v|^2.
    """

    def __init__(self, corpus: Corpus, features: FeatureMap, n_jobs: int = 1, prior: Floats | None = None) -> None:
        self.prior = prior
        self.corpus = corpus
        self.features = features
        self.layout = make_layout(features)
        self.positions = make_positions(corpus, features, self.layout)
        self.counts = count_gold(corpus, features)
        self.bounds = balanced_shards(self.positions, self.layout, n_jobs)
        self.n_jobs = len(self.bounds) - 1
        self.weight_bounds = np.linspace(0, features.n_state, self.n_jobs + 1).astype(np.int64)
        self.pool = ThreadPoolExecutor(self.n_jobs - 1, "fastcrf") if self.n_jobs > 1 else None
        self.lanes = (0,) * self.layout.width
        longest = max(BLOCK, int(np.diff(corpus.starts).max(initial=0)))
        self.lattices = [make_lattice(longest, features.n_labels, self.layout.padded) for _ in range(self.n_jobs)]
        self.flat = aligned_zeros(1, self.layout.table_size)[0]
        self.table = self._split(self.flat)
        self.tables: np.ndarray | None = None  # the gradient's work space, made when first needed

    def value(self, weights: Floats) -> float:
        """The loss alone: forward recursions only."""
        log_z = self.log_partitions(weights)
        total = log_z @ self.corpus.weights if len(self.corpus.weights) else log_z.sum()
        return float(total) - self.gold_score(weights)

    def absolute(self, weights: Floats) -> Floats:
        """The weights of the model: these, or these and the prior."""
        return weights if self.prior is None else weights + self.prior

    def gold_score(self, weights: Floats) -> float:
        """The score of all gold labels."""
        return dot(weights, self.counts) + self.prior_score

    @cached_property
    def prior_score(self) -> float:
        """What the prior adds to the score of the gold labels."""
        return 0.0 if self.prior is None else dot(self.prior, self.counts)

    def gradient(self, weights: Floats, ridge: float = 0.0) -> tuple[float, Floats, float]:
        """Loss, gradient of loss + ridge/2 |w|^2, and |w|^2 (which comes free)."""
        sums = self._expect(weights, ridge, self.counts, self.bounds)
        return sums.log_z - (sums.gold + self.prior_score), sums.gradient, sums.square

    def expected_counts(self, weights: Floats, bounds: Longs | None = None) -> tuple[float, Floats]:
        """Sum of log Z, and how often the model expects each feature; of the shards `bounds` alone, if given."""
        sums = self._expect(weights, 0.0, self.no_counts, self.bounds if bounds is None else bounds)
        return sums.log_z, sums.gradient

    def shards(self, first: int, last: int) -> Longs:
        """Shards of the sequences first..last-1, for `expected_counts`."""
        return balanced_shards(self.positions, self.layout, self.n_jobs, first, last)

    @cached_property
    def no_counts(self) -> Floats:
        """What `_expect` is given where nothing is to be taken off: expected counts then lose no digit."""
        return np.zeros(self.features.n_weights)

    def _expect(self, weights: Floats, ridge: float, counts: Floats, bounds: Longs) -> Sums:
        """Expected features minus `counts`, and what else the sums over some sequences and all weights give."""
        if self.tables is None:
            self.tables = aligned_zeros(self.n_jobs, self.layout.table_size)
            self.edge_sums = np.zeros((self.n_jobs, 2, self.layout.padded, self.layout.padded))
        tables, sums, n_labels = self.tables, self.edge_sums, self.layout.n_labels
        absolute = self.absolute(weights)

        def prepare(k: int) -> None:
            tables[k] = 0.0
            sums[k] = 0.0
            expand_weights(absolute, self.layout.place, *self._weight_range(k), self.flat)

        def expect_shard(k: int) -> float:
            if k >= len(bounds) - 1:
                return 0.0
            expected = Expected(self._split(tables[k]), sums[k, 0], sums[k, 1])
            arrays = self.table, edges, self.lattices[k], expected
            shard = int(bounds[k]), int(bounds[k + 1])
            return expect(self.positions, self.corpus.weights, *shard, *arrays, n_labels, self.lanes)

        gradient = np.empty(self.features.n_weights)

        def collect(k: int) -> tuple[float, float]:
            return collect_gradient(tables, self.layout.place, counts, weights, ridge, *self._weight_range(k), gradient)

        self._on_threads(prepare)
        edges = self._edges(absolute)
        log_z = sum(self._on_threads(expect_shard))
        gold, square = np.sum(self._on_threads(collect), axis=0)
        state, transitions = self.features.n_state, weights[self.features.n_state :]
        counted = sums[:, 0].sum(axis=0) * edges.forward + sums[:, 1].sum(axis=0)
        gradient[state:] = counted[self.features.sources, self.features.targets]
        gradient[state:] += ridge * transitions - counts[state:]
        gold += transitions @ counts[state:]
        return Sums(float(log_z), float(gold), float(square + transitions @ transitions), gradient)

    def log_partitions(self, weights: Floats) -> Floats:
        """log Z of each sequence, [N]."""
        log_z = np.empty(self.corpus.n_sequences)
        edges = self._load(self.absolute(weights))

        def shard(k: int) -> None:
            arrays = self.table, edges, self.lattices[k], log_z
            log_partitions(self.positions, *self._shard(k), *arrays, self.layout.n_labels, self.lanes)

        self._on_threads(shard)
        return log_z

    def sequence_figures(self, weights: Floats) -> Floats:
        """(log Z, expected score, gold score) of each sequence, [N, 3]."""
        figures = np.empty((self.corpus.n_sequences, 3))
        edges = self._load(self.absolute(weights))

        def shard(k: int) -> None:
            lattice = self.lattices[k]
            arrays = self.table, edges, lattice, np.empty_like(lattice.scores), figures
            sequence_figures(
                self.positions, self.corpus.labels, *self._shard(k), *arrays, self.layout.n_labels, self.lanes
            )

        self._on_threads(shard)
        return figures

    def _load(self, weights: Floats) -> Edges:
        expand_weights(weights, self.layout.place, 0, self.features.n_state, self.flat)
        return self._edges(weights)

    def _edges(self, weights: Floats) -> Edges:
        return make_edges(transition_matrix(self.features, weights), self.layout.padded)

    def _split(self, flat: Floats) -> Table:
        corner = self.layout.n_row_slots
        return Table(flat[:corner].reshape(self.layout.n_rows, self.layout.padded), flat[corner:])

    def _shard(self, k: int) -> tuple[int, int]:
        return int(self.bounds[k]), int(self.bounds[k + 1])

    def _weight_range(self, k: int) -> tuple[int, int]:
        return int(self.weight_bounds[k]), int(self.weight_bounds[k + 1])

    def _on_threads(self, work: Callable[[int], Any]) -> list[Any]:
        """work(k) for each shard k, the first one here and the others in the pool."""
        if self.pool is None:
            return [work(0)]
        others = [self.pool.submit(work, k) for k in range(1, self.n_jobs)]
        return [work(0), *(other.result() for other in others)]


def balanced_shards(
    positions: Positions, layout: Layout, n_jobs: int, first: int = 0, last: int | None = None
) -> np.ndarray:
    """First sequence of each shard of first..last-1, [shards + 1]: contiguous, about equal cost, none empty."""
    starts, Kp = positions.starts[first : None if last is None else last + 1], layout.padded
    cells = positions.cell_starts[first : None if last is None else last + 1]
    rows = positions.row_starts[starts[1:]] - positions.row_starts[starts[:-1]]
    # Relative costs, from a profile: recursions K Kp a position, exponentials and shifts Kp, a row Kp, a cell.
    cost = np.diff(starts) * (3 * layout.n_labels + 60) * Kp + 12 * rows * Kp + 12 * np.diff(cells)
    reached = np.concatenate(([0], np.cumsum(cost, dtype=np.float64)))
    targets = np.linspace(0, reached[-1], max(1, min(n_jobs, len(cost))) + 1)
    bounds = np.searchsorted(reached, targets[1:-1], side="left")
    return first + np.unique(np.concatenate(([0], bounds, [len(cost)])))
