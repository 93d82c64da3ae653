"""Curvature pairs against the textbook recursion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.solvers.quasi_newton import curvature_pairs
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from reference.plain_adaptive import preconditioned_two_loop
from reference.plain_quasi_newton import two_loop


def walk(rng, n_moves, n_weights):
    """Weights and gradients of a quadratic along a random walk, so that every pair has positive curvature."""
    root = rng.normal(size=(n_weights, n_weights))
    hessian = root @ root.T / n_weights + 0.1 * np.eye(n_weights)
    weights = np.cumsum(rng.normal(size=(n_moves + 1, n_weights)), axis=0)
    return weights, weights @ hessian


def add_all(pairs, weights, gradients):
    """Add the pair of each move, asking for a direction after each, as a solver does."""
    for k in range(1, len(weights)):
        pairs.add(weights[k], weights[k - 1], gradients[k], gradients[k - 1])
        pairs.direction(gradients[k])


def plain_pairs(weights, gradients):
    return list(zip(np.diff(weights, axis=0), np.diff(gradients, axis=0), strict=True))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), n_moves=st.integers(0, 13), capacity=st.integers(1, 6), scale=st.integers(-8, 8))
def test_the_direction_equals_the_textbook_two_loop_recursion(seed, n_moves, capacity, scale):
    rng = np.random.default_rng(seed)
    weights, gradients = walk(rng, n_moves, 9)
    weights, gradients = weights * 10.0**scale, gradients * 10.0**scale
    pairs = CurvaturePairs(capacity, 9)
    add_all(pairs, weights, gradients)
    vector = rng.normal(size=9)
    expected = -two_loop(plain_pairs(weights, gradients)[-capacity:], vector)
    np.testing.assert_allclose(pairs.direction(vector), expected, rtol=1e-9, atol=1e-10)
    assert len(pairs) == min(n_moves, capacity)


def test_long_vectors_on_several_threads_give_the_same_direction(monkeypatch):
    monkeypatch.setattr(curvature_pairs, "SHARD", 600)
    rng = np.random.default_rng(0)
    n_weights = 3 * 600 + 217
    weights = np.cumsum(rng.normal(size=(5, n_weights)), axis=0)
    gradients = weights * rng.uniform(0.5, 2.0, n_weights)
    expected = -two_loop(plain_pairs(weights, gradients), gradients[-1])
    for n_jobs in (1, 2, 3):
        pairs = CurvaturePairs(4, n_weights, n_jobs)
        assert len(pairs.bounds) == n_jobs + 1
        add_all(pairs, weights, gradients)
        np.testing.assert_allclose(pairs.direction(gradients[-1]), expected, rtol=1e-10, atol=1e-12)


def test_the_newest_pair_satisfies_the_secant_equation():
    weights, gradients = walk(np.random.default_rng(1), 8, 12)
    pairs = CurvaturePairs(4, 12)
    add_all(pairs, weights, gradients)
    s, y = plain_pairs(weights, gradients)[-1]
    np.testing.assert_allclose(pairs.direction(y), -s, rtol=1e-10)


def test_without_pairs_the_direction_is_steepest_descent_in_a_fresh_array():
    vector = np.arange(4.0)
    direction = CurvaturePairs(3, 4).direction(vector)
    np.testing.assert_array_equal(direction, -vector)
    np.testing.assert_array_equal(vector, np.arange(4.0))


@pytest.mark.parametrize("change", [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [1e-12, 1.0, 0.0], [np.nan] * 3, [np.inf] * 3])
def test_a_pair_without_positive_curvature_leaves_no_trace(change):
    zero, move, vector = np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0])
    pairs = CurvaturePairs(2, 3)
    pairs.add(move, zero, 2.0 * move, zero)
    before = pairs.direction(vector)
    with np.errstate(invalid="ignore"):
        pairs.add(move, zero, np.array(change), zero)
        np.testing.assert_array_equal(pairs.direction(vector), before)
    assert len(pairs) == 1
    pairs.add(move, zero, 4.0 * move, zero)
    np.testing.assert_allclose(pairs.direction(vector), -two_loop([(move, 2 * move), (move, 4 * move)], vector))


def test_a_rejected_pair_takes_the_place_of_the_oldest_and_the_others_go_on():
    rng = np.random.default_rng(5)
    weights, gradients = walk(rng, 3, 6)
    pairs = CurvaturePairs(3, 6)
    add_all(pairs, weights, gradients)
    pairs.add(weights[0], weights[1], gradients[1], gradients[0])
    vector = rng.normal(size=6)
    expected = -two_loop(plain_pairs(weights, gradients)[1:], vector)
    np.testing.assert_allclose(pairs.direction(vector), expected, rtol=1e-10)


def test_when_the_only_pair_raises_an_error_the_direction_is_steepest_descent():
    pairs = CurvaturePairs(2, 3)
    pairs.add(np.ones(3), np.zeros(3), -np.ones(3), np.zeros(3))
    np.testing.assert_array_equal(pairs.direction(np.arange(3.0)), -np.arange(3.0))
    assert len(pairs) == 0


def test_forgetting_returns_to_steepest_descent():
    weights, gradients = walk(np.random.default_rng(2), 5, 7)
    pairs = CurvaturePairs(3, 7)
    add_all(pairs, weights, gradients)
    pairs.forget()
    np.testing.assert_array_equal(pairs.direction(weights[0]), -weights[0])


@pytest.mark.parametrize("n_before", [0, 1, 2, 3, 7])
def test_restored_pairs_go_on_bit_for_bit(n_before):
    weights, gradients = walk(np.random.default_rng(n_before), n_before + 4, 501)
    ours, theirs = CurvaturePairs(3, 501), CurvaturePairs(3, 501)
    for k in range(n_before):
        ours.direction(gradients[k])
        ours.add(weights[k + 1], weights[k], gradients[k + 1], gradients[k])
    theirs.restore("lbfgs", {name: np.array(array) for name, array in ours.state().items()})
    for k in range(n_before, n_before + 4):
        np.testing.assert_array_equal(ours.direction(gradients[k]), theirs.direction(gradients[k]))
        for pairs in (ours, theirs):
            pairs.add(weights[k + 1], weights[k], gradients[k + 1], gradients[k])


def test_a_restored_state_is_not_written():
    weights, gradients = walk(np.random.default_rng(4), 6, 5)
    pairs, other = CurvaturePairs(2, 5), CurvaturePairs(2, 5)
    add_all(pairs, weights[:4], gradients[:4])
    state = {name: np.array(array) for name, array in pairs.state().items()}
    kept = {name: array.copy() for name, array in state.items()}
    other.restore("lbfgs", state)
    add_all(other, weights[3:], gradients[3:])
    for name, array in kept.items():
        np.testing.assert_array_equal(state[name], array)


def test_restoring_more_pairs_than_there_is_space_for_raises_an_error():
    weights, gradients = walk(np.random.default_rng(3), 5, 4)
    pairs = CurvaturePairs(5, 4)
    add_all(pairs, weights, gradients)
    with pytest.raises(ValueError, match="5 curvature pairs, but the option is pairs=2"):
        CurvaturePairs(2, 4).restore("lbfgs", pairs.state())


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_in_a_metric_the_direction_is_that_of_the_scaled_recursion(dtype, error):
    rng = np.random.default_rng(3)
    weights, gradients = walk(rng, 8, 11)
    preconditioner = rng.uniform(0.1, 3.0, 11)
    pairs = CurvaturePairs(5, 11, dtype=dtype, preconditioner=preconditioner)
    np.testing.assert_allclose(pairs.direction(weights[0]), -preconditioner * weights[0])
    add_all(pairs, weights, gradients)
    vector = rng.normal(size=11)
    expected = -preconditioned_two_loop(plain_pairs(weights, gradients)[-5:], vector, preconditioner)
    np.testing.assert_allclose(pairs.direction(vector), expected, rtol=error, atol=error)
    assert not pairs.is_plain
    pairs.forget_preconditioner()
    np.testing.assert_array_equal(pairs.direction(vector), -vector)
    assert pairs.is_plain
