"""Lazy proximal steps against the same steps one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.lazy_vectors.lazy_vector import advance, settle
from fastcrf.lazy_vectors.proximal_vector import ProximalVector, make_proximal
from fastcrf.lazy_vectors.reading import read_cells, read_rows
from reference.lazy_ground import Ground, Pair
from reference.plain_proximal import repeated_steps

numbers = st.floats(-4.0, 4.0, allow_subnormal=False)


def vector_of(v, d, amounts, c1, first=0):
    """Weights v with drift d that were last visited after `first` of the steps, as lanes of rows and as cells."""
    rows = np.array([v, d], np.float64).reshape(2, -1, 4).swapaxes(0, 1).reshape(-1, 4).copy()
    cells = np.array([v, d, np.full(len(v), first)], np.float64).T.copy()
    state, sums = np.array([0.5, len(amounts)]), np.concatenate(([0.0], np.cumsum(amounts)))
    return ProximalVector(rows, np.full(len(rows) // 2, float(first)), cells, state, sums, float(c1))


def caught_up(vector):
    """All weights twice, brought up to date as rows and as cells."""
    weights, cells = np.zeros((len(vector.stamps), 4)), np.zeros(len(vector.cells))
    read_rows(vector, np.arange(len(weights), dtype=np.uint32), weights, (0,) * 4)
    read_cells(vector, np.arange(len(cells), dtype=np.uint32), cells)
    np.testing.assert_array_equal(weights, 0.5 * vector.rows[::2])
    np.testing.assert_array_equal(cells, 0.5 * vector.cells[:, 0])
    assert {*vector.stamps, *vector.cells[:, 2]} == {len(vector.sums) - 1}
    return vector.rows[::2].ravel(), vector.cells[:, 0]


@given(
    v=st.lists(numbers | st.just(0.0), min_size=4, max_size=4),
    d=st.lists(numbers | st.sampled_from([0.0, 1.0, -1.0]), min_size=4, max_size=4),
    c1=st.floats(0.0, 2.0, allow_subnormal=False) | st.sampled_from([0.0, 1.0]),
    amounts=st.lists(st.floats(0.0, 2.0, allow_subnormal=False), min_size=1, max_size=12),
    first=st.integers(0, 11),
)
def test_catching_up_equals_the_steps_one_by_one(v, d, c1, amounts, first):
    first = min(first, len(amounts))
    expected = [repeated_steps(*pair, amounts[first:], c1) for pair in zip(v, d, strict=True)]
    for found in caught_up(vector_of(v, d, amounts, c1, first)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_twenty_thousand_random_weights_catch_up_and_are_zero_where_they_should_be():
    rng, passed, zeros = np.random.default_rng(0), 0, 0
    for _ in range(100):
        c1 = rng.choice([0.0, 1.0, rng.exponential()])
        d = rng.choice([0.0, c1, -c1, *rng.normal(size=20), *rng.normal(size=20, scale=3.0)], size=200)
        v = np.where(rng.random(200) < 0.5, np.sign(d) * rng.exponential(size=200), rng.normal(size=200))
        v[rng.random(200) < 0.2] = 0.0
        amounts = rng.exponential(rng.choice([0.01, 0.3, 2.0]), size=rng.integers(1, 40))
        expected = np.array([repeated_steps(*pair, amounts, c1) for pair in zip(v, d, strict=True)])
        for found in caught_up(vector_of(v, d, amounts, c1)):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
            np.testing.assert_array_equal(found == 0.0, expected == 0.0)
        passed, zeros = passed + np.sum(v * expected < 0), zeros + np.sum(expected == 0.0)
    assert passed > 1000 < zeros


@pytest.fixture
def ground(monkeypatch):
    return Ground(monkeypatch)


def proximal_pair(ground, c1, n_steps=100):
    return Pair(ground, lambda *args: make_proximal(*args, c1, n_steps), c1)


def assert_same_zeros(pair):
    pair.assert_equal()
    np.testing.assert_array_equal(pair.settled()[0] == 0.0, pair.w == 0.0)


@pytest.mark.parametrize("lam", [0.0, 0.1])
@pytest.mark.parametrize("c1", [0.0, 0.5, 4.0])
@pytest.mark.parametrize(("step", "growth"), [(0.3, 1.0), (0.3, 0.0)])
def test_it_equals_dense_vectors_with_the_same_zeros(ground, lam, c1, step, growth):
    pair, zeros = proximal_pair(ground, c1), 0
    for _ in range(80):
        alpha = pair.rng.uniform(0.0, 0.5)
        pair.move(1.0 - alpha * lam, alpha / 5, alpha * step, growth)
        zeros += np.count_nonzero(pair.w == 0.0)
    assert_same_zeros(pair)
    assert (zeros > 0) == (c1 > 0.0)


def test_it_flushes_itself_when_the_sums_are_full_and_before_an_underflow(ground):
    pair, flushes = proximal_pair(ground, 0.5, n_steps=7), 0
    for k in range(60):
        pair.move(0.97 if k < 30 else 1e-4, 0.1, 0.02)
        assert pair.lazy.state[1] < 7
        flushes += pair.lazy.state[1] == 0
    assert flushes == 30 // 7 + 10
    assert_same_zeros(pair)


def test_settling_at_any_time_does_not_change_the_course(ground):
    often, never = proximal_pair(ground, 0.5), proximal_pair(ground, 0.5)
    for _ in range(40):
        for pair in (often, never):
            pair.move(0.95, 0.05, 0.1)
        assert_same_zeros(often)
    np.testing.assert_allclose(often.settled(), never.settled(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("c1", [0.0, 0.5])
def test_a_nan_stays_a_nan(ground, c1):
    pair = proximal_pair(ground, c1)
    place = pair.places.place
    in_a_row = place < pair.places.n_row_slots
    pair.places.flat[[place[in_a_row][0], place[~in_a_row][0]]] = np.nan
    advance(pair.lazy, 0.9, 0.1, ground.lanes)
    w, d = np.empty((2, ground.n_weights))
    assert np.isnan(settle(pair.lazy, pair.places, 0.7, w, d, ground.lanes))
    assert np.isnan(w).sum() == 2
