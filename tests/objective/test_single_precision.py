"""Gradients in single precision: nearly those in double precision whatever scores are, and exact where they must."""

import numpy as np
import pytest

from fastcrf.core.types import Corpus
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.merging import merge_equal
from fastcrf.objective.problem import Problem
from fastcrf.objective.single_precision import SinglePrecisionLikelihood
from reference.random_corpora import random_corpus, random_features

LENGTHS = [3, 1, 5, 2, 40, 4, 2, 6] * 20


def problem_of(n_labels=3, n_jobs=1, prior=None, **options):
    corpus = random_corpus(1, lengths=LENGTHS, n_labels=n_labels, **options)
    return Problem(corpus, random_features(1, n_labels), 0.0, 0.2, n_jobs, prior)


def weights_of(problem, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).normal(size=problem.n_weights)


def assert_close(problem, weights):
    """Values within 1e-6 of themselves, gradients within some roundings of each sequence's share."""
    (value, gradient), (rough_value, rough_gradient) = (
        problem.gradient(weights),
        problem.in_single_precision().gradient(weights),
    )
    assert rough_value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(rough_gradient, gradient, rtol=1e-5, atol=3e-7 * problem.corpus.n_positions)
    assert not np.array_equal(rough_gradient, gradient)  # it was in single precision


@pytest.mark.parametrize("n_labels", [3, 9, 22])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_gradients_are_nearly_the_exact_ones(n_labels, n_jobs):
    problem = problem_of(n_labels, n_jobs)
    for scale in (0.0, 0.3, 3.0):
        assert_close(problem, weights_of(problem, scale))


def test_values_weights_of_sequences_and_a_prior_count():
    problem = problem_of(values=True, weights=True)
    assert_close(problem, weights_of(problem))
    problem = problem_of(prior=weights_of(problem, seed=5))
    assert_close(problem, weights_of(problem))


def test_merged_attributes_have_a_rough_gradient_as_well():
    corpus = random_corpus(3, lengths=LENGTHS)
    twice = corpus._replace(
        offsets=2 * corpus.offsets,
        attributes=np.repeat(2 * corpus.attributes, 2) + np.tile([0, 1], len(corpus.attributes)),
    )
    features = random_features(3, density=1.0)
    twin = np.repeat(np.arange(features.n_attributes), 2)
    sizes = np.diff(features.offsets)[twin]
    whole = features._replace(
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        labels=np.concatenate([features.labels[features.offsets[a] : features.offsets[a + 1]] for a in twin]),
    )
    merging = merge_equal(twice, whole)
    problem = MergedProblem(merging, whole, 0.0, 0.2)
    assert_close(problem, weights_of(problem))


@pytest.mark.parametrize("spread", [60.0, 200.0, 1000.0])
@pytest.mark.parametrize("of_transitions", [1.0, 29.0])
def test_label_scores_may_be_as_wide_as_they_like(spread, of_transitions):
    """What singles cannot hold has no posterior that they could show; beyond 300 both go through the log domain."""
    problem = problem_of(9, per_item=2)
    weights, state = weights_of(problem), problem.features.n_state
    weights[:state] *= spread / np.ptp(weights[:state])
    weights[state:] *= of_transitions / np.ptp(np.append(weights[state:], 0.0))
    (value, gradient), (rough_value, rough_gradient) = (
        problem.gradient(weights),
        problem.in_single_precision().gradient(weights),
    )
    assert rough_value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(rough_gradient, gradient, rtol=1e-4, atol=1e-7 * spread * problem.corpus.n_positions)


def test_where_transitions_are_too_wide_it_is_the_exact_gradient():
    problem = problem_of()
    weights = weights_of(problem, 0.1)
    for size in (40.0, 400.0):
        weights[-1] = size
        np.testing.assert_array_equal(problem.in_single_precision().gradient(weights)[1], problem.gradient(weights)[1])
    weights[-1] = 25.0
    assert_close(problem, weights)


def test_what_is_nearly_certain_leaves_its_small_residuals():
    """Posteriors within 1e-5 of 0 or 1: sums of ones in single precision would lose what the gradient is made of."""
    n, n_labels = 12_000, 3
    labels = np.arange(n, dtype=np.int32) % n_labels
    corpus = Corpus(np.arange(0, n + 1, 4), np.arange(n + 1), labels, np.zeros(0), labels, np.zeros(0))
    problem = Problem(corpus, random_features(2, n_labels, n_attributes=n_labels, density=1.0))
    weights = np.concatenate((12.0 * np.eye(n_labels).ravel(), np.zeros(n_labels**2)))
    assert np.abs(problem.gradient(weights)[1]).max() < 0.1  # of 4,000 times each
    exact, rough = (p.gradient(weights)[1][: n_labels**2] for p in (problem, problem.in_single_precision()))
    np.testing.assert_allclose(rough, exact, rtol=0.02)


def test_it_repeats_itself_and_leaves_nothing_behind():
    problem = problem_of()
    rough, weights = problem.in_single_precision(), weights_of(problem)
    first = rough.gradient(weights)
    rough.gradient(3.0 * weights)
    problem.gradient(weights)
    again = rough.gradient(weights)
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1], again[1])


def test_large_values_are_evaluated_exactly():
    corpus = problem_of(values=True).corpus
    corpus.values[3] = -1e5
    problem = Problem(corpus, random_features(1), 0.0, 0.2)
    assert problem.in_single_precision() is problem


def test_a_chain_of_higher_order_is_evaluated_exactly():
    problem = Problem(random_corpus(1, lengths=LENGTHS), random_features(1, order=2), 0.0, 0.2)
    assert problem.in_single_precision() is problem
    assert isinstance(problem_of().in_single_precision().likelihood, SinglePrecisionLikelihood)
