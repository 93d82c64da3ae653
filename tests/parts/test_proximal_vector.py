"""Lazy proximal steps against the same steps one after the other."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.parts.lazy_vector import drift, settle
from fastcrf.parts.proximal_vector import ProximalVector, catch_up, catch_up_row, make_proximal
from reference.lazy_ground import Ground, Pair
from reference.plain_proximal import repeated_steps

numbers = st.floats(-4.0, 4.0, allow_subnormal=False)


def sums_of(amounts):
    return np.concatenate(([0.0], np.cumsum(amounts)))


@settings(deadline=None)  # the first call compiles
@given(
    v=numbers | st.just(0.0),
    d=numbers | st.sampled_from([0.0, 1.0, -1.0]),
    c1=st.floats(0.0, 2.0, allow_subnormal=False) | st.sampled_from([0.0, 1.0]),
    amounts=st.lists(st.floats(0.0, 2.0, allow_subnormal=False), min_size=1, max_size=12),
    skipped=st.integers(0, 11),
)
def test_catching_up_equals_the_steps_one_by_one(v, d, c1, amounts, skipped):
    first = min(skipped, len(amounts))
    found = catch_up(v, d, sums_of(amounts), first, len(amounts), c1)
    assert found == pytest.approx(repeated_steps(v, d, amounts[first:], c1), rel=1e-12, abs=1e-13)


def random_cases(n):
    """(v, d, amounts, c1) of which many are zero, equal or of steps that pass zero."""
    rng = Random(0)
    for _ in range(n):
        c1 = rng.choice([0.0, 1.0, rng.expovariate(1.0)])
        d = rng.choice([0.0, c1, -c1, rng.gauss(0.0, 1.0), rng.gauss(0.0, 3.0)])
        v = rng.choice([0.0, rng.gauss(0.0, 1.0), math.copysign(rng.expovariate(1.0), d)])
        usual = rng.choice([0.01, 0.3, 2.0])
        yield v, d, [rng.expovariate(1.0 / usual) for _ in range(rng.randint(1, 30))], c1


def test_twenty_thousand_random_weights_catch_up_and_are_zero_where_they_should_be():
    passed = zeros = 0
    for v, d, amounts, c1 in random_cases(20_000):
        expected = repeated_steps(v, d, amounts, c1)
        found = catch_up(v, d, sums_of(amounts), 0, len(amounts), c1)
        assert abs(found - expected) <= 1e-12 + 1e-10 * abs(expected)
        assert (found == 0.0) == (expected == 0.0)
        passed, zeros = passed + (v * expected < 0), zeros + (expected == 0.0)
    assert passed > 1000 < zeros


def test_a_row_catches_up_lane_by_lane():
    lanes, cases = (0,) * 4, list(random_cases(4000))
    for start in range(0, len(cases), 4):
        v, d = np.array([case[:2] for case in cases[start : start + 4]]).T
        _, _, amounts, c1 = cases[start]
        state, sums = np.array([1.0, len(amounts)]), sums_of(amounts)
        vector = ProximalVector(np.array([v, d]), np.zeros(1), np.zeros((0, 3)), state, sums, float(c1))
        catch_up_row(vector, 0, lanes)
        expected = [repeated_steps(*pair, amounts, c1) for pair in zip(v, d, strict=True)]
        np.testing.assert_allclose(vector.rows[0], expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(vector.rows[0] == 0.0, np.equal(expected, 0.0))
        assert vector.stamps[0] == len(amounts)


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
    drift(pair.lazy, 0.9, 0.1, ground.lanes)
    w, d = np.empty((2, ground.n_weights))
    assert np.isnan(settle(pair.lazy, pair.places, 0.7, w, d, ground.lanes))
    assert np.isnan(w).sum() == 2
