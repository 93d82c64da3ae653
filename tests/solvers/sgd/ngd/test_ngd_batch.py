"""ngd-batch takes the steps of the equations; with the Euclidean function it is gradient descent."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from reference import dense_ngd
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_features

ETA = 0.5


def small(c2=0.7):
    return Problem(learnable_corpus(3, lengths=[3, 1, 4, 2, 3]), random_features(3), c2=c2)


@pytest.mark.parametrize("update", ["u1.g1", "u2.g2", "u3.g1", "u4.p", "u5.g3", "u6.g1"])
def test_updates_are_those_of_section_3_2(update):
    problem, n = small(), 5
    start = np.random.default_rng(1).normal(size=problem.n_weights)
    twin = dense_ngd.batch(EnumeratedLoss(problem.corpus, problem.features), start.copy(), ETA, 1.4 / n, update, p=2.5)
    solver = registry.make("ngd-batch", update=update, eta=ETA, p=2.5)
    for step, expected in zip(islice(solver.iterate(problem, start.copy()), 4), twin, strict=False):
        np.testing.assert_allclose(step.weights, expected, rtol=1e-11, atol=1e-12)
        assert step.passes == 1
    assert np.abs(expected - start).max() > 0.1


def test_losses_have_their_updates_too():
    problem, n, start = small(), 5, np.zeros(small().n_weights)
    twin = dense_ngd.batch(
        EnumeratedLoss(problem.corpus, problem.features), start.copy(), ETA, 1.4 / n, "b2.g2", gamma=0.3, alpha=1.0
    )
    solver = registry.make("ngd-batch", update="b2.g2", eta=ETA, gamma=0.3, alpha=1.0)
    for step, expected in zip(islice(solver.iterate(problem, start.copy()), 4), twin, strict=False):
        np.testing.assert_allclose(step.weights, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("update", ["u1.p", "u2.p", "u6.p", "b3.p"])
def test_with_the_euclidean_function_it_is_gradient_descent(update):
    """Section 3.3: all updates are then the same."""
    problem, w = small(c2=0.0), np.zeros(small().n_weights)
    for step in islice(registry.make("ngd-batch", update=update, eta=ETA).iterate(problem, w.copy()), 4):
        np.testing.assert_allclose(step.weights, w, rtol=1e-12, atol=1e-13)
        w = w - ETA * problem.gradient(w)[1] / problem.n_sequences


def test_the_first_step_size_is_a_power_of_two_that_lowers_the_objective():
    problem = small()
    steps = registry.make("ngd-batch").iterate(problem, np.zeros(problem.n_weights))
    first, second = next(steps), next(steps)
    eta = second.state["eta"]
    assert np.log2(eta) == round(np.log2(eta))
    assert second.objective < first.objective
    farther = first.weights + (second.weights - first.weights) * (2.0 if eta >= 1.0 else 4.0)
    assert problem.value(farther) > second.objective or eta < 1.0
    assert second.passes > 1


def test_updates_that_use_observed_counts_say_what_they_need():
    assert registry.make("ngd-batch", update="u6.g1").needs == {"gradient", "counts"}
    assert registry.make("ngd-batch", update="u2.g1").needs == {"gradient"}
