"""Decoding under constraints against enumeration: best labels, probabilities, log Z; compiled and in NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.constraints.allowed import make_allowed
from fastcrf.constraints.schemes import order_of
from fastcrf.decoding import compiled_decoder, decoder_choice, plain_decoder
from fastcrf.inference.live_labels import live_labels
from reference import brute_force
from reference.constrained_problems import constrained, of_sequences
from reference.enumerated_constraints import distribution, marginals
from reference.random_corpora import random_corpus, random_features

DECODERS = (compiled_decoder, plain_decoder)


@settings(max_examples=50)
@given(constrained())
def test_decoding_equals_enumeration_of_what_is_allowed(problem):
    weights = problem[2]
    size = max(1.0, np.abs(weights).max(initial=0.0))
    for decoder in DECODERS:
        found, log_z = decoder.infer_corpus(*problem)
        labels = decoder.viterbi(*problem)
        for i, held, scores, transitions, paths in of_sequences(*problem):
            chances, expected = distribution(scores, transitions, paths)
            np.testing.assert_allclose(found[held], marginals(chances, scores.shape), atol=1e-11 * size)
            assert log_z[i] == pytest.approx(expected, rel=1e-12, abs=1e-11 * size)
            if not paths:
                assert labels[held][0] == -1
                continue
            best = tuple(labels[held].tolist())
            highest = max(brute_force.path_score(scores, transitions, path) for path in paths)
            assert best in paths
            assert brute_force.path_score(scores, transitions, best) == pytest.approx(highest, rel=1e-12, abs=1e-11)


@settings(max_examples=40)
@given(constrained(scales=[1.0, 40.0]), st.integers(0, 2**32))
def test_chances_of_spans_and_label_sequences_equal_enumeration(problem, seed):
    corpus, features, weights, allowed = problem
    rng, possible = np.random.default_rng(seed), []
    path, spans, expected, wanted = np.zeros(corpus.n_positions, np.int32), [[] for _ in corpus.starts[1:]], {}, {}
    for i, held, scores, transitions, paths in of_sequences(*problem):
        if paths:
            possible.append(i)
            chances, _ = distribution(scores, transitions, paths)
            y = paths[rng.integers(len(paths))]
            path[held], (a, b) = y, sorted(rng.choice(len(y) + 1, 2, replace=False))
            spans[i] = [(int(a), int(b))]
            expected[i] = sum(p for other, p in chances.items() if other[a:b] == y[a:b])
            wanted[i] = chances[y]
    _, log_z = plain_decoder.infer_corpus(*problem)
    found = plain_decoder.span_probabilities(corpus, features, weights, path, spans, allowed)
    logs = decoder_choice.log_chances(corpus, features, weights, path, log_z, allowed)
    for i in possible:
        assert found[i] == pytest.approx([expected[i]], rel=1e-9, abs=1e-12)
        assert np.exp(logs[i]) == pytest.approx(wanted[i], rel=1e-9)
        by_differences = plain_decoder.log_chance(corpus, features, weights, path, i, allowed)
        assert by_differences == pytest.approx(np.log(wanted[i]), rel=1e-9, abs=1e-11)


@settings(max_examples=40)
@given(constrained(scales=[0.0]))
def test_live_labels_are_those_of_some_allowed_sequence(problem):
    corpus, _, _, allowed = problem
    live = live_labels(corpus.starts, allowed)
    for _, held, scores, _, paths in of_sequences(*problem):
        expected = np.zeros(scores.shape, bool)
        for path in paths:
            expected[np.arange(len(path)), list(path)] = True
        np.testing.assert_array_equal(live[held], expected)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("gap", [0.5, 5.0])
def test_labels_that_become_unlikely_beyond_the_range_of_numbers_are_not_lost(order, gap):
    """Two tracks of labels that never meet. The first is exp(200 gap) times likelier at half the way."""
    length = 400
    corpus = random_corpus(1, lengths=(length,), n_labels=4, per_item=0)._replace(
        offsets=np.arange(length + 1), attributes=np.repeat([0, 1], length // 2).astype(np.int32)
    )
    features = random_features(1, n_labels=4, n_attributes=2, density=1.0, order=order)
    weights = np.random.default_rng(2).uniform(-0.1, 0.1, features.n_weights)
    weights[:8] = [gap, gap, 0, 0, 0, 0, 1.01 * gap, 1.01 * gap]
    transitions = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), bool))
    allowed = make_allowed(np.zeros(length), np.ones((1, 4), bool), transitions)
    found, log_z = compiled_decoder.infer_corpus(corpus, features, weights, allowed)
    expected, log_z_of_logs = plain_decoder.infer_corpus(corpus, features, weights, allowed)
    assert 0.5 < expected[0, 2:].sum() < 1.0
    np.testing.assert_allclose(found, expected, atol=1e-11)
    assert log_z[0] == pytest.approx(log_z_of_logs[0], rel=1e-12)


def violations(labels, scheme, names, starts):
    """How many labels break BIO, by its definition."""
    wrong = 0
    for first, last in pairwise(starts.tolist()):
        before = "O"
        for k in labels[first:last]:
            name = names[k]
            wrong += name[0] == "I" and (before == "O" or before[1:] != name[1:])
            before = name
    return wrong


@pytest.mark.parametrize("order", [1, 2])
def test_thousands_of_constrained_decodes_have_no_invalid_sequence(order):
    """benchmarks/constraints.py decodes a million."""
    names = ["O", "B-X", "I-X", "B-Y", "I-Y", "I-Z", "B-Z"]
    rules = order_of("BIO", names)
    corpus = random_corpus(7, lengths=(9,) * 3000, n_labels=7, n_attributes=50)
    features = random_features(7, n_labels=7, n_attributes=50, order=order)
    weights = np.random.default_rng(7).normal(size=features.n_weights)
    set_of = np.zeros(corpus.n_positions, np.int64)
    set_of[corpus.starts[:-1]] = 1
    allowed = make_allowed(set_of, np.array([np.ones(7, bool), rules.first]), rules.transitions)
    for decoder in DECODERS[: 2 if order == 1 else 1]:
        assert violations(decoder.viterbi(corpus, features, weights), "BIO", names, corpus.starts) > 1000
        assert violations(decoder.viterbi(corpus, features, weights, allowed), "BIO", names, corpus.starts) == 0
