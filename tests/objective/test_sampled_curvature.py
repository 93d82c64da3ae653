"""Curvature from label sequences drawn from the model, against enumeration of all label sequences."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from fastcrf.core.types import Corpus
from fastcrf.data.corpus.reordering import reorder
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.merging import merge_equal
from fastcrf.objective.problem import Problem
from fastcrf.objective.sampled import sampled_curvature
from fastcrf.system import mapped_arrays as mapped
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import random_corpus, random_features

LENGTHS = (3, 1, 4, 2)
COPIES = 400
MANY = 10**9  # samples: as many pairs as there may be
SEED = [7, 0]


def point(problem, seed=0, spread=1.0):
    return spread * np.random.default_rng(seed).normal(size=problem.n_weights)


def many_times(corpus):
    """The corpus COPIES times: so many independent pairs of draws."""
    return reorder(corpus, np.tile(np.arange(corpus.n_sequences), COPIES))


def exact_hessian(corpus, features, weights):
    loss = EnumeratedLoss(corpus, features)
    return sum(loss.hessian(i, weights) for i in range(corpus.n_sequences))


@pytest.mark.parametrize("options", [{}, {"values": True}, {"weights": True}], ids=["plain", "values", "weights"])
def test_the_expectation_of_the_block_is_the_hessian(options):
    corpus, features = random_corpus(0, lengths=LENGTHS, **options), random_features(0)
    problem = Problem(many_times(corpus), features, n_jobs=2)
    weights, everything = point(problem), np.arange(problem.n_weights)
    sampled = problem.sampled_curvature(weights, SEED)
    found = sampled.block(everything, MANY) / COPIES
    expected = exact_hessian(corpus, features, weights)
    assert len(sampled.labels) == 2 * sampled_curvature.MOST_PAIRS
    n = COPIES * sampled_curvature.MOST_PAIRS
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected))) + 1e-12
    assert np.abs(found - expected).max() / scale.max() < 8.0 / np.sqrt(n)
    assert (np.abs(found - expected) / scale)[expected != 0.0].max() < 40.0 / np.sqrt(n)
    for k in (0, 5, len(everything) - 1):
        product_of_unit = problem.hessian_product(weights, np.eye(problem.n_weights)[k]) / COPIES
        np.testing.assert_allclose(product_of_unit, expected[k], atol=1e-10)


def test_a_block_of_some_weights_is_a_part_of_the_whole_block():
    problem = Problem(random_corpus(1, lengths=(5, 4, 6), weights=True), random_features(1), n_jobs=2)
    sampled = problem.sampled_curvature(point(problem), SEED)
    whole, some = sampled.block(np.arange(problem.n_weights), 20), np.array([0, 3, 4, problem.n_weights - 2])
    again = problem.sampled_curvature(point(problem), SEED)
    np.testing.assert_allclose(again.block(some, 20), whole[np.ix_(some, some)], rtol=1e-12)


def test_a_block_that_would_take_too_many_products_is_not_made():
    corpus = random_corpus(1, lengths=(5, 4, 6))
    problem = Problem(corpus, random_features(1))
    chosen = np.arange(problem.n_weights)
    found = problem.sampled_curvature(point(problem), SEED)
    assert found.block(chosen, 20, most_products=1.0) is None
    differ = found.labels[0] != found.labels[1]
    attributes = [np.diff(corpus.offsets)[a:b][differ[a:b]].sum() for a, b in pairwise(corpus.starts)]
    needed = sum(min(2 * n, len(chosen)) ** 2 for n in attributes) / 2 * len(found.labels) / 2
    for most, is_made in ((0.99 * needed, False), (needed, True)):
        again = problem.sampled_curvature(point(problem), SEED)
        assert (again.block(chosen, 20, most_products=most) is not None) == is_made


@pytest.mark.parametrize("values", [False, True])
def test_the_block_is_the_mean_of_products_of_differences(values):
    corpus, features = random_corpus(2, lengths=LENGTHS, values=values, weights=True), random_features(2)
    problem = Problem(corpus, features)
    sampled = problem.sampled_curvature(point(problem), SEED)
    found, expected = sampled.block(np.arange(problem.n_weights), MANY), np.zeros((problem.n_weights,) * 2)
    for n, i in product(range(0, len(sampled.labels), 2), range(corpus.n_sequences)):
        c = features_of(corpus, features, sampled.labels[n], i) - features_of(
            corpus, features, sampled.labels[n + 1], i
        )
        expected += corpus.weights[i] * np.outer(c, c) / len(sampled.labels)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def features_of(corpus: Corpus, features, labels, i):
    """f(x_i, y), feature by feature."""
    total = np.zeros(features.n_weights)
    for t in range(corpus.starts[i], corpus.starts[i + 1]):
        for o in range(corpus.offsets[t], corpus.offsets[t + 1]):
            a = corpus.attributes[o]
            for f in range(features.offsets[a], features.offsets[a + 1]):
                if features.labels[f] == labels[t]:
                    total[f] += corpus.values[o] if len(corpus.values) else 1.0
        if t > corpus.starts[i]:
            for e, (source, target) in enumerate(zip(features.sources, features.targets, strict=True)):
                if (source, target) == (labels[t - 1], labels[t]):
                    total[features.n_state + e] += 1.0
    return total


@pytest.mark.parametrize("options", [{}, {"values": True, "weights": True}], ids=["plain", "values and weights"])
def test_variances_are_those_of_single_positions(options):
    """The Hessian of single positions with the marginals of the chain has this diagonal."""
    corpus, features = random_corpus(3, lengths=LENGTHS, **options), random_features(3)
    problem = Problem(corpus, features, n_jobs=2)
    weights, loss = point(problem), EnumeratedLoss(corpus, features)
    expected = np.zeros(problem.n_weights)
    for i in range(corpus.n_sequences):
        paths = list(product(range(features.n_labels), repeat=int(np.diff(corpus.starts)[i])))
        p = loss.probabilities(i, weights)
        expected[features.n_state :] += loss.weights[i] * (p @ loss.counts[i])[features.n_state :]
        for t, k in product(range(len(paths[0])), range(features.n_labels)):
            marginal = sum(q for q, path in zip(p, paths, strict=True) if path[t] == k)
            place = corpus.starts[i] + t
            for o in range(corpus.offsets[place], corpus.offsets[place + 1]):
                a, x = corpus.attributes[o], corpus.values[o] if len(corpus.values) else 1.0
                for f in range(features.offsets[a], features.offsets[a + 1]):
                    if features.labels[f] == k:
                        expected[f] += loss.weights[i] * x * x * marginal * (1.0 - marginal)
    found = problem.sampled_curvature(weights, SEED)
    np.testing.assert_allclose(found.variances, expected, rtol=1e-9, atol=1e-12)


def test_draws_depend_on_the_seed_and_not_on_the_number_of_threads():
    corpus, features = random_corpus(4, lengths=(5, 3, 4, 6)), random_features(4)
    alone, threads = Problem(corpus, features, n_jobs=1), Problem(corpus, features, n_jobs=3)
    weights, everything = point(alone), np.arange(alone.n_weights)
    first, again, other = (
        (sampled.block(everything, 8), sampled.labels)
        for sampled in (
            alone.sampled_curvature(weights, SEED),
            threads.sampled_curvature(weights, SEED),
            alone.sampled_curvature(weights, [7, 1]),
        )
    )
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert (first[1] != other[1]).any()


def test_merged_attributes_have_the_curvature_in_their_own_variables():
    corpus = random_corpus(5, lengths=(4, 3, 5), n_attributes=3)
    corpus = corpus._replace(  # each attribute twice
        offsets=2 * corpus.offsets, attributes=np.stack((corpus.attributes, corpus.attributes + 3), 1).ravel()
    )
    half = random_features(5, n_attributes=3)
    features = half._replace(
        offsets=np.concatenate((half.offsets, half.n_state + half.offsets[1:])), labels=np.tile(half.labels, 2)
    )
    merging = merge_equal(corpus, features)
    merged = MergedProblem(merging, features, 0.0, 0.1)
    weights = point(merged)
    found, everything = merged.sampled_curvature(weights, SEED), np.arange(merged.n_weights)
    plain = Problem(merging.corpus, merging.features).sampled_curvature(merging.roots * weights, SEED)
    np.testing.assert_allclose(found.variances, merging.roots**2 * plain.variances)
    np.testing.assert_allclose(
        found.block(everything, MANY), np.outer(merging.roots, merging.roots) * plain.block(everything, MANY)
    )


def test_where_the_model_is_certain_more_pairs_are_drawn():
    problem = Problem(random_corpus(6, lengths=(3,) * 40), random_features(6, density=1.0))
    unsure, sure = (problem.sampled_curvature(w, SEED) for w in (np.zeros(problem.n_weights), point(problem, 0, 6.0)))
    assert unsure.passes == sure.passes == 1
    for sampled in (unsure, sure):
        sampled.block(np.arange(3), 100)
    assert (unsure.passes, sure.passes) == (2, 3)
    assert len(sure.labels) > len(unsure.labels)


def test_a_sequence_with_a_large_score_range_is_left_out():
    corpus, features = random_corpus(7, lengths=(3, 4)), random_features(7, density=1.0)
    problem = Problem(corpus, features)
    found = problem.sampled_curvature(point(problem, spread=1000.0), SEED)
    np.testing.assert_array_equal(found.block(np.arange(4), 8), 0.0)
    np.testing.assert_array_equal(found.variances, 0.0)
    assert not found.labels.any()


def test_there_is_none_for_higher_orders_and_mapped_data(monkeypatch, tmp_path):
    features = random_features(8, order=2)
    problem = Problem(random_corpus(8, lengths=(3, 4)), features)
    assert problem.sampled_curvature(np.zeros(problem.n_weights), SEED) is None
    plain = Problem(random_corpus(8, lengths=(3, 4)), random_features(8))
    assert plain.sampled_curvature(np.zeros(plain.n_weights), SEED) is not None
    monkeypatch.setattr(sampled_curvature, "folder_of", lambda array: tmp_path)
    assert mapped.folder_of(plain.corpus.attributes) is None
    assert plain.sampled_curvature(np.zeros(plain.n_weights), SEED) is None
