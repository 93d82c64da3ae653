"""The drifting vector w = beta (v - (S - s) d) against dense w and d."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.parts import drifting_vector
from fastcrf.parts.drifting_vector import make_drifting
from fastcrf.parts.lazy_vector import drift, gather, settle, turn
from reference.lazy_ground import Ground


@pytest.fixture
def ground(monkeypatch):
    return Ground(monkeypatch)


class Pair:
    """A drifting vector and its dense twins, which make the same moves."""

    def __init__(self, ground, seed=1):
        self.ground, self.rng = ground, np.random.default_rng(seed)
        self.w, self.d = self.rng.normal(size=(2, ground.n_weights))
        self.lazy, self.places = make_drifting(ground.layout, ground.features, self.w, self.d)

    def move(self, shrink, amount, step=0.0, growth=1.0):
        """A draw: read a sequence's weights, d <- d + growth g, w <- w - step g; then w <- shrink w - amount d."""
        ground, space, i = self.ground, self.ground.space, int(self.rng.integers(self.ground.n_sequences))
        support, K, lanes = ground.sequences.support, ground.layout.n_labels, ground.lanes
        gather(self.lazy, support, i, space.weights, space.edges.scores, K, lanes)
        scale = max(1.0, np.abs(self.w).max())
        np.testing.assert_allclose(ground.gathered(i), self.w * ground.touched(i), rtol=1e-12, atol=1e-12 * scale)
        g = self.rng.normal(size=ground.n_weights) * ground.touched(i)
        self.d = self.d + growth * g
        self.w = shrink * (self.w - step * g) - amount * self.d
        turn(self.lazy, support, i, growth, step, *ground.spread(i, g), K, lanes)
        drift(self.lazy, shrink, amount, lanes)

    def settled(self):
        w, d = np.empty((2, self.ground.n_weights))
        square = settle(self.lazy, self.places, 0.7, w, d, self.ground.lanes)
        assert square == pytest.approx(np.sum((d + 0.7 * w) ** 2))
        return w, d

    def assert_equal(self):
        w, d = self.settled()
        scale = max(1.0, np.abs(self.w).max(), np.abs(self.d).max())
        np.testing.assert_allclose(w, self.w, rtol=1e-12, atol=1e-12 * scale)
        np.testing.assert_allclose(d, self.d, rtol=1e-12, atol=1e-12 * scale)


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
