"""The problem of batch solvers whose shards are on workers.

Each step sends the weights once to every worker; workers add up the gradients in a tree of sums. If a worker is lost,
Dask makes its shards again on another and the step continues. If more is lost (the last copy of the step's weights, or
a shard that the client sent), the client places the shards again and repeats the step. If no worker is left, the run
ends with a `ClusterError`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from fastcrf.cluster import shard, sums
from fastcrf.cluster.connection import ClusterError, import_distributed
from fastcrf.cluster.placement import Place
from fastcrf.cluster.shard import Piece
from fastcrf.cluster.sums import Part
from fastcrf.core.types import FeatureMap, Floats
from fastcrf.decoding.held_out_counts import Counts
from fastcrf.objective.penalized import Penalized
from fastcrf.penalties.regularizer import make_regularizer
from fastcrf.simd.vectors import dot

TRIALS = 3  # of a step, before the cluster is given up


class ClusterProblem(Penalized):
    """Minimize  F(w) = sum_i s_i * -log p(y_i | x_i, w) + c1 |w|_1 + c2 |w|^2  over the shards of a cluster.

    features: options of `choose_features`, or features that were chosen before.
    """

    provides: ClassVar[frozenset[str]] = frozenset({"gradient", "hessian"})

    def __init__(
        self, client: Any, place: Place, n_shards: int, features: dict[str, Any], c1: float = 0.0, c2: float = 0.0
    ) -> None:
        self.client, self.place, self.n_shards, self.options = client, place, n_shards, features
        self.regularizer = make_regularizer(c1, c2)
        self.asked_to_stop: Callable[[], bool] = lambda: False
        self.lost = lost_with_workers()
        self.bytes_sent = self.bytes_received = 0  # of vectors, by the client
        self.times_placed = 0
        self._set_up()
        facts = client.gather([client.submit(shard.facts_of, each, pure=False) for each in self.shards])
        self.n_sequences = sum(n for n, _ in facts)
        self.corpus = tuple(np.frombuffer(digest.encode(), np.uint8) for _, digest in facts)  # what fingerprints need

    def _set_up(self) -> None:
        """Place the shards, and agree on the features; what was there before is let go."""
        client = self.client
        placed = self.place(client, self.n_shards)
        self.times_placed += 1
        self.attributes, self.labels = placed.attributes, placed.labels
        sizes, order = (len(placed.attributes), len(placed.labels)), self.options.get("order", 1)
        counts = [client.submit(shard.counts_of, each, sizes, order, pure=False) for each in placed.corpora]
        self.placed_features = client.submit(shard.features_of, counts, sizes[1], self.options, pure=False)
        self.features: FeatureMap = FeatureMap(*self.placed_features.result())
        self.shards = [client.submit(shard.Shard, each, self.placed_features, pure=False) for each in placed.corpora]

    @property
    def n_jobs(self) -> int:
        """Return the number of shards: like threads, they change the result in the last digits."""
        return len(self.shards)

    def value(self, weights: Floats) -> float:
        """Compute F(w), all penalties included. One pass, forward recursions only."""
        return float(sum(self._ask_all(shard.value_of, weights))) + self.regularizer.value(weights)

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Compute the smooth part, loss + c2 |w|^2, and its gradient (a new array). One pass."""
        total = self._sum(shard.gradient_of, weights)
        return total.loss + self.c2 * dot(weights, weights), total.add_to(2.0 * self.c2 * weights)

    def hessian_product(self, weights: Floats, direction: Floats) -> Floats:
        """Multiply the Hessian of the smooth part at `weights` by `direction` (a new array). One pass."""
        return self._sum(shard.product_of, weights, direction).add_to(2.0 * self.c2 * direction)

    def curvature(self, kept: int | None = None) -> ClusterCurvature:
        """Return the curvature for several products at a point.

        Nothing is cached between them: `kept` is for a problem in one process.
        """
        return ClusterCurvature(self)

    def sparse_bound(self, weights: Floats, largest_slope: float) -> float:
        """Return a lower bound on F* for c2 = 0 < c1. One pass."""
        return float(sum(self._ask_all(shard.bound_of, weights, largest_slope, self.c1)))

    def held_out(self, pieces: list[Piece]) -> ClusterHeldOut:
        """Place held-out data that workers read."""
        return ClusterHeldOut(self, pieces)

    def _sum(self, function: Callable[..., Any], *vectors: Floats) -> Part:
        """Let the workers add up the parts of all shards."""

        def ask(placed: list[Any]) -> Any:
            parts = [self.client.submit(function, each, *placed, pure=False) for each in self.shards]
            return sums.by_tree(parts, lambda one, other: self.client.submit(sums.add, one, other, pure=False))

        total = Part(*self._again_if_lost(ask, vectors))
        self.bytes_received += total.nbytes
        return total

    def _ask_all(self, function: Callable[..., Any], weights: Floats, *more: Any) -> list[Any]:
        """Return a number of each shard."""
        return self._again_if_lost(
            lambda placed: [self.client.submit(function, each, *placed, *more, pure=False) for each in self.shards],
            (weights,),
        )

    def _again_if_lost(self, ask: Callable[[list[Any]], Any], vectors: tuple[Floats, ...]) -> Any:
        """Send the vectors, ask, wait; again if what was sent is lost."""
        for trial in range(1, TRIALS + 1):
            try:
                if trial > 1:
                    time.sleep(trial)  # for workers that are being started again
                    self._set_up()
                placed = [self.client.scatter(np.array(each), broadcast=True, hash=False) for each in vectors]
                self.bytes_sent += sum(each.nbytes for each in vectors)
                return self.client.gather(ask(placed))
            except Exception as loss:
                alive = self.client.status == "running"
                if alive and not isinstance(loss, self.lost):
                    raise
                if trial == TRIALS or not alive:
                    what = "its workers died again and again" if alive else "its scheduler is gone"
                    raise ClusterError(
                        f"The cluster was lost: {what} ({type(loss).__name__}); continue from the last checkpoint "
                        f"elsewhere, with the same number of shards ({self.n_shards})."
                    ) from loss
        raise AssertionError("unreachable")


class ClusterCurvature:
    """The smooth part at the point of the last gradient."""

    def __init__(self, problem: ClusterProblem) -> None:
        self.problem = problem
        self.weights: Floats | None = None

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        self.weights = weights.copy()
        return self.problem.gradient(weights)

    def product(self, direction: Floats) -> Floats:
        if self.weights is None:
            raise ValueError("A Hessian-vector product requires the gradient at the same point first; call gradient.")
        return self.problem.hessian_product(self.weights, direction)


class ClusterHeldOut:
    """Held-out data on the workers, and their scores."""

    def __init__(self, problem: ClusterProblem, pieces: list[Piece]) -> None:
        self.problem, self.pieces = problem, pieces
        self.times_placed = 0
        self.placed: list[Any] = []

    @property
    def corpora(self) -> list[Any]:
        """Return the futures of the held-out data; place them again after the shards were, because they may be lost
        too.
        """
        problem = self.problem
        if self.times_placed != problem.times_placed:
            self.times_placed = problem.times_placed
            names = problem.client.scatter([(problem.attributes, problem.labels)], hash=False)[0]
            self.placed = [problem.client.submit(shard.read_held_out, each, names, pure=False) for each in self.pieces]
        return self.placed

    def counts(self, weights: Floats) -> Counts:
        problem = self.problem
        parts = problem._again_if_lost(
            lambda placed: [
                problem.client.submit(
                    shard.counts_in, each, problem.placed_features, problem.labels, *placed, pure=False
                )
                for each in self.corpora
            ],
            (weights,),
        )
        return Counts(*map(int, np.sum(parts, axis=0)))

    def fingerprint(self) -> str:
        client = self.problem.client
        return "-".join(client.gather([client.submit(shard.digest, each, pure=False) for each in self.corpora]))


def lost_with_workers() -> tuple[type[BaseException], ...]:
    """Return the exceptions that Dask raises when workers or the scheduler are lost."""
    distributed = import_distributed()
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    return distributed.scheduler.KilledWorker, CancelledError, FutureCancelledError, CommClosedError, TimeoutError
