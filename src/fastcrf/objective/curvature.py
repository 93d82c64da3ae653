"""Gradients that cache inference, and Hessian-vector products that use the cache.

A gradient caches 3 K numbers per position (inference/cached_inference.py), of all sequences or of the first ones of
each thread's shard. For those a product needs no exponential; for the others it repeats inference.

A product counts as one pass, like a gradient: it evaluates each sequence once. benchmarks/second_order.py measures its
time relative to a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.feature_space.layout import expand_weights
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.inference.cached_inference import ROWS, expect_and_cache, make_cache
from fastcrf.inference.expectations import Expected, Sequences, expect
from fastcrf.inference.forward_backward import Edges
from fastcrf.inference.forward_mode import multiply_by_differentiation
from fastcrf.inference.tangents import (
    Bench,
    Direction,
    make_change,
    make_direction,
    multiply_cached,
    multiply_fresh,
    multiply_some,
)
from fastcrf.objective.likelihood import Likelihood, split
from fastcrf.simd.widths import aligned_zeros
from fastcrf.system.memory_budget import SHARE, SMALL, free_memory, require_memory

BYTES = 8
NEEDS_A_GRADIENT = "A Hessian-vector product requires a gradient at the same point; call gradient first."


MultiplyShard = Callable[[int, Sequences, Direction, Bench], None]


class HessianProducts:
    """Hessian-vector products of a loss at any point, without a cache."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood, layout, n_jobs = likelihood, likelihood.layout, likelihood.n_jobs
        longest = len(likelihood.lattices[0].scores)
        self.changes = [make_change(longest, layout.n_labels, layout.padded) for _ in range(n_jobs)]
        self.blocks = [make_cache(longest, layout.padded, far=False) for _ in range(n_jobs)]
        self.edge_sums = np.zeros((n_jobs, 2, layout.padded, layout.padded))  # at the point
        self.flat = aligned_zeros(1, layout.table_size)[0]
        self.table = split(layout, self.flat)
        self.nothing = np.zeros(likelihood.features.n_weights)

    def product(self, weights: Floats, direction: Floats, ridge: float = 0.0) -> Floats:
        """Return (Hessian at `weights` + ridge I) direction."""
        return self.product_of_some(weights, direction, np.arange(self.likelihood.corpus.n_sequences), ridge)

    def differentiated_product(self, weights: Floats, direction: Floats, ridge: float = 0.0) -> Floats:
        """Return the same by algorithmic differentiation (inference/forward_mode.py)."""
        this = self.likelihood

        def multiply_shard(k: int, sequences: Sequences, along: Direction, bench: Bench) -> None:
            multiply_by_differentiation(sequences, *this.shard(k), along, bench, *this.shape)

        return self.multiply_by(multiply_shard, weights, direction, ridge)

    def product_of_some(self, weights: Floats, direction: Floats, chosen: Longs, ridge: float = 0.0) -> Floats:
        """Return the product for the loss of some sequences, in any order and with repetitions."""
        this, n = self.likelihood, len(chosen)

        def multiply_share(k: int, sequences: Sequences, along: Direction, bench: Bench) -> None:
            share = n * k // this.n_jobs, n * (k + 1) // this.n_jobs
            multiply_some(sequences, chosen, *share, along, bench, *this.shape)

        return self.multiply_by(multiply_share, weights, direction, ridge)

    def multiply_by(
        self,
        multiply_shard: MultiplyShard,
        weights: Floats,
        direction: Floats,
        ridge: float = 0.0,
        known_edges: Floats | float = 0.0,
        all_known: bool = False,
    ) -> Floats:
        """Return the product from the sums of `multiply_shard(k, ...)`.

        known_edges: sums at the point that are already known;
        all_known: whether no sequence needs to be scored at the point again.
        """
        this, workspace, absolute = self.likelihood, self.likelihood.workspace(), self.likelihood.absolute(weights)

        def prepare(k: int) -> None:
            workspace.clear(k)
            self.edge_sums[k] = 0.0
            if not all_known:
                expand_weights(absolute, this.layout.place, *this.weight_range(k), this.flat)
            expand_weights(direction, this.layout.place, *this.weight_range(k), self.flat)

        def multiply(k: int) -> None:
            point = Expected(workspace.expected[k].table, self.edge_sums[k, 0], self.edge_sums[k, 1])
            bench = Bench(this.lattices[k], self.changes[k], self.blocks[k], point, workspace.expected[k])
            multiply_shard(k, sequences, along, bench)

        this.on_threads(prepare)
        sequences = this.sequences(this.edges(absolute))
        along = make_direction(self.table, transition_matrix(this.features, direction), sequences.edges)
        this.on_threads(multiply)
        known, others = workspace.edge_sums[:, 0].sum(axis=0), workspace.edge_sums[:, 1].sum(axis=0)
        changed = known * sequences.edges.forward + others
        changed += along.forward * (self.edge_sums[:, 0].sum(axis=0) + known_edges)
        return this.collect(changed, self.nothing, direction, ridge)[0]


class RecomputedCurvature:
    """The interface of Curvature without a cache. product: (Hessian at weights + ridge I) direction."""

    def __init__(self, likelihood: Likelihood, product: Callable[[Floats, Floats, float], Floats], c2: float) -> None:
        self.likelihood, self.product_at, self.c2 = likelihood, product, c2
        self.weights: Floats | None = None

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return loss + c2 |w|^2 and its gradient (a new array). One pass."""
        loss, gradient, square = self.likelihood.gradient(weights, 2.0 * self.c2)
        self.weights = weights.copy()
        return loss + self.c2 * square, gradient

    def product(self, direction: Floats) -> Floats:
        """Return the Hessian at the point of the last gradient, times `direction` (a new array). One pass."""
        if self.weights is None:
            raise ValueError(NEEDS_A_GRADIENT)
        return self.product_at(self.weights, direction, 2.0 * self.c2)


class Curvature:
    """loss + c2 |w|^2 at a point: its gradient, which caches inference, and Hessian-vector products there.

    kept: the number of sequences whose inference the gradient caches; None: as many as the memory budget allows.
    """

    def __init__(self, products: HessianProducts, c2: float = 0.0, kept: int | None = None) -> None:
        self.products, self.c2 = products, c2
        this = products.likelihood
        self.middles = middles_of_shards(this, kept)  # of each shard, the sequence after the last cached one
        starts, padded = this.corpus.starts, this.layout.padded
        rows = starts[self.middles] - starts[this.bounds[:-1]]
        self.left = [make_cache(max(1, int(n)), padded, far=True) for n in rows]
        self.edges = np.zeros((this.n_jobs, padded, padded))  # sums at the last gradient's point
        self.weights: Floats | None = None  # the point of the last gradient

    @property
    def n_kept(self) -> int:
        """Return the number of cached sequences."""
        return int((self.middles - self.products.likelihood.bounds[:-1]).sum())

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return loss + c2 |w|^2 and its gradient (a new array). One pass."""
        this = self.products.likelihood

        def expect_shard(k: int, edges: Edges, expected: Expected) -> float:
            (first, last), middle, shape = this.shard(k), int(self.middles[k]), this.shape
            sequences, lattice = this.sequences(edges), this.lattices[k]
            log_z = expect_and_cache(sequences, first, middle, lattice, expected, self.left[k], *shape)
            log_z += expect(sequences, middle, last, lattice, expected, *shape)
            self.edges[k] = expected.edges
            return log_z

        self.weights = None
        loss, gradient, square = this.gradient_by(expect_shard, weights, this.counts, 2.0 * self.c2)
        self.weights = weights.copy()
        return loss + self.c2 * square, gradient

    def product(self, direction: Floats) -> Floats:
        """Return the Hessian at the point of the last gradient, times `direction` (a new array). One pass."""
        if self.weights is None:
            raise ValueError(NEEDS_A_GRADIENT)
        this = self.products.likelihood

        def multiply_shard(k: int, sequences: Sequences, along: Direction, bench: Bench) -> None:
            (first, last), middle, shape = this.shard(k), int(self.middles[k]), this.shape
            multiply_cached(sequences, first, middle, along, bench._replace(block=self.left[k]), *shape)
            multiply_fresh(sequences, middle, last, along, bench, *shape)

        known, all_known = self.edges.sum(axis=0), self.n_kept == this.corpus.n_sequences
        return self.products.multiply_by(multiply_shard, self.weights, direction, 2.0 * self.c2, known, all_known)


def middles_of_shards(likelihood: Likelihood, kept: int | None) -> Longs:
    """Return for each shard the sequence after the last cached one; shards cache equal shares."""
    starts, bounds = likelihood.corpus.starts, likelihood.bounds
    n_bytes = ROWS * BYTES * likelihood.layout.padded * int(starts[-1])
    if kept is None:
        free = free_memory()
        share = 1.0 if free is None else min(1.0, max(SMALL, SHARE * free) / n_bytes)
    else:
        share = min(1.0, kept / likelihood.corpus.n_sequences)
        require_memory(math.ceil(share * n_bytes), f"Caching the inference of {kept} sequences", "cache fewer of them")
    kept_before = np.floor(share * bounds + 1e-9).astype(np.int64)
    middles: Longs = bounds[:-1] + kept_before[1:] - kept_before[:-1]
    return middles
