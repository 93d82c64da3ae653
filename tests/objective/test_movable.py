"""Features of attributes that a corpus does not use: drawing solvers leave them out without changing the result."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.corpus.reordering import partition
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from reference.random_corpora import random_corpus, random_features


def with_idle_attributes(n_idle):
    """The same corpus with features of n_idle attributes more, between those that occur."""
    corpus, features = random_corpus(6, n_attributes=5), random_features(6, n_attributes=5)
    step = n_idle + 1
    sizes = np.zeros(5 * step, np.int64)
    labels = []
    for a in range(5):
        own = features.labels[features.offsets[a] : features.offsets[a + 1]]
        labels += [own] + [np.array([0, 2], np.int32)] * n_idle
        sizes[a * step : (a + 1) * step] = [len(own)] + [2] * n_idle
    grown = features._replace(offsets=np.concatenate(([0], np.cumsum(sizes))), labels=np.concatenate(labels))
    return corpus._replace(attributes=corpus.attributes * step), grown, corpus, features


@pytest.mark.parametrize("solver", ["sgd", "sag", "sag-nus-star"])
def test_idle_features_stay_zero_and_change_nothing(solver):
    grown_corpus, grown_features, corpus, features = with_idle_attributes(3)
    grown, plain = Problem(grown_corpus, grown_features, c2=0.5), Problem(corpus, features, c2=0.5)
    part = grown.part(np.zeros(grown.n_weights))
    assert len(part.places) == plain.n_weights
    runs = [make(solver).iterate(problem, np.zeros(problem.n_weights)) for problem in (grown, plain)]
    for big, small in islice(zip(*runs, strict=True), 4):
        np.testing.assert_array_equal(big.weights[part.places], small.weights)
        assert np.count_nonzero(big.weights) == np.count_nonzero(small.weights)


def test_idle_features_with_a_weight_are_shrunk_by_the_penalty():
    corpus, features, _, _ = with_idle_attributes(2)
    problem = Problem(corpus, features, c2=0.5)
    idle = np.setdiff1d(np.arange(problem.n_weights), problem.part(np.zeros(problem.n_weights)).places)
    start = np.zeros(problem.n_weights)
    start[idle] = 1.0
    assert not len(problem.part(start).places)
    last = next(islice(make("sag").iterate(problem, start.copy()), 40, None)).weights
    assert (np.abs(last[idle]) < 0.2).all()


def test_when_every_attribute_occurs_the_part_is_the_whole():
    problem = Problem(random_corpus(0, n_attributes=2, per_item=4), random_features(0, n_attributes=2), c2=1.0)
    part, weights = problem.part(np.ones(problem.n_weights)), np.ones(problem.n_weights)
    assert part.take(weights) is weights


def contents(corpus):
    """What each sequence holds, as plain lists."""
    found = []
    for i in range(corpus.n_sequences):
        positions = range(corpus.starts[i], corpus.starts[i + 1])
        occurrences = [slice(corpus.offsets[p], corpus.offsets[p + 1]) for p in positions]
        items = [(corpus.attributes[o].tolist(), corpus.values[o].tolist()) for o in occurrences]
        found.append((items, corpus.labels[list(positions)].tolist(), corpus.weights[i : i + 1].tolist()))
    return found


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.data())
def test_a_partition_holds_every_sequence_as_it_was_in_blocks_that_differ_by_one(lengths, data):
    n_blocks, seed = data.draw(st.integers(1, len(lengths))), data.draw(st.integers(0, 9))
    corpus = random_corpus(seed, lengths=lengths, values=data.draw(st.booleans()), weights=data.draw(st.booleans()))
    shuffled, bounds = partition(corpus, n_blocks, seed)
    assert sorted(contents(shuffled)) == sorted(contents(corpus))
    sizes = np.diff(bounds)
    assert sizes.sum() == len(lengths)
    assert sizes.max() - sizes.min() <= 1
    again, _ = partition(corpus, n_blocks, seed)
    np.testing.assert_array_equal(again.attributes, shuffled.attributes)


def test_sequences_drawn_one_by_one_are_not_copied_and_a_partition_is_kept():
    problem = Problem(random_corpus(0, n_attributes=2, per_item=4), random_features(0, n_attributes=2), c2=1.0)
    weights = np.zeros(problem.n_weights)
    plain, same = problem.part(weights), problem.part(weights, problem.n_sequences, 5)
    assert plain is same
    assert plain.blocks.chains.labels is problem.corpus.labels
    divided = problem.part(weights, 2, 5)
    assert divided is problem.part(weights, 2, 5) is not problem.part(weights, 2, 6)
    assert divided.blocks.chains.bounds.tolist() == [0, 2, 4]


def test_idle_features_stay_zero_in_blocks_as_well():
    corpus, features, _, _ = with_idle_attributes(3)
    problem = Problem(corpus, features, c2=0.5)
    part = problem.part(np.zeros(problem.n_weights), 2)
    assert 0 < len(part.places) < problem.n_weights
    last = next(islice(make("sag", batch_size=2).iterate(problem, np.zeros(problem.n_weights)), 3, None)).weights
    assert not np.delete(last, part.places).any()
