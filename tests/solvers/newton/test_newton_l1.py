"""newton-l1 against the paper's algorithm with whole matrices, OWL-QN and the optimality conditions."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.objective.variances import feature_moments, variance_bounds
from fastcrf.solvers.newton.newton_l1 import NewtonL1
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize
from reference.plain_newton import proximal_quasi_newton
from reference.random_corpora import learnable_corpus, random_corpus, random_features
from reference.toy_problem import ToyProblem

PENALTIES = [(1.0, 0.0), (5.0, 0.0), (1.0, 0.5)]


def steps(problem, solver=None, n=60):
    return list(islice((solver or NewtonL1()).iterate(problem, np.zeros(problem.n_weights)), n + 1))


@pytest.mark.parametrize(("c1", "c2"), PENALTIES)
def test_every_iterate_equals_the_plain_algorithm(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    plain = proximal_quasi_newton(toy, np.zeros(toy.n_weights), 8, pairs=4)
    ours = [step.weights for step in steps(toy, NewtonL1(pairs=4), n=8)]
    np.testing.assert_allclose(ours, plain, rtol=1e-5, atol=1e-6)  # the model's rows are of single precision


@pytest.mark.parametrize(("c1", "c2"), PENALTIES)
def test_the_optimality_conditions_hold_with_exact_zeros(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    taken = steps(toy, NewtonL1())
    w = taken[-1].weights
    _, g = toy.gradient(w)
    assert 0 < np.count_nonzero(w) < len(w)
    assert np.all(np.abs(g[w == 0]) <= c1)
    np.testing.assert_allclose(g[w != 0], -c1 * np.sign(w[w != 0]), atol=1e-5)


@pytest.mark.parametrize(("c1", "c2"), [(0.5, 0.0), (0.3, 0.2)])
def test_on_sequences_it_has_the_optimum_and_the_zeros_of_owlqn(c1, c2):
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3)
    problem = Problem(corpus, random_features(0), c1, c2)
    ours, theirs = (minimize(problem, make(name), stop=[MaxIterations(400)]).weights for name in ("newton-l1", "owlqn"))
    assert problem.value(ours) == pytest.approx(problem.value(theirs), rel=1e-9)
    np.testing.assert_array_equal(ours == 0.0, theirs == 0.0)


def test_a_penalty_beyond_the_largest_slope_keeps_every_weight_at_zero():
    toy = ToyProblem(c1=0.0, c2=0.0)
    toy.c1 = 1.01 * np.abs(toy.gradient(np.zeros(toy.n_weights))[1]).max()
    run = NewtonL1().iterate(toy, np.zeros(toy.n_weights))
    assert next(run).info["non_zeros"] == 0
    with pytest.raises(StopIteration, match="no lower point along the pseudo-gradient of norm 0"):
        next(run)


def test_variances_are_bounded_where_positions_are_independent_and_values_alike():
    """By Jensen's inequality: of positions with the same mean probability, those vary the most that are alike."""
    corpus, features = random_corpus(3, lengths=[1] * 40, per_item=1), random_features(3)
    problem = Problem(corpus, features)
    w = np.random.default_rng(3).normal(size=features.n_weights)
    diagonal = [problem.hessian_product(w, unit) @ unit for unit in np.eye(features.n_weights)]
    assert np.all(problem.variance_bounds(w, problem.gradient(w)[1]) >= np.array(diagonal) - 1e-10)


def test_values_of_both_signs_count_as_evenly_spread():
    corpus, features = random_corpus(3, values=True, weights=True), random_features(3)
    sums, squares = feature_moments(corpus, features)
    assert np.isnan(sums[: features.n_state]).any()
    np.testing.assert_allclose(variance_bounds(np.zeros(3), np.full(3, np.nan), np.full(3, 8.0)), 2.0)
    assert np.all(squares >= 0.0)
