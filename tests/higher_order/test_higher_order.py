"""Chains of order 2 and 3 against enumeration: features, log Z, gradients, entropies, decoding, tame and very wide."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from scipy.special import logsumexp

from fastcrf.decoding import compiled_decoder as decode
from fastcrf.decoding import decoder_choice as decoder_choice
from fastcrf.decoding import plain_decoder as plain_decoder
from fastcrf.feature_space.feature_map import build_feature_map, count_gold
from fastcrf.feature_space.label_contexts import (
    check_labels,
    check_order,
    context_of,
    known_contexts,
    labels_of,
    make_tree,
    n_contexts,
    renumbered,
)
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.higher_order.expectations import best_labeling_of_contexts, make_context_edges, make_context_lattice
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.problem import Problem
from fastcrf.simd.widths import choose_width
from reference import brute_force
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import random_corpus, random_features

SCALES = [0.0, 1.0, 40.0, 3000.0]  # the last two are too wide for the probability domain
SOME = settings(max_examples=15)


@st.composite
def chains(draw, scales=SCALES):
    """(corpus, features, weights) of a few short sequences."""
    seed, K = draw(st.integers(0, 2**32)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 5 if K < 4 else 4), min_size=1, max_size=3))
    corpus = random_corpus(seed, lengths=tuple(lengths), n_labels=K, values=draw(st.booleans()), weights=True)
    order, density = draw(st.sampled_from([2, 3])), draw(st.sampled_from([0.1, 0.5, 1.0]))
    features = random_features(seed, n_labels=K, order=order, density=density)
    scale = draw(st.sampled_from(scales))
    return corpus, features, scale * np.random.default_rng(seed).uniform(-1, 1, features.n_weights)


def of_sequences(corpus, features, weights):
    """(label scores, transitions, gold labels) of each sequence."""
    transitions = brute_force.transition_scores(features, weights)
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        yield brute_force.label_scores(corpus, features, weights, i), transitions, corpus.labels[first:last].tolist()


@SOME
@given(chains())
def test_log_partitions_and_expected_counts_equal_enumeration(chain):
    corpus, features, weights = chain
    likelihood, size = Likelihood(corpus, features), max(1.0, np.abs(weights).max(initial=0.0))
    expected = [brute_force.log_partition(*each[:2]) for each in of_sequences(*chain)]
    np.testing.assert_allclose(likelihood.log_partitions(weights), expected, rtol=1e-12, atol=1e-12 * size)
    loss, gradient, _ = likelihood.gradient(weights)
    enumerated = EnumeratedLoss(corpus, features)
    of_each = range(corpus.n_sequences)
    atol = 1e-13 * size * max(1.0, np.abs(corpus.values).max(initial=1.0)) * corpus.n_positions
    np.testing.assert_allclose(gradient, sum(enumerated.gradient(i, weights) for i in of_each), atol=10 * atol)
    assert loss == pytest.approx(sum(enumerated.value(i, weights) for i in of_each), abs=1e-11 * size)


def log_partition_of_order_two(scores, transitions):
    """By recursion over label pairs in the log domain: for sequences that are too long to enumerate."""
    T, K = scores.shape
    pairs = np.array([[transitions.get((j, k), 0.0) for k in range(K)] for j in range(K)])
    triples = np.array([[[transitions.get((i, j, k), 0.0) for k in range(K)] for j in range(K)] for i in range(K)])
    alpha = scores[0][:, None] + pairs + scores[1]
    for t in range(2, T):
        alpha = logsumexp(alpha[:, :, None] + triples + pairs[None], axis=0) + scores[t]
    return float(logsumexp(alpha))


@pytest.mark.parametrize("spread", [0.5, 3.0])
@pytest.mark.parametrize("length", [3, 40, 400, 3000])
def test_the_log_partition_of_a_long_sequence_equals_a_recursion_in_the_log_domain(length, spread):
    """Products of 3,000 factors leave the range of doubles, so that they are rescaled on the way."""
    corpus = random_corpus(3, lengths=(length,), n_labels=3)
    features = random_features(3, n_labels=3, order=2, density=1.0)
    weights = spread * np.random.default_rng(length).uniform(-1, 1, features.n_weights)
    (found,) = Likelihood(corpus, features).log_partitions(weights)
    scores, transitions, _ = next(of_sequences(corpus, features, weights))
    expected = log_partition_of_order_two(np.asarray(scores), transitions)
    assert found == pytest.approx(expected, rel=1e-12)


@SOME
@given(chains())
def test_products_with_the_hessian_equal_enumeration(chain):
    corpus, features, weights = chain
    size = max(1.0, np.abs(weights).max(initial=0.0))
    problem, enumerated = Problem(corpus, features, c2=0.5), EnumeratedLoss(corpus, features)
    direction = np.random.default_rng(1).normal(size=features.n_weights)
    hessians = [enumerated.hessian(i, weights) for i in range(corpus.n_sequences)]
    atol = 1e-11 * size * max(1.0, np.abs(corpus.values).max(initial=1.0)) ** 2 * corpus.n_positions**2
    found = problem.hessian_product(weights, direction)
    np.testing.assert_allclose(found, sum(hessians) @ direction + direction, atol=atol)
    point = problem.curvature()
    assert point.gradient(weights)[0] == problem.gradient(weights)[0]
    np.testing.assert_array_equal(point.product(direction), found)
    some = np.array([0, corpus.n_sequences - 1, 0])
    found = problem.sequence_hessian_product(weights, direction, some)
    np.testing.assert_allclose(found, sum(hessians[i] for i in some) @ direction, atol=atol)


@SOME
@given(chains(scales=[0.0, 1.0, 20.0]))
def test_entropy_and_gold_score_equal_enumeration(chain):
    corpus, features, weights = chain
    figures = Likelihood(corpus, features).sequence_figures(weights)
    for (log_z, expected, gold), (scores, transitions, labels) in zip(figures, of_sequences(*chain), strict=True):
        assert log_z - expected == pytest.approx(brute_force.entropy(scores, transitions), abs=1e-8)
        assert gold == pytest.approx(brute_force.path_score(scores, transitions, labels), abs=1e-9)


@SOME
@given(chains())
def test_decoding_equals_enumeration_in_either_way(chain):
    corpus, features, weights = chain
    size = max(1.0, np.abs(weights).max(initial=0.0))
    paths = [brute_force.path_score(*each) for each in of_sequences(*chain)]
    for decoder in (decode, plain_decoder):
        found, log_z = decoder.infer_corpus(corpus, features, weights)
        labels = decoder.viterbi(corpus, features, weights)
        scores = decoder.path_scores(corpus, features, weights, corpus.labels)
        np.testing.assert_allclose(scores, paths, rtol=1e-12, atol=1e-10 * size)
        for i, (U, transitions, _) in enumerate(of_sequences(*chain)):
            held = slice(corpus.starts[i], corpus.starts[i + 1])
            nodes, _ = brute_force.marginals(U, transitions)
            np.testing.assert_allclose(found[held], nodes, atol=1e-12 * size)
            assert log_z[i] == pytest.approx(brute_force.log_partition(U, transitions), rel=1e-12, abs=1e-12 * size)
            best = brute_force.path_score(U, transitions, labels[held].tolist())
            highest = brute_force.path_score(U, transitions, brute_force.best_path(U, transitions))
            assert best == pytest.approx(highest, rel=1e-13, abs=1e-12)


def test_ties_go_to_the_lowest_labels():
    corpus = random_corpus(1, lengths=(5, 2, 1))
    for features in (random_features(1, order=2), random_features(2, order=3, density=0.2)):
        for decoder in (decode, plain_decoder):
            assert not decoder.viterbi(corpus, features, np.zeros(features.n_weights)).any()


@SOME
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.sampled_from([1.0, 1e9]), st.booleans())
def test_solvers_that_decode_find_the_best_of_all_paths(seed, T, K, size, whole):
    """Whole numbers make ties; large ones must not swallow differences."""
    rng = np.random.default_rng(seed)
    draw = (
        (lambda *shape: rng.integers(-1, 2, shape).astype(float)) if whole else (lambda *shape: rng.normal(size=shape))
    )
    width, padded = choose_width(K)
    features = random_features(seed, n_labels=K, order=2 + seed % 2, density=rng.choice([0.3, 1.0]))
    weights, scores = draw(features.n_weights), draw(T, K)
    transitions, tree = brute_force.transition_scores(features, weights), make_tree(known_contexts(features), K)
    lattice, labels = make_context_lattice(T, tree, padded), np.zeros(T, np.int32)
    lattice.scores[:, :K], lattice.scores[:, K:] = scores + size, -1e300
    edges = make_context_edges(transition_matrix(features, weights), tree, padded)
    best_labeling_of_contexts(edges, lattice, np.int64(K), labels, (0,) * width)
    wanted = brute_force.best_path(scores, transitions)
    assert tuple(labels.tolist()) == wanted or size > 1.0  # large scores round ties away
    found = brute_force.path_score(scores, transitions, labels.tolist())
    assert found == pytest.approx(brute_force.path_score(scores, transitions, wanted), abs=1e-12 + 1e-15 * T * size)


@SOME
@given(chains(scales=[1.0]), st.data())
def test_spans_and_whole_labelings_have_the_probability_of_enumeration(chain, data):
    corpus, features, weights = chain
    spans, expected, chances = [], [], []
    for scores, transitions, labels in of_sequences(*chain):
        T = len(labels)
        ends = data.draw(st.lists(st.tuples(st.integers(0, T - 1), st.integers(1, T)), max_size=3))
        spans.append([(first, max(last, first + 1)) for first, last in ends])
        log_z = brute_force.log_partition(scores, transitions)
        p = {
            path: np.exp(brute_force.path_score(scores, transitions, path) - log_z)
            for path in brute_force.all_paths(*scores.shape)
        }
        chances.append(p[tuple(labels)])
        expected.append([sum(p[y] for y in p if list(y[a:b]) == labels[a:b]) for a, b in spans[-1]])
    found = plain_decoder.span_probabilities(corpus, features, weights, corpus.labels, spans)
    for each, wanted in zip(found, expected, strict=True):
        assert each == pytest.approx(wanted, rel=1e-10)
    _, log_z = plain_decoder.infer_corpus(corpus, features, weights)
    logs = decoder_choice.log_chances(corpus, features, weights, corpus.labels, log_z)
    np.testing.assert_allclose(np.exp(logs), chances, rtol=1e-10)
    by_differences = [plain_decoder.log_chance(corpus, features, weights, corpus.labels, i) for i in range(len(logs))]
    np.testing.assert_allclose(by_differences, logs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 0.5), (0.3, 0.0)])
def test_the_gradient_is_that_of_the_objective_and_no_certificate_is_above_it(c1, c2):
    corpus = random_corpus(5, lengths=(4, 1, 2, 5), values=True, weights=True)
    problem = Problem(corpus, random_features(5, order=3), c1, c2, n_jobs=2)
    weights = 0.3 * np.random.default_rng(5).normal(size=problem.n_weights)
    smooth = problem.with_penalty(0.0, c2)
    assert check_grad(smooth.value, lambda w: smooth.gradient(w)[1], weights, epsilon=1e-6) < 1e-4
    bounds = [problem.certificate(t * weights).lower_bound for t in (0.0, 0.3, 1.0)]
    assert max(bounds) <= min(problem.value(t * weights) for t in (0.0, 0.3, 1.0))


def test_a_chain_of_order_two_whose_triples_weigh_nothing_is_one_of_order_one():
    corpus, bigrams = random_corpus(7, lengths=(6, 3, 1), n_labels=5), random_features(7, n_labels=5)
    triples = bigrams._replace(
        sources=np.append(bigrams.sources, context_of(np.array([[3, 0], [1, 2]]), 5)).astype(np.int32),
        targets=np.append(bigrams.targets, [4, 0]).astype(np.int32),
        order=2,
    )
    weights = np.random.default_rng(7).normal(size=bigrams.n_weights)
    one, two = Likelihood(corpus, bigrams), Likelihood(corpus, triples)
    loss, gradient, _ = one.gradient(weights)
    found, longer, _ = two.gradient(np.append(weights, [0.0, 0.0]))
    assert found == pytest.approx(loss, rel=1e-13)
    np.testing.assert_allclose(longer[:-2], gradient, atol=1e-12)


@SOME
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([0.0, 2.0]), st.sampled_from([2, 3]))
def test_grams_are_counted_as_they_occur(seed, every, min_freq, order):
    corpus = random_corpus(seed, lengths=(4, 1, 2, 6), weights=seed % 2 == 1)
    features = build_feature_map(corpus, 6, 3, order=order, all_transitions=every, min_freq=min_freq)
    seen = {}
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        weight, labels = corpus.weights[i] if len(corpus.weights) else 1.0, corpus.labels[first:last].tolist()
        for gram in brute_force.grams_of(labels):
            if len(gram) <= order + 1:
                seen[gram] = seen.get(gram, 0.0) + weight
    rows = zip(labels_of(features.sources, 3).tolist(), features.targets.tolist(), strict=True)
    grams = [(*(k for k in before if k >= 0), label) for before, label in rows]
    wanted = {gram for gram in seen if seen[gram] >= min_freq}
    assert set(grams) == (wanted if not every or min_freq else set(grams))
    assert len(set(grams)) == len(grams)
    assert not (every and not min_freq) or len(grams) == sum(3**length for length in range(2, order + 2))
    counts = count_gold(corpus, features)[features.n_state :]
    np.testing.assert_allclose(counts, [seen.get(gram, 0.0) for gram in grams], rtol=1e-12)
    assert (np.diff(features.sources.astype(int) * 3 + features.targets) > 0).all()


def test_contexts_have_numbers_that_follow_the_labels():
    every = np.arange(n_contexts(3, 3))
    labels = labels_of(every, 3)
    assert labels[:4].tolist() == [[-1, -1, 0], [-1, -1, 1], [-1, -1, 2], [-1, 0, 0]]
    assert labels[12 + 9 * 2 + 3 * 1 + 0].tolist() == [0, 1, 2]
    assert len({tuple(row) for row in labels.tolist()}) == len(every)
    np.testing.assert_array_equal(context_of(labels, 3), every)
    moved = renumbered(every, np.array([2, -1, 0]), 4)
    assert moved[:3].tolist() == [2, -1, 0]
    assert moved[3 + 2 * 3 + 0] == 4 + 0 * 4 + 2  # labels 0, 2 have become 2, 0
    assert moved[3 + 2 * 3 + 1] == -1
    assert moved[3 + 1 * 3 + 0] == -1


@SOME
@given(st.integers(0, 2**32), st.sampled_from([0.05, 0.3]), st.integers(2, 4))
def test_a_state_is_the_longest_known_history_that_a_labeling_ends_with(seed, density, order):
    features = random_features(seed, n_labels=2, density=density, order=order)
    tree, rng = make_tree(known_contexts(features), 2), np.random.default_rng(seed)
    known = [tuple(k for k in labels if k >= 0) for labels in labels_of(tree.numbers, 2).tolist()]
    assert {tuple(gram) for gram in known} >= {known[row] for row in np.searchsorted(tree.numbers, features.sources)}
    state, path = None, ()
    for label in rng.integers(0, 2, 8).tolist():
        state, path = label if state is None else int(tree.following[state, label]), (*path, label)
        assert known[state] == max((gram for gram in known if path[-len(gram) :] == gram), key=len)


@pytest.mark.parametrize("order", [0, 10, 1.5, "2", True])
def test_other_orders_raise_an_error(order):
    with pytest.raises(ValueError, match="order"):
        check_order(order)


def test_more_contexts_than_can_be_numbered_raise_an_error():
    check_labels(1000, 3)
    with pytest.raises(ValueError, match=r"order 4 with 1,000 labels.*use order=3 or less"):
        check_labels(1000, 4)
