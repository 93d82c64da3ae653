"""Hessian-vector products of the loss of chains of higher order, without a cache (higher_order/tangents.py)."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Corpus, Floats, Longs
from fastcrf.decoding.plain_decoder import Steps, backward, forward, make_steps, near_zero, position_scores
from fastcrf.feature_space.label_contexts import and_for_shorter, make_tree
from fastcrf.feature_space.layout import expand_weights
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.higher_order.tangents import (
    ContextBench,
    make_context_change,
    make_context_direction,
    multiply_sequences,
)
from fastcrf.objective.likelihood import Likelihood, split
from fastcrf.simd.widths import aligned_zeros


class ContextProducts:
    """Hessian-vector products at any point."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood, layout, n_jobs = likelihood, likelihood.layout, likelihood.n_jobs
        self.tree = make_tree(layout.contexts, layout.n_labels)
        longest = len(likelihood.lattices[0].scores)
        self.changes = [make_context_change(longest, self.tree, layout.padded) for _ in range(n_jobs)]
        self.at_point = np.zeros((n_jobs, *layout.edge_shape))
        self.flat = aligned_zeros(1, layout.table_size)[0]
        self.nothing = np.zeros(likelihood.features.n_weights)
        self.all = np.arange(likelihood.corpus.n_sequences)

    def product(self, weights: Floats, direction: Floats, ridge: float = 0.0) -> Floats:
        """Return (Hessian at `weights` + ridge I) direction."""
        return self.product_of_some(weights, direction, self.all, ridge)

    def product_of_some(self, weights: Floats, direction: Floats, chosen: Longs, ridge: float = 0.0) -> Floats:
        """Return the product for the loss of some sequences, in any order and with repetitions."""
        this, workspace, absolute = self.likelihood, self.likelihood.workspace(), self.likelihood.absolute(weights)
        wide, n = np.zeros(this.corpus.n_sequences, np.bool_), len(chosen)

        def prepare(k: int) -> None:
            workspace.clear(k)
            self.at_point[k] = 0.0
            expand_weights(absolute, this.layout.place, *this.weight_range(k), this.flat)
            expand_weights(direction, this.layout.place, *this.weight_range(k), self.flat)

        def multiply(k: int) -> None:
            share = chosen, n * k // this.n_jobs, n * (k + 1) // this.n_jobs
            bench = ContextBench(this.lattices[k], self.changes[k], self.at_point[k], workspace.expected[k], wide)
            multiply_sequences(sequences, *share, along, bench, this.layout.n_labels, this.lanes)

        this.on_threads(prepare)
        edges = this.edges(absolute)
        sequences = this.sequences(edges)
        table, scores = split(this.layout, self.flat), transition_matrix(this.features, direction)
        along = make_context_direction(table, scores, edges, self.tree)
        this.on_threads(multiply)
        changed = workspace.edge_sums[:, 0].sum(axis=0) * edges.forward
        changed += along.forward * self.at_point.sum(axis=0)
        product = this.collect(and_for_shorter(changed, self.tree), self.nothing, direction, ridge)[0]
        for i in chosen[wide[chosen]].tolist():
            product += self.wide_product(absolute, direction, i)
        return product

    def wide_product(self, weights: Floats, direction: Floats, i: int) -> Floats:
        """Return the product for one sequence with a large score range."""
        this, corpus = self.likelihood, self.likelihood.corpus.slice_of(i, i + 1)
        features = this.features
        of_point, of_direction = (
            (position_scores(corpus, features, w), make_steps(features, w)) for w in (weights, direction)
        )
        nodes, steps = covariances(*of_point, *of_direction)
        changed = and_for_shorter(np.sum(steps, axis=0), self.tree) if steps else np.zeros(of_point[1].scores.shape)
        product = state_sums(corpus, features.offsets, features.labels, nodes)
        edges = changed[this.layout.rows_of(features), features.targets]
        weight = float(corpus.weights[0]) if len(corpus.weights) else 1.0
        return weight * np.concatenate((product, edges))


def state_sums(corpus: Corpus, offsets: Longs, labels: np.ndarray, nodes: Floats) -> Floats:
    """Sum quantities of labels [P, K], times values, by state feature."""
    sums = np.zeros(len(labels))
    for p, row in enumerate(nodes):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            held = slice(offsets[corpus.attributes[o]], offsets[corpus.attributes[o] + 1])
            sums[held] += row[labels[held]] * (corpus.values[o] if len(corpus.values) else 1.0)
    return sums


Tables = tuple[Floats, list[Floats]]  # [T, K] of the labels at each position, and of the steps to each but the first


def covariances(scores: Floats, steps: Steps, slopes: Floats, step_slopes: Steps) -> Tables:
    """Return the covariance of each label at each position, and of each step, with the score of a label sequence along
    r.
    """
    assert steps.tree is not None  # of a chain of higher order
    last, following = steps.tree.last, steps.tree.following
    own, _, near = near_zero(scores, steps)
    alpha, totals = forward(own, near)
    beta = backward(own, near, totals)
    chances = [
        normalized(alpha[t - 1][:, None] + near.scores + (own[t] + beta[t][following])) for t in range(1, len(own))
    ]
    A, B = [np.append(slopes[0], np.zeros(len(last) - len(slopes[0])))], [np.zeros(len(last))]
    for t, p in enumerate(chances, 1):
        score = A[-1][:, None] + step_slopes.scores
        A.append(mean_of(arriving(p * score, following), arriving(p, following)) + slopes[t, last])
    for t in range(len(chances), 0, -1):
        p, ahead = chances[t - 1], step_slopes.scores + (slopes[t] + B[-1][following])
        B.append(mean_of((p * ahead).sum(axis=1), p.sum(axis=1)))
    B.reverse()
    mean = float((normalized(alpha[-1] + beta[-1]) * A[-1]).sum())
    moved = [normalized(alpha[t] + beta[t]) * (A[t] + B[t] - mean) for t in range(len(own))]
    moved_steps = [
        p * (A[t - 1][:, None] + step_slopes.scores + (slopes[t] + B[t][following]) - mean)
        for t, p in enumerate(chances, 1)
    ]
    return steps.by_label(np.array(moved)), moved_steps


def arriving(values: Floats, following: Longs) -> Floats:
    """Sum values of steps [S, K] by their target state, [S]."""
    return np.bincount(following.ravel(), values.ravel(), len(following)).astype(np.float64, copy=False)


def normalized(logs: Floats) -> Floats:
    chances = np.exp(logs - logs.max())
    found: Floats = chances / chances.sum()
    return found


def mean_of(sums: Floats, chances: Floats) -> Floats:
    """Return the mean, or 0 if all probabilities have underflowed, because nothing depends on it then."""
    return sums / np.where(chances > 0.0, chances, 1.0)
