"""The loop of SGD-type solvers against dense updates, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.feature_space import layout
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from reference import dense_sgd
from reference.dense_sag import SequenceLoss
from reference.random_corpora import random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2)
STEPS = {
    "mild": (0.3, 0.1, 0.7, 0.2, 0.4, 0.05, 0.6, 0.2),
    "with a factor of 0": (0.3, 1.0, 0.5, 0.2, 1.0, 0.4, 0.1, 0.3),
    "with negative factors": (1.5, 0.2, 2.5, 1.1, 0.3, 1.7, 0.1, 1.2),
    "through renormalization": (0.999, 0.9999, 0.99, 0.999, 0.9995, 0.99, 0.9999, 0.999),
}


@pytest.fixture(params=[1, 2], ids=["rows", "rows and cells"])
def problem(request, monkeypatch):
    """With lambda = 1, so that the factor of a step a is 1 - a."""
    monkeypatch.setattr(layout, "dense_threshold", lambda padded: request.param)
    corpus = random_corpus(3, lengths=LENGTHS, values=True, weights=True)
    return Problem(corpus, random_features(3), c2=len(LENGTHS) / 2)


@pytest.mark.parametrize("shrink_first", [False, True])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_each_update_equals_that_of_dense_vectors(problem, steps, shrink_first):
    loss, rng = SequenceLoss(problem.corpus, problem.features), np.random.default_rng(0)
    start, order = rng.normal(size=problem.n_weights), rng.integers(0, len(LENGTHS), len(steps))
    descent = ScaledDescent(problem, start.copy(), 1, shrink_first)
    assert descent.lam == 1.0
    for k, (dense, before) in enumerate(dense_sgd.sgd(loss, start, order, steps, 1.0, shrink_first=shrink_first)):
        online = descent.descend(order[k : k + 1], np.array(steps[k : k + 1]))
        descent.settle()
        assert online == pytest.approx(before, rel=1e-12)
        np.testing.assert_allclose(descent.weights, dense, rtol=1e-12, atol=1e-12)
    assert descent.evaluations == len(steps)


@pytest.mark.parametrize("batch", [2, 4, 6, 100])
def test_sequences_of_one_update_see_the_same_weights(problem, batch):
    """The last batch of an order may be shorter; its gradient is the mean of what is there. Repeats count twice."""
    loss, rng = SequenceLoss(problem.corpus, problem.features), np.random.default_rng(0)
    start, order = rng.normal(size=problem.n_weights), np.array([5, 0, 2, 2, 1, 3, 4, 0, 0])
    descent = ScaledDescent(problem, start.copy(), batch, shrink_first=False)
    steps = rng.uniform(0.1, 0.9, descent.n_updates(len(order)))
    online = descent.descend(order, steps)
    descent.settle()
    dense, before = dense_sgd.one_pass(loss, start, order, steps, 1.0, batch_size=min(batch, len(LENGTHS)))
    assert online == pytest.approx(before, rel=1e-12)
    np.testing.assert_allclose(descent.weights, dense, rtol=1e-12, atol=1e-12)


def test_there_is_space_for_the_longest_sequence_in_every_place_of_an_update(problem):
    descent = ScaledDescent(problem, np.zeros(problem.n_weights), 3, shrink_first=False)
    assert len(descent.residuals.nodes) >= 3 * max(LENGTHS)


def test_the_loss_at_one_point_moves_nothing(problem):
    rng = np.random.default_rng(0)
    start = rng.normal(size=problem.n_weights)
    descent = ScaledDescent(problem, start.copy(), 4, shrink_first=False)
    assert descent.loss(np.arange(len(LENGTHS))) == pytest.approx(problem.likelihood.value(start), rel=1e-12)
    assert descent.loss(np.zeros(0, np.int64)) == 0.0
    assert descent.penalty() == pytest.approx(problem.regularizer.value(start) / len(LENGTHS), rel=1e-12)
    descent.settle()
    np.testing.assert_array_equal(descent.weights, start)
