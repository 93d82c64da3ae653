"""Features of attributes that a corpus does not use: drawing solvers leave them out without changing the result."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.base import make
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
