"""Negative log-likelihood of a corpus and its gradient, on threads.

Sequences are split into contiguous shards of equal cost, one per thread. Each thread adds expected counts into its own
table, and the tables are summed when the gradient is collected. The result therefore depends on the number of threads
(in the last digits) and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.data.corpus.reordering import reorder
from fastcrf.feature_space.feature_map import count_gold
from fastcrf.feature_space.label_contexts import and_for_shorter
from fastcrf.feature_space.layout import (
    Layout,
    Positions,
    collect_gradient,
    expand_weights,
    make_layout,
    make_positions,
)
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.higher_order.any_order import edges_from, lattice_of, tree_of
from fastcrf.inference.entropy import make_figure_space, sequence_figures
from fastcrf.inference.expectations import BLOCK, Expected, Sequences, Table, expect, expect_some, log_partitions
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice
from fastcrf.simd.vectors import dot
from fastcrf.simd.widths import aligned_zeros

FEW = 1 << 16  # weights: waking a thread takes longer than copying them


class Workspace(NamedTuple):
    """The sums of all threads: one table and two sums of edges each."""

    tables: Floats  # [threads, table size]
    edge_sums: Floats  # [threads, 2, rows and columns of edges]
    expected: list[Expected]  # views of both, by thread

    def clear(self, k: int) -> None:
        self.tables[k] = 0.0
        self.edge_sums[k] = 0.0


def split(layout: Layout, flat: Floats) -> Table:
    """Return the two views of a flat array in the arrangement of a layout."""
    corner = layout.n_row_slots
    return Table(flat[:corner].reshape(layout.n_rows, layout.padded), flat[corner:])


def make_workspace(layout: Layout, n_jobs: int) -> Workspace:
    tables = aligned_zeros(n_jobs, layout.table_size)
    sums = np.zeros((n_jobs, 2, *layout.edge_shape))
    return Workspace(tables, sums, [Expected(split(layout, tables[k]), sums[k, 0], sums[k, 1]) for k in range(n_jobs)])


Evaluation = tuple[float, Floats, float]  # loss, gradient, |w|^2
ExpectShard = Callable[[int, AnyEdges, Expected], float]


class Likelihood:
    """sum_i s_i * -log p(y_i | x_i, w), its gradient, and per-sequence figures.

    With a prior, the arguments are the differences v = w - prior, and |w|^2 is |v|^2.
    """

    def __init__(self, corpus: Corpus, features: FeatureMap, n_jobs: int = 1, prior: Floats | None = None) -> None:
        self.prior = prior
        self.corpus = corpus
        self.features = features
        self.layout, self.positions = self.arrange(corpus, features)
        self.counts = count_gold(corpus, features)
        self.bounds = balanced_shards(self.positions, self.layout, n_jobs)
        self.n_jobs = len(self.bounds) - 1
        self.weight_bounds = np.linspace(0, features.n_state, self.n_jobs + 1).astype(np.int64)
        self.pool = ThreadPoolExecutor(self.n_jobs - 1, "fastcrf") if self.n_jobs > 1 else None
        self.lanes = (0,) * self.layout.width
        self.shape = features.n_labels, self.lanes  # the last arguments of kernels
        longest = max(BLOCK, int(np.diff(corpus.starts).max(initial=0)))
        self.tree, self.edge_rows = tree_of(self.layout), self.layout.rows_of(features)
        self.lattices = [self.make_lattice(longest) for _ in range(self.n_jobs)]
        self.flat = aligned_zeros(1, self.layout.table_size)[0]
        self.table = split(self.layout, self.flat)
        self._workspace: Workspace | None = None

    def arrange(self, corpus: Corpus, features: FeatureMap) -> tuple[Layout, Positions]:
        """Arrange features and corpus for kernels."""
        layout = make_layout(features)
        return layout, make_positions(corpus, features, layout)

    def make_lattice(self, longest: int) -> AnyLattice:
        """Allocate the work arrays of a thread."""
        return lattice_of(self.tree, longest, self.features.n_labels, self.layout.padded)

    def value(self, weights: Floats) -> float:
        """Return the loss alone: forward recursions only."""
        log_z = self.log_partitions(weights)
        total = log_z @ self.corpus.weights if len(self.corpus.weights) else log_z.sum()
        return float(total) - dot(self.absolute(weights), self.counts)

    def absolute(self, weights: Floats) -> Floats:
        """Return the weights of the model: these, or the prior plus these."""
        return weights if self.prior is None else self.prior + weights

    def gradient(self, weights: Floats, ridge: float = 0.0) -> tuple[float, Floats, float]:
        """Return loss, gradient of loss + ridge/2 |w|^2, and |w|^2 (at no extra cost)."""
        return self.gradient_by(self.expect_shard, weights, self.counts, ridge)

    def subset_gradient(self, weights: Floats, sequences: Longs) -> tuple[float, Floats]:
        """Return loss and gradient of some sequences, in any order and with repetitions."""
        counts = count_gold(reorder(self.corpus, sequences), self.features)
        return self.gradient_by(self.expecting(sequences), weights, counts, 0.0)[:2]

    def expected_counts(self, weights: Floats, sequences: Longs | None = None) -> tuple[float, Floats]:
        """Return the sum of log Z and the expected count of each feature, of all sequences or of the given ones."""
        expect_shard = self.expect_shard if sequences is None else self.expecting(sequences)
        return self.gradient_by(expect_shard, weights, self.no_counts, 0.0)[:2]

    @cached_property
    def no_counts(self) -> Floats:
        """Return zeros: without a subtraction, expected counts lose no digits."""
        return np.zeros(self.features.n_weights)

    def expect_shard(self, k: int, edges: AnyEdges, expected: Expected) -> float:
        """Compute the share of thread k in all sequences."""
        return expect(self.sequences(edges), *self.shard(k), self.lattices[k], expected, *self.shape)

    def expecting(self, chosen: Longs) -> ExpectShard:
        """Return the function that computes the shares of threads in some sequences."""

        def expect_share(k: int, edges: AnyEdges, expected: Expected) -> float:
            share = len(chosen) * k // self.n_jobs, len(chosen) * (k + 1) // self.n_jobs
            return expect_some(self.sequences(edges), chosen, *share, self.lattices[k], expected, *self.shape)

        return expect_share

    def gradient_by(self, expect_shard: ExpectShard, weights: Floats, counts: Floats, ridge: float) -> Evaluation:
        """Return loss, gradient and |w|^2 from the log Z and the expected counts of `expect_shard(k, ...)`."""
        absolute = self.absolute(weights)
        self.on_weights(lambda first, last: expand_weights(absolute, self.layout.place, first, last, self.flat))
        log_z, edge_counts = self.sum_up(expect_shard, self.edges(absolute))
        gradient, gold, square = self.collect(edge_counts, counts, weights, ridge)
        gold += 0.0 if self.prior is None else dot(self.prior, counts)
        return log_z - gold, gradient, square

    def sum_up(self, expect_shard: ExpectShard, edges: AnyEdges) -> tuple[float, Floats]:
        """Return log Z and counts of transitions, summed over the threads; their tables remain for `collect`."""
        workspace = self.workspace()

        def expect_alone(k: int) -> float:
            workspace.clear(k)
            return expect_shard(k, edges, workspace.expected[k])

        log_z = sum(self.on_threads(expect_alone))
        edge_counts = workspace.edge_sums[:, 0].sum(axis=0) * edges.forward + workspace.edge_sums[:, 1].sum(axis=0)
        return log_z, edge_counts if self.tree is None else and_for_shorter(edge_counts, self.tree)

    def collect(self, edge_counts: Floats, counts: Floats, vector: Floats, ridge: float) -> tuple[Floats, float, float]:
        """Return the threads' sums - counts + ridge * vector, vector . counts, and |vector|^2."""
        tables, place, gradient = self.workspace().tables, self.layout.place, np.empty(self.features.n_weights)

        def collect_range(first: int, last: int) -> tuple[float, float]:
            return collect_gradient(tables, place, counts, vector, ridge, first, last, gradient)

        gold, square = np.sum(self.on_weights(collect_range), axis=0)
        state = self.features.n_state
        gradient[state:] = edge_counts[self.edge_rows, self.features.targets]
        gradient[state:] += ridge * vector[state:] - counts[state:]
        gold += vector[state:] @ counts[state:]
        return gradient, float(gold), float(square + vector[state:] @ vector[state:])

    def workspace(self) -> Workspace:
        """Return the sums of the threads, allocated on first use."""
        if self._workspace is None:
            self._workspace = make_workspace(self.layout, self.n_jobs)
        return self._workspace

    def log_partitions(self, weights: Floats) -> Floats:
        """Return log Z of each sequence, [N]."""
        log_z = np.empty(self.corpus.n_sequences)
        sequences = self._load(self.absolute(weights))

        def shard(k: int) -> None:
            log_partitions(sequences, *self.shard(k), self.lattices[k], log_z, *self.shape)

        self.on_threads(shard)
        return log_z

    def sequence_figures(self, weights: Floats) -> Floats:
        """Return (log Z, expected score, gold score) of each sequence, [N, 3]."""
        figures = np.empty((self.corpus.n_sequences, 3))
        sequences = self._load(self.absolute(weights))

        def shard(k: int) -> None:
            workspace = make_figure_space(self.lattices[k], sequences.edges)
            sequence_figures(sequences, self.corpus.labels, *self.shard(k), workspace, figures, *self.shape)

        self.on_threads(shard)
        return figures

    def _load(self, weights: Floats) -> Sequences:
        expand_weights(weights, self.layout.place, 0, self.features.n_state, self.flat)
        return self.sequences(self.edges(weights))

    def sequences(self, edges: AnyEdges) -> Sequences:
        """Return all sequences at the point whose state weights the table holds."""
        return Sequences(self.positions, self.corpus.weights, self.table, edges)

    def edges(self, weights: Floats) -> AnyEdges:
        return edges_from(self.tree, transition_matrix(self.features, weights), self.layout.padded)

    def shard(self, k: int) -> tuple[int, int]:
        return int(self.bounds[k]), int(self.bounds[k + 1])

    def weight_range(self, k: int) -> tuple[int, int]:
        return int(self.weight_bounds[k]), int(self.weight_bounds[k + 1])

    def on_weights(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Run work(first, last) on slices of the state weights, on threads unless there are few."""
        if self.features.n_state < FEW:
            return [work(0, self.features.n_state)]
        return self.on_threads(lambda k: work(*self.weight_range(k)))

    def on_threads(self, work: Callable[[int], Any]) -> list[Any]:
        """Run work(k) for each shard k, the first one in this thread and the others in the pool."""
        if self.pool is None:
            return [work(0)]
        others = [self.pool.submit(work, k) for k in range(1, self.n_jobs)]
        return [work(0), *(other.result() for other in others)]


def balanced_shards(positions: Positions, layout: Layout, n_jobs: int) -> np.ndarray:
    """Return the first sequence of each shard, [shards + 1]: contiguous, about equal cost, none empty."""
    starts, Kp = positions.starts, layout.padded
    rows = positions.row_starts[starts[1:]] - positions.row_starts[starts[:-1]]
    # Relative costs, from a profile: recursions K Kp per position, exponentials and shifts Kp, a row Kp, a cell.
    cost = np.diff(starts) * (3 * layout.n_contexts + 60) * Kp + 12 * rows * Kp + 12 * np.diff(positions.cell_starts)
    reached = np.concatenate(([0], np.cumsum(cost, dtype=np.float64)))
    targets = np.linspace(0, reached[-1], max(1, min(n_jobs, len(cost))) + 1)
    bounds = np.searchsorted(reached, targets[1:-1], side="left")
    return np.unique(np.concatenate(([0], bounds, [len(cost)])))
