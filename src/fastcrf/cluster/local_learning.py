"""A starting point for batch solvers that costs one round: each shard trains alone, and the weights are averaged.

Alekh Agarwal, Olivier Chapelle, Miroslav Dudik, John Langford: A reliable effective terascale linear learning system.
Journal of Machine Learning Research 15, 2014.

    shard k minimizes  loss_k(w) + c2 / m |w|^2  for some epochs of sag-nus-star, from 0           (m shards)
    start_f = sum_k n_kf w_kf / sum_k n_kf       n_kf: how often the attribute of feature f occurs in shard k

A shard that never saw a feature has no say in its weight: with plain means, rare features would start near 0. Batch
solvers continue from there to the optimum of the whole, so that only the number of rounds changes, not the result.

Differs from the paper: sag-nus-star in place of adaptive online learning, counts in place of its sums of squared
gradients.
"""

from __future__ import annotations

import numpy as np

from fastcrf.cluster import sums
from fastcrf.cluster.problem import ClusterProblem
from fastcrf.cluster.shard import Shard
from fastcrf.cluster.sums import Part, Traveling
from fastcrf.core.types import Floats
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize


def averaged_start(problem: ClusterProblem, epochs: int, seed: int = 0) -> Floats:
    """Return the mean of the weights that the shards of a cluster learn separately."""
    if problem.c1 > 0.0:
        raise ValueError(f"Shards learn alone under an L2 penalty only, and c1={problem.c1:g}; leave out local epochs.")
    client, c2 = problem.client, problem.c2 / len(problem.shards)
    learnt = [client.submit(learn_alone, each, c2, epochs, seed, pure=False) for each in problem.shards]
    return mean(client.gather(sums.by_tree(learnt, lambda a, b: client.submit(add_both, a, b, pure=False))))


def learn_alone(shard: Shard, c2: float, epochs: int, seed: int) -> tuple[Traveling, Traveling]:
    """Return (n_kf w_kf, n_kf) of a shard."""
    problem = shard.problem.with_penalty(0.0, c2)
    weights = minimize(problem, make("sag-nus-star", seed=seed), stop=[MaxIterations(epochs)]).weights
    n = occurrences(shard)
    return shard.part(0.0, n * weights), shard.part(0.0, n)


def occurrences(shard: Shard) -> Floats:
    """Count the occurrences of each feature's attribute; for a transition, the positions."""
    features, counts = shard.problem.features, np.zeros(shard.features.n_attributes, np.int64)
    for part in shard.corpus.slices():
        counts += np.bincount(part.attributes, minlength=len(counts))
    states = np.repeat(counts, np.diff(features.offsets))
    return np.concatenate((states, np.full(len(features.sources), shard.corpus.n_positions))).astype(np.float64)


def add_both(one: tuple[Traveling, Traveling], other: tuple[Traveling, Traveling]) -> tuple[Traveling, Traveling]:
    return sums.add(one[0], other[0]), sums.add(one[1], other[1])


def mean(total: tuple[Traveling, Traveling]) -> Floats:
    weighted, n = (Part(*each).dense() for each in total)
    return np.divide(weighted, n, out=np.zeros_like(n), where=n > 0.0)
