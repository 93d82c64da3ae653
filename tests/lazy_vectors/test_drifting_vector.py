"""The drifting vector w = beta (v - (S - s) d) against dense w and d."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.lazy_vectors import drifting_vector
from fastcrf.lazy_vectors.drifting_vector import make_drifting
from reference.lazy_ground import Ground, Pair


@pytest.fixture
def ground(monkeypatch):
    return Ground(monkeypatch)


@pytest.mark.parametrize("lam", [0.0, 0.1, 20.0])
@pytest.mark.parametrize(("step", "growth"), [(0.0, 1.0), (0.4, 1.0), (0.4, 0.0)])
def test_it_equals_dense_vectors_for_random_steps_and_a_growing_m(ground, lam, step, growth):
    pair = Pair(ground)
    for m in range(1, 80):
        alpha = pair.rng.uniform(0.0, 1.0) / (1.0 + lam)
        pair.move(1.0 - alpha * lam, alpha / m, step, growth)
    pair.assert_equal()


def test_it_equals_dense_vectors_through_flushes_for_underflow(ground):
    pair, flushes = Pair(ground), 0
    for m in range(1, 60):
        pair.move(pair.rng.uniform(1e-3, 1e-2), 0.3 / m)
        flushes += pair.lazy.state[0] == 1.0
        assert pair.lazy.state[0] >= drifting_vector.SMALLEST
    assert flushes > 5
    pair.assert_equal()


def test_slots_without_a_feature_stay_zero(ground):
    pair, layout, features = Pair(ground), ground.layout, ground.features
    for _ in range(20):
        pair.move(0.9, 0.1, 0.2)
    used = np.zeros((layout.n_rows + layout.n_labels, layout.padded), bool)
    used.reshape(-1)[layout.place[layout.place < layout.n_row_slots]] = True
    used[layout.n_rows + features.sources, features.targets] = True
    assert not pair.lazy.rows.reshape(len(used), 2, -1)[~used[:, None].repeat(2, axis=1)].any()


def test_settling_at_any_time_does_not_change_the_course(ground):
    often, never = Pair(ground), Pair(ground)
    for m in range(1, 40):
        for pair in (often, never):
            pair.move(0.95, 0.2 / m, 0.1)
        often.assert_equal()
    np.testing.assert_allclose(often.settled(), never.settled(), rtol=1e-12, atol=1e-12)


def test_a_settled_vector_goes_on_bit_for_bit_like_a_new_one(ground):
    pair = Pair(ground)
    for _ in range(10):
        pair.move(0.9, 0.1)
    w, d = pair.settled()
    other = Pair(ground)
    other.lazy, other.places = make_drifting(ground.layout, ground.features, w, d)
    other.w, other.d = pair.w, pair.d
    for each in (pair, other):
        each.rng = np.random.default_rng(5)
        for _ in range(10):
            each.move(0.9, 0.1)
    np.testing.assert_array_equal(pair.settled(), other.settled())
