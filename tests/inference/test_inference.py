"""Forward-backward, expectations, entropies and Viterbi against enumeration of all label sequences."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.decoding.compiled_decoder import posteriors, viterbi
from fastcrf.feature_space.feature_map import count_gold
from fastcrf.objective.likelihood import Likelihood
from reference import brute_force
from reference.random_corpora import random_corpus, random_features

COMMON = settings(max_examples=40)


def one_sequence(scores, transitions):
    """A corpus and weights whose label scores and transitions are exactly the given ones."""
    T, K = scores.shape
    corpus = Corpus(
        starts=np.array([0, T]),
        offsets=np.arange(T + 1),
        attributes=np.arange(T, dtype=np.int32),
        values=np.zeros(0),
        labels=np.zeros(T, np.int32),
        weights=np.zeros(0),
    )
    features = FeatureMap(
        offsets=np.arange(T + 1) * K,
        labels=np.tile(np.arange(K, dtype=np.int32), T),
        sources=np.repeat(np.arange(K, dtype=np.int32), K),
        targets=np.tile(np.arange(K, dtype=np.int32), K),
        n_labels=K,
    )
    return corpus, features, np.concatenate((scores.ravel(), transitions.ravel()))


@st.composite
def chains(draw, widest=1e4):
    """Scores and transitions of one short chain, from tame to very wide."""
    K, T = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    scale = draw(st.sampled_from([0.0, 1e-6, 1.0, 30.0, 900.0, widest]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    edge_scale = draw(st.sampled_from([0.0, 1.0, 400.0, widest]))
    return rng.uniform(-1, 1, (T, K)) * scale, rng.uniform(-1, 1, (K, K)) * edge_scale


@COMMON
@given(chains())
@example((np.zeros((5, 2)), np.array([[-310.0, -313.0], [110.0, -366.0]])))  # 2 * 476 is too wide, 476 is not
def test_log_partition_and_marginals_equal_enumeration(chain):
    scores, transitions = chain
    corpus, features, weights = one_sequence(scores, transitions)
    likelihood = Likelihood(corpus, features)
    size = max(1.0, np.abs(weights).max())
    expected_log_z = brute_force.log_partition(scores, transitions)
    nodes, edges = brute_force.marginals(scores, transitions)
    assert likelihood.log_partitions(weights)[0] == pytest.approx(expected_log_z, rel=1e-12, abs=1e-12 * size)
    np.testing.assert_allclose(posteriors(corpus, features, weights), nodes, atol=1e-14 * size)
    _, gradient, square = likelihood.gradient(weights)
    counted = gradient + likelihood.counts
    T, K = scores.shape
    np.testing.assert_allclose(counted[: T * K].reshape(T, K), nodes, atol=1e-14 * size)
    np.testing.assert_allclose(counted[T * K :].reshape(K, K), edges.sum(axis=0), atol=1e-14 * size)
    assert square == pytest.approx(weights @ weights)


@COMMON
@given(chains(widest=50.0))
def test_entropy_and_gold_probability_equal_enumeration(chain):
    scores, transitions = chain
    corpus, features, weights = one_sequence(scores, transitions)
    log_z, expected, gold = Likelihood(corpus, features).sequence_figures(weights)[0]
    assert log_z - expected == pytest.approx(brute_force.entropy(scores, transitions), abs=1e-8)
    assert gold == pytest.approx(brute_force.path_score(scores, transitions, corpus.labels), abs=1e-10)


@COMMON
@given(chains())
@example((np.zeros((4, 3)), np.zeros((3, 3))))
def test_viterbi_finds_the_best_path_and_breaks_ties_by_the_lowest_label(chain):
    scores, transitions = np.round(chain[0]), np.round(chain[1])  # whole numbers: equal scores are really equal
    corpus, features, weights = one_sequence(scores, transitions)
    assert tuple(viterbi(corpus, features, weights)) == brute_force.best_path(scores, transitions)


def test_a_path_that_needs_a_forbidden_looking_transition_is_not_lost():
    """Each step kills label 0 by 300, each way to label 1 costs 800: scaled probabilities alone would lose label 1."""
    scores = np.array([[0.0, -800.0]] + [[-300.0, 0.0]] * 4)
    transitions = np.array([[0.0, -800.0], [-800.0, 0.0]])
    corpus, features, weights = one_sequence(scores, transitions)
    expected = brute_force.log_partition(scores, transitions)
    assert Likelihood(corpus, features).log_partitions(weights)[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("length", [1, 2, 511, 512, 513, 100_000])
def test_uniform_chains_of_any_length(length):
    K = 3
    corpus, features, weights = one_sequence(np.full((length, K), 7.5), np.full((K, K), -2.0))
    likelihood = Likelihood(corpus, features)
    log_z = length * (np.log(K) + 7.5) - 2.0 * (length - 1)
    assert likelihood.log_partitions(weights)[0] == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(posteriors(corpus, features, weights), 1 / K, rtol=1e-9)
    _, gradient, _ = likelihood.gradient(weights)
    counted = (gradient + likelihood.counts)[length * K :]
    np.testing.assert_allclose(counted, (length - 1) / K**2, rtol=1e-9)


def test_a_long_chain_of_wide_scores_without_transitions_is_a_product_of_positions():
    """In the log domain, where what is carried from step to step must stay near 0 for thousands of them."""
    scores = np.random.default_rng(0).uniform(-900, 900, (3000, 3))
    corpus, features, weights = one_sequence(scores, np.zeros((3, 3)))
    nodes = np.exp(scores - scores.max(axis=1, keepdims=True))
    nodes /= nodes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posteriors(corpus, features, weights), nodes, atol=1e-9)
    _, gradient, _ = Likelihood(corpus, features).gradient(weights)
    steps = np.einsum("tj,tk->jk", nodes[:-1], nodes[1:])
    counts = np.concatenate((nodes.ravel(), steps.ravel()))
    np.testing.assert_allclose(gradient, counts - count_gold(corpus, features), atol=1e-6)


@COMMON
@given(
    seed=st.integers(0, 2**32),
    n_labels=st.sampled_from([1, 2, 3, 4]),
    values=st.booleans(),
    weighted=st.booleans(),
    n_jobs=st.sampled_from([1, 2, 3]),
)
def test_loss_and_gradient_of_a_corpus_equal_enumeration_and_finite_differences(
    seed, n_labels, values, weighted, n_jobs
):
    corpus = random_corpus(seed, n_labels=n_labels, values=values, weights=weighted)
    features = random_features(seed, n_labels=n_labels)
    weights = np.random.default_rng(seed).normal(size=features.n_weights)
    likelihood = Likelihood(corpus, features, n_jobs)
    loss, gradient, _ = likelihood.gradient(weights)
    assert loss == pytest.approx(brute_force.loss(corpus, features, weights), rel=1e-11, abs=1e-11)
    assert likelihood.value(weights) == pytest.approx(loss, rel=1e-12, abs=1e-12)
    direction = np.random.default_rng(seed + 1).normal(size=features.n_weights)
    step = 1e-5
    ahead, behind = (brute_force.loss(corpus, features, weights + s * direction) for s in (step, -step))
    assert gradient @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("n_labels", [9, 60])
def test_rows_in_several_panels_and_padding_give_the_same_gradient_as_single_cells(n_labels):
    """K = 9 pads one panel, K = 60 takes two; attributes are dense rows here and posteriors come from plain scores."""
    corpus = random_corpus(5, lengths=(2, 3, 1), n_labels=n_labels)
    features = random_features(5, n_labels=n_labels, density=0.7)
    weights = np.random.default_rng(5).normal(size=features.n_weights)
    likelihood = Likelihood(corpus, features)
    assert likelihood.layout.n_rows > 0
    loss, gradient, _ = likelihood.gradient(weights)
    probabilities = posteriors(corpus, features, weights)
    expected = np.zeros((features.n_attributes, n_labels))
    for p in range(corpus.n_positions):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            expected[corpus.attributes[o]] += probabilities[p]
    attribute = np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))
    counted = (gradient + likelihood.counts)[: features.n_state]
    np.testing.assert_allclose(counted, expected[attribute, features.labels], atol=1e-12)
    assert loss == pytest.approx(likelihood.value(weights), rel=1e-12)


def test_same_number_of_threads_gives_the_same_bits():
    corpus = random_corpus(11, lengths=(5, 3, 9, 2, 7, 4))
    features = random_features(11)
    weights = np.random.default_rng(0).normal(size=features.n_weights)
    first = Likelihood(corpus, features, n_jobs=3)
    again = Likelihood(corpus, features, n_jobs=3)
    for _ in range(3):
        (loss, gradient, _), (loss2, gradient2, _) = first.gradient(weights), again.gradient(weights)
        assert loss == loss2
        np.testing.assert_array_equal(gradient, gradient2)
