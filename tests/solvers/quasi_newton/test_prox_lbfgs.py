"""Proximal L-BFGS: its model against dense matrices and coordinate descent, its end against the sub-gradient."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.core.solver_state import StateMismatch
from fastcrf.solvers.quasi_newton import curvature_pairs, sparse_columns, sparse_model
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.quasi_newton.prox_lbfgs import ProxLBFGS
from fastcrf.solvers.quasi_newton.sparse_model import SparseModel, compact_form
from reference.plain_proximal_newton import bfgs_matrix, lowest_of_model
from reference.toy_problem import ToyProblem


def walk(seed, n_moves, n_weights):
    """Weights and gradients of a quadratic along a random walk: float32 holds them exactly enough."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_weights, n_weights))
    hessian = root @ root.T / n_weights + 0.3 * np.eye(n_weights)
    weights = np.cumsum(rng.normal(size=(n_moves + 1, n_weights)), axis=0)
    return weights, weights @ hessian


def filled_pairs(weights, gradients, preconditioner):
    pairs = CurvaturePairs(len(weights), weights.shape[1], 1, np.float32, preconditioner)
    for k in range(1, len(weights)):
        pairs.add(weights[k], weights[k - 1], gradients[k], gradients[k - 1])
        pairs.direction(gradients[k])
    return pairs


def dense_matrix(pairs):
    """B in the variables of the rows, by the updates of BFGS."""
    rows = np.asarray(pairs.basis, float)
    stored = [(rows[2 * slot], rows[2 * slot + 1]) for slot in pairs.order]
    s, y = stored[-1]
    return bfgs_matrix(stored, (y @ y) / (s @ y) * np.eye(rows.shape[1])), stored


@pytest.mark.parametrize("m", [1, 2, 5])
def test_the_compact_form_is_the_matrix_of_the_updates(m):
    weights, gradients = walk(m, m, 8)
    pairs = filled_pairs(weights, gradients, np.ones(8))
    B, stored = dense_matrix(pairs)
    W = np.array([s for s, _ in stored] + [y for _, y in stored])
    sigma, lengths, middle = compact_form(W @ W.T, 1.0)
    scaled = W.T * lengths
    np.testing.assert_allclose(sigma * np.eye(8) - scaled @ np.linalg.solve(middle, scaled.T), B, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("c1", [0.05, 0.5, 3.0])
def test_the_lowest_point_is_that_of_coordinate_descent(monkeypatch, seed, c1):
    monkeypatch.setattr(sparse_model, "ENOUGH", 0.0)  # rounds to the very end
    rng = np.random.default_rng(seed)
    weights, gradients = walk(seed, 4, 12)
    preconditioner = rng.uniform(0.3, 2.0, 12)
    pairs = filled_pairs(weights, gradients, preconditioner)
    B, _ = dense_matrix(pairs)
    w = np.where(rng.uniform(size=12) < 0.4, 0.0, rng.normal(size=12))
    g = rng.normal(size=12)
    found = SparseModel("", pairs).lowest(w, g, c1).target
    scale = np.sqrt(preconditioner)
    expected = w + scale * lowest_of_model(B, g * scale, w / scale, c1 * scale)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found[np.abs(expected) < 1e-9], 0.0)


@pytest.mark.parametrize(("c1", "c2"), [(0.5, 0.1), (2.0, 0.0), (5.0, 1.0)])
def test_it_ends_where_owlqn_ends_with_the_same_zeros(c1, c2):
    toy = ToyProblem(c1=c1, c2=c2)
    ours = list(islice(ProxLBFGS().iterate(toy, np.zeros(toy.n_weights)), 120))[-1]
    theirs = list(islice(OWLQN().iterate(toy, np.zeros(toy.n_weights)), 2000))[-1]
    assert ours.objective <= theirs.objective * (1 + 1e-9)
    np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-3)
    assert np.count_nonzero(ours.weights) <= np.count_nonzero(theirs.weights)


def test_the_objective_falls_with_every_step():
    toy = ToyProblem(c1=0.5, c2=0.1)
    objectives = [step.objective for step in islice(ProxLBFGS(pairs=3).iterate(toy, np.zeros(toy.n_weights)), 30)]
    assert objectives == sorted(objectives, reverse=True)


def test_where_the_penalty_holds_every_weight_at_zero_nothing_is_left_to_gain():
    toy = ToyProblem(c1=1e4, c2=1.0)
    run = ProxLBFGS().iterate(toy, np.zeros(toy.n_weights))
    next(run)
    with pytest.raises(StopIteration, match="prox-lbfgs cannot improve further"):
        next(run)


def test_pairs_that_mislead_are_dropped():
    """Curvature of another function: far too small, so that no step along the model's gains."""
    toy = ToyProblem(c1=0.5, c2=0.1)
    run = ProxLBFGS(max_linesearch=2).iterate(toy, np.zeros(toy.n_weights))
    there = list(islice(run, 4))[-1]
    state = {name: np.array(value) for name, value in there.state.items()}
    state["basis"][1::2] *= 1e-6
    factors = np.where(np.arange(len(state["gram"])) % 2, 1e-6, 1.0)
    state["gram"] *= np.outer(factors, factors)
    first, second = islice(ProxLBFGS(max_linesearch=2).iterate(toy, np.zeros(toy.n_weights), state), 2)
    assert second.objective < first.objective
    assert len(second.state["order"]) == 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_on_threads_the_lowest_point_is_the_same(monkeypatch, n_jobs):
    monkeypatch.setattr(curvature_pairs, "SHARD", 100)
    monkeypatch.setattr(sparse_columns, "SHARD", 100)
    monkeypatch.setattr(sparse_model, "ENOUGH", 0.0)
    rng = np.random.default_rng(0)
    weights = np.cumsum(rng.normal(size=(5, 999)), axis=0)
    gradients = weights * rng.uniform(0.5, 2.0, 999)
    pairs = CurvaturePairs(4, 999, n_jobs, np.float32, np.ones(999))
    for k in range(1, 5):
        pairs.add(weights[k], weights[k - 1], gradients[k], gradients[k - 1])
        pairs.direction(gradients[k])
    found = SparseModel("", pairs).lowest(weights[4], gradients[4], 0.5).target
    assert len(pairs.bounds) == n_jobs + 1
    B, _ = dense_matrix(pairs)
    step = found - weights[4]
    slopes = gradients[4] + B @ step
    kept = found != 0.0
    np.testing.assert_allclose(slopes[kept], -0.5 * np.sign(found[kept]), atol=1e-4)
    assert (np.abs(slopes[~kept]) <= 0.5 + 1e-4).all()


def test_sums_that_live_on_are_those_that_are_summed_from_the_start():
    toy = ToyProblem(c1=0.5, c2=0.1)
    solver, start = ProxLBFGS(pairs=3), np.zeros(toy.n_weights)
    for there in islice(solver.iterate(toy, start), 3, 9):
        state = {name: np.array(value) for name, value in there.state.items()}
        assert len(state["inner"]) >= 4
        without = {name: value for name, value in state.items() if name != "inner"}
        kept, afresh = (list(islice(solver.iterate(toy, start, some), 2))[-1] for some in (state, without))
        np.testing.assert_allclose(kept.weights, afresh.weights, rtol=1e-7, atol=1e-10)


def test_sums_of_other_pairs_raise_an_error():
    toy = ToyProblem(c1=0.5, c2=0.1)
    there = list(islice(ProxLBFGS().iterate(toy, np.zeros(toy.n_weights)), 5))[-1]
    state = dict(there.state) | {"inner": np.zeros((4, 4))}
    with pytest.raises(StateMismatch, match=r"'inner' has the shape \(4, 4\), but there are 8 rows of pairs"):
        next(ProxLBFGS().iterate(toy, np.zeros(toy.n_weights), state))


@pytest.mark.parametrize("seed", range(3))
def test_sums_follow_the_weights_wherever_the_search_ends(seed):
    rng = np.random.default_rng(seed)
    weights, gradients = walk(seed, 3, 12)
    pairs = filled_pairs(weights, gradients, np.ones(12))
    model = SparseModel("", pairs)
    model.lowest(weights[-1], gradients[-1], 0.5)
    ended = np.where(rng.uniform(size=12) < 0.5, 0.0, 1.0)
    model.settle(ended)
    kept = np.asarray(pairs.basis[: 2 * pairs.used, ended != 0.0], float)
    np.testing.assert_allclose(model.inner, kept @ kept.T, rtol=1e-9, atol=1e-9)
