"""The progressive error of solvers that draw: what they would have said of each position before they learnt it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from reference import brute_force
from reference.random_corpora import learnable_corpus, random_features

STILL = {"eta": 1e-300}  # so that all sequences see the same weights
CORPUS, FEATURES = learnable_corpus(3, lengths=(3, 4, 2, 3), weights=True), random_features(3)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("name", ["psa", "sgd", "asg", "adagrad"])
def test_it_is_that_of_the_most_probable_labels_before_learning(name, batch):
    w, wrong = np.random.default_rng(0).normal(size=FEATURES.n_weights), 0
    for i in range(CORPUS.n_sequences):
        scores = brute_force.label_scores(CORPUS, FEATURES, w, i)
        nodes, _ = brute_force.marginals(scores, brute_force.transition_scores(FEATURES, w))
        wrong += np.count_nonzero(nodes.argmax(axis=1) != CORPUS.labels[CORPUS.starts[i] : CORPUS.starts[i + 1]])
    steps = registry.make(name, batch_size=batch, **STILL).iterate(Problem(CORPUS, FEATURES, c2=0.5), w)
    assert 0 < wrong < CORPUS.n_positions
    for step in islice(steps, 1, 3):  # of each epoch by itself
        assert step.info["progressive_error"] == wrong / CORPUS.n_positions


def test_calibration_does_not_count():
    """It goes over the sequences many times before the first epoch."""
    problem = Problem(CORPUS, FEATURES, c2=0.5)
    step = next(islice(registry.make("sgd").iterate(problem, np.zeros(problem.n_weights)), 1, None))
    given = registry.make("sgd", eta=step.state["eta"])
    same = next(islice(given.iterate(problem, np.zeros(problem.n_weights)), 1, None))
    assert step.info["progressive_error"] == same.info["progressive_error"]
    assert step.passes > same.passes
