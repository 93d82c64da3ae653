"""Trainers that learn from mistakes take the steps of their plain twins, and those of CRFsuite."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.stochastic.sampling import epoch_permutation
from reference import plain_margin
from reference.random_corpora import learnable_corpus, random_features

TWINS = {
    "perceptron": plain_margin.perceptron,
    "ap": plain_margin.perceptron,
    "pa": plain_margin.passive_aggressive,
    "mira": plain_margin.mira,
    "arow": plain_margin.arow,
}
CASES = [
    ("perceptron", {}),
    *[("pa", {"pa_type": kind, "c": 0.3}) for kind in (0, 1, 2)],
    ("pa", {"error_sensitive": False}),
    ("pa", {"averaging": False}),
    ("mira", {}),
    ("mira", {"c": 0.1}),
    ("arow", {}),
    ("arow", {"variance": 0.5, "gamma": 2.0}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_takes_the_steps_of_its_reference(name, options, weighted):
    corpus = learnable_corpus(3, lengths=[3, 1, 4, 2, 5, 3], values=True, weights=weighted)
    features = random_features(3)
    problem = Problem(corpus, features)
    orders = [epoch_permutation(4, epoch, corpus.n_sequences) for epoch in range(4)]
    start = np.random.default_rng(0).normal(size=features.n_weights)
    expected = TWINS[name](corpus, features, start.copy(), orders, **options)
    steps = islice(registry.make(name, seed=4, **options).iterate(problem, start.copy()), 1, None)
    moved = 0.0
    for (weights, loss), step in zip(expected, steps, strict=False):
        np.testing.assert_allclose(step.weights, weights, rtol=1e-10, atol=1e-12)
        assert step.info["training_loss"] == pytest.approx(loss, rel=1e-10)
        assert step.passes == 1.0
        moved += loss
    assert moved > 0.0
