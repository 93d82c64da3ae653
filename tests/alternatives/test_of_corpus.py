"""The n best label sequences, samples, pair probabilities and entropies against enumeration, compiled and in NumPy."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.alternatives import of_corpus
from fastcrf.alternatives.of_corpus import NoSequence, Weighted
from reference import brute_force
from reference.constrained_problems import constrained, of_sequences
from reference.enumerated_constraints import distribution
from reference.random_corpora import random_corpus, random_features

MODES = [True, False]  # compiled, in NumPy


def ask(compiled, function, problem, *more):
    corpus, features, weights, allowed = problem
    with mock.patch.object(of_corpus, "is_compiled", return_value=compiled):
        return function(corpus, Weighted(features, weights, allowed), *more)


@st.composite
def problems(draw, **options):
    """A constrained problem, or the same without constraints, some with integer weights that make ties."""
    corpus, features, weights, allowed = draw(constrained(**options))
    if draw(st.booleans()):
        weights = np.round(weights)
    return corpus, features, weights, allowed if draw(st.booleans()) else None


def enumerated(problem):
    """(number, positions, label scores, transitions, paths) of all sequences that have positions."""
    corpus, features, weights, allowed = problem
    if allowed is not None:
        return list(of_sequences(*problem))
    everything = []
    for i in np.flatnonzero(np.diff(corpus.starts)).tolist():
        scores = brute_force.label_scores(corpus, features, weights, i)
        transitions = brute_force.transition_scores(features, weights)
        paths = brute_force.all_paths(*scores.shape)
        everything.append((i, slice(*corpus.starts[i : i + 2]), scores, transitions, paths))
    return everything


def first_impossible(problem):
    return next((i for i, _, _, _, paths in enumerated(problem) if not paths), None)


@settings(max_examples=150)
@given(problems(), st.sampled_from([1, 2, 7, 300]))
def test_the_n_best_are_the_first_of_all_label_sequences(problem, n):
    size = max(1.0, np.abs(problem[2]).max(initial=0.0))
    for compiled in MODES:
        if (impossible := first_impossible(problem)) is not None:
            with pytest.raises(NoSequence) as error:
                ask(compiled, of_corpus.best_paths, problem, n)
            assert error.value.sequence == impossible
            continue
        found = ask(compiled, of_corpus.best_paths, problem, n)
        logs = ask(compiled, of_corpus.log_chances_of_paths, problem, found)
        for i, _, scores, transitions, paths in enumerated(problem):
            own = [tuple(path) for path in found[i].labels.tolist()]
            totals = {path: brute_force.path_score(scores, transitions, path) for path in paths}
            expected = sorted(totals.values(), reverse=True)[:n]
            np.testing.assert_allclose(found[i].scores, expected, rtol=1e-12, atol=1e-11 * size)
            np.testing.assert_allclose([totals[path] for path in own], expected, rtol=1e-12, atol=1e-11 * size)
            assert len(set(own)) == len(own)
            _, log_z = distribution(scores, transitions, paths)
            np.testing.assert_allclose(logs[i], np.minimum(expected - log_z, 0.0), rtol=1e-9, atol=1e-11 * size)


@settings(max_examples=60)
@given(constrained(scales=[0.0, 3.0]), st.sampled_from([3, 300]), st.booleans())
def test_equally_good_label_sequences_are_in_the_order_of_their_last_labels(problem, n, is_free):
    corpus, features, weights, allowed = problem
    problem = corpus, features, np.round(weights), None if is_free else allowed
    if first_impossible(problem) is not None:
        return
    for compiled in MODES:
        found = ask(compiled, of_corpus.best_paths, problem, n)
        for i, _, scores, transitions, paths in enumerated(problem):
            if len(corpus.values):
                continue  # sums of other numbers are equal but for rounding
            totals = {path: brute_force.path_score(scores, transitions, path) for path in paths}
            expected = sorted(paths, key=lambda path: (-totals[path], path[::-1]))[:n]
            assert [tuple(path) for path in found[i].labels.tolist()] == expected


@settings(max_examples=100)
@given(problems())
def test_pair_probabilities_and_entropies_equal_enumeration(problem):
    size = max(1.0, np.abs(problem[2]).max(initial=0.0))
    for compiled in MODES:
        if (impossible := first_impossible(problem)) is not None:
            for function in (of_corpus.pair_probabilities, of_corpus.entropies):
                with pytest.raises(NoSequence) as error:
                    ask(compiled, function, problem)
                assert error.value.sequence == impossible
            continue
        pairs, entropies = (
            ask(compiled, function, problem) for function in (of_corpus.pair_probabilities, of_corpus.entropies)
        )
        for i, held, scores, transitions, paths in enumerated(problem):
            chances, _ = distribution(scores, transitions, paths)
            expected = np.zeros((len(scores), scores.shape[1], scores.shape[1]))
            for path, chance in chances.items():
                for t in range(len(path) - 1):
                    expected[t, path[t], path[t + 1]] += chance
            np.testing.assert_allclose(pairs[held], expected, atol=1e-11 * size)
            positive = np.array([chance for chance in chances.values() if chance > 0.0])
            assert entropies[i] == pytest.approx(-(positive * np.log(positive)).sum(), rel=1e-9, abs=1e-10 * size)


@settings(max_examples=60)
@given(problems(scales=[0.0, 1.0, 3000.0]), st.integers(0, 2**32))
def test_samples_are_allowed_and_the_same_compiled_and_in_numpy(problem, seed):
    if first_impossible(problem) is not None:
        for compiled in MODES:
            with pytest.raises(NoSequence):
                ask(compiled, of_corpus.sample_paths, problem, 3, np.random.default_rng(seed))
        return
    samples = [ask(c, of_corpus.sample_paths, problem, 5, np.random.default_rng(seed)) for c in MODES]
    np.testing.assert_array_equal(*samples)
    for _, held, scores, transitions, paths in enumerated(problem):
        chances, _ = distribution(scores, transitions, paths)
        for path in samples[0][:, held].tolist():
            assert chances[tuple(path)] > 0.0


@pytest.mark.parametrize("compiled", MODES)
@pytest.mark.parametrize("order", [1, 2])
def test_samples_are_as_frequent_as_they_are_probable(order, compiled):
    n, features = 20_000, random_features(4, order=order)
    weights = np.random.default_rng(4).normal(size=features.n_weights)
    problem = random_corpus(4, lengths=(4,)), features, weights, None
    samples = ask(compiled, of_corpus.sample_paths, problem, n, np.random.default_rng(0))
    counts = Counter(map(tuple, samples.tolist()))
    [(_, _, scores, transitions, paths)] = enumerated(problem)
    for path, chance in distribution(scores, transitions, paths)[0].items():
        assert abs(counts[path] - n * chance) <= 5.0 * np.sqrt(n * chance) + 1.0


def test_ten_thousand_label_sequences_of_a_long_sentence_are_in_order_and_different():
    features = random_features(6, n_labels=9, n_attributes=30)
    weights = np.random.default_rng(6).normal(size=features.n_weights)
    corpus = random_corpus(6, lengths=(60, 2), n_labels=9, n_attributes=30)
    found = ask(True, of_corpus.best_paths, (corpus, features, weights, None), 10_000)
    assert [len(paths.labels) for paths in found] == [10_000, 81]
    assert len(np.unique(found[0].labels, axis=0)) == 10_000
    assert (np.diff(found[0].scores) <= 1e-12).all()
    first = ask(False, of_corpus.best_paths, (corpus, features, weights, None), 100)
    np.testing.assert_array_equal(first[0].labels, found[0].labels[:100])
