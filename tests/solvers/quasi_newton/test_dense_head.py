"""A dense block of the first Hessian: directions against plain linear algebra, and the change of blocks."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.core.solver_state import StateMismatch
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.dense_head import dense_head, inverse_of, with_ridge
from reference.plain_quasi_newton import two_loop_from

N = 30


def walk(rng, n_moves):
    root = rng.normal(size=(N, N))
    hessian = root @ root.T / N + 0.1 * np.eye(N)
    weights = np.cumsum(rng.normal(size=(n_moves + 1, N)), axis=0)
    return weights, weights @ hessian


def first_hessian(rng, members):
    """(scale, head, H0) of a random block on the members and a random diagonal elsewhere."""
    scale, root = rng.uniform(0.5, 2.0, N), rng.normal(size=(len(members),) * 2)
    block = root @ root.T + np.eye(len(members))
    scale[members] = 1.0
    inverse = np.diag(scale * scale)
    inverse[np.ix_(members, members)] = np.linalg.inv(block)
    return scale, dense_head(members, block), inverse


def pairs_with(scale, head, capacity=4):
    pairs = CurvaturePairs(capacity, N, preconditioner=np.ones(N))
    pairs.rebase(scale, head)
    return pairs


def add_all(pairs, weights, gradients):
    for k in range(1, len(weights)):
        pairs.add(weights[k], weights[k - 1], gradients[k], gradients[k - 1])
        pairs.direction(gradients[k])


def plain_pairs(weights, gradients):
    return list(zip(np.diff(weights, axis=0), np.diff(gradients, axis=0), strict=True))


@pytest.mark.parametrize("n_moves", [0, 1, 3, 6])
def test_the_direction_is_that_of_the_recursion_from_the_dense_first_hessian(n_moves):
    rng = np.random.default_rng(n_moves)
    members = np.sort(rng.choice(N, 11, replace=False))
    scale, head, inverse = first_hessian(rng, members)
    weights, gradients = walk(rng, n_moves)
    pairs = pairs_with(scale, head)
    add_all(pairs, weights, gradients)
    vector = rng.normal(size=N)
    given = vector.copy()
    expected = -two_loop_from(inverse, plain_pairs(weights, gradients)[-4:], vector)
    np.testing.assert_allclose(pairs.direction(vector), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_array_equal(vector, given)


def test_pairs_live_on_when_the_block_changes():
    rng = np.random.default_rng(5)
    weights, gradients = walk(rng, 5)
    first, then = (np.sort(rng.choice(N, d, replace=False)) for d in (9, 14))
    pairs = pairs_with(*first_hessian(rng, first)[:2])
    add_all(pairs, weights[:4], gradients[:4])
    scale, head, inverse = first_hessian(rng, then)
    pairs.rebase(scale, head)
    add_all(pairs, weights[3:], gradients[3:])
    vector = rng.normal(size=N)
    expected = -two_loop_from(inverse, plain_pairs(weights, gradients)[-4:], vector)
    np.testing.assert_allclose(pairs.direction(vector), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_a_larger_penalty_changes_the_rows_as_if_the_gradients_had_been_of_it():
    rng = np.random.default_rng(6)
    weights, gradients = walk(rng, 3)
    base = first_hessian(rng, np.arange(4, 12))[:2]
    before, after = pairs_with(*base), pairs_with(*base)
    add_all(before, weights, gradients)
    add_all(after, weights, gradients + 0.7 * weights)
    changed = with_ridge("auto", before.state(), 0.7)
    np.testing.assert_allclose(changed["basis"], after.state()["basis"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(changed["gram"], after.state()["gram"], rtol=1e-4, atol=1e-3)


def test_falling_back_drops_the_pairs_and_then_the_block():
    rng = np.random.default_rng(7)
    pairs = pairs_with(*first_hessian(rng, np.arange(5))[:2])
    add_all(pairs, *walk(rng, 2))
    vector = rng.normal(size=N)
    pairs.fall_back()
    assert not pairs.is_plain
    pairs.fall_back()
    assert pairs.is_plain
    np.testing.assert_array_equal(pairs.direction(vector), -vector)


def test_a_block_that_is_not_positive_definite_is_refused():
    assert dense_head(np.arange(2), np.array([[1.0, 2.0], [2.0, 1.0]])) is None


@pytest.mark.parametrize("d", [1, 63, 64, 65, 200])
def test_the_inverse_of_a_triangle_is_its_inverse(d):
    rng = np.random.default_rng(d)
    lower = np.tril(rng.normal(size=(d, d))) / d + np.eye(d)
    np.testing.assert_allclose(inverse_of(lower) @ lower, np.eye(d), atol=1e-10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"root": np.eye(4, dtype=np.float32)}, "the head has 3 weights"),
        ({"head": np.array([1, 2, 2])}, "not a block"),
        ({"head": np.array([1, 2, N])}, "not a block"),
        ({"root": -np.eye(3, dtype=np.float32)}, "not a block"),
    ],
)
def test_a_state_with_a_wrong_block_is_refused(changes, message):
    pairs = pairs_with(*first_hessian(np.random.default_rng(8), np.arange(3))[:2])
    with pytest.raises(StateMismatch, match=message):
        pairs_with(np.ones(N), None).restore("auto", {**pairs.state(), **changes})
