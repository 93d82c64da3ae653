"""The sparse model with a dense block of the first Hessian, against dense matrices and coordinate descent."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.solvers.quasi_newton import sparse_model
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.dense_head import dense_head
from fastcrf.solvers.quasi_newton.sparse_model import SparseModel
from reference.plain_proximal_newton import bfgs_matrix, lowest_of_model

N, MEMBERS = 14, np.array([1, 4, 5, 9, 13])


def model_with_head(seed, n_moves):
    """(a model after some moves, its B in units of the weights)"""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(N, N))
    hessian = root @ root.T / N + 0.3 * np.eye(N)
    scale, block = rng.uniform(0.6, 1.5, N), hessian[np.ix_(MEMBERS, MEMBERS)] * 1.2
    scale[MEMBERS] = 1.0
    pairs = CurvaturePairs(8, N, 1, np.float32, np.ones(N))
    pairs.rebase(scale, dense_head(MEMBERS, block))
    weights = np.cumsum(rng.normal(size=(n_moves + 1, N)), axis=0)
    for k in range(1, n_moves + 1):
        pairs.add(weights[k], weights[k - 1], weights[k] @ hessian, weights[k - 1] @ hessian)
        pairs.direction(weights[k] @ hessian)
    base = np.diag(scale**-2.0)
    base[np.ix_(MEMBERS, MEMBERS)] = block
    moves = [(s, s @ hessian) for s in np.diff(weights, axis=0)]
    if moves:
        s, y = moves[-1]
        base = base * (y @ np.linalg.solve(base, y)) / (s @ y)
    return SparseModel("", pairs), bfgs_matrix(moves, base)


def point(seed):
    rng = np.random.default_rng([seed, 1])
    return np.where(rng.uniform(size=N) < 0.4, 0.0, rng.normal(size=N)), rng.normal(size=N)


def value_of(B, g, w, c1, target):
    u = target - w
    return g @ u + 0.5 * u @ B @ u + c1 * np.abs(target).sum()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("c1", [0.05, 0.5, 3.0])
def test_the_lowest_point_is_that_of_coordinate_descent(monkeypatch, seed, c1):
    monkeypatch.setattr(sparse_model, "ENOUGH", 0.0)  # rounds to the very end
    monkeypatch.setattr(sparse_model, "MOST_ROUNDS", 30)
    model, B = model_with_head(seed, 4)
    w, g = point(seed)
    found = model.lowest(w, g, c1)
    expected = w + lowest_of_model(B, g, w, np.full(N, c1))
    np.testing.assert_allclose(found.target, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(found.target[np.abs(expected) < 1e-9], 0.0)
    promised = g @ (expected - w) + c1 * (np.abs(expected).sum() - np.abs(w).sum())
    assert found.promised == pytest.approx(promised, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("factors", [np.empty(0), np.linspace(0.5, 2.0, N)], ids=["equal", "factors"])
def test_without_pairs_the_model_is_the_first_hessian(monkeypatch, factors):
    monkeypatch.setattr(sparse_model, "ENOUGH", 0.0)
    model, base = model_with_head(3, 0)
    w, g = point(3)
    thresholds = 0.4 * (factors if len(factors) else np.ones(N))
    found = model.lowest(w, g, 0.4, factors)
    steepest = np.where(w == 0.0, g - np.clip(g, -thresholds, thresholds), g + thresholds * np.sign(w))
    sigma = np.sqrt(steepest @ np.linalg.solve(base, steepest))
    expected = w + lowest_of_model(sigma * base, g, w, thresholds)
    np.testing.assert_allclose(found.target, expected, rtol=1e-4, atol=1e-5)


def test_a_step_of_few_rounds_still_lowers_the_model():
    for seed in range(20):
        model, B = model_with_head(seed, 3)
        w, g = point(seed)
        found = model.lowest(w, g, 0.6)
        assert value_of(B, g, w, 0.6, found.target) < value_of(B, g, w, 0.6, w)


def test_rows_of_the_head_are_made_anew_after_the_block_has_changed():
    model, _ = model_with_head(5, 4)
    w, g = point(5)
    model.lowest(w, g, 0.3)
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    scale = np.ones(N)
    model.rebase(scale, dense_head(np.array([0, 4, 7]), root @ root.T + np.eye(3)))
    again = SparseModel("", model.pairs)
    np.testing.assert_array_equal(model.lowest(w, g, 0.3).target, again.lowest(w, g, 0.3).target)
