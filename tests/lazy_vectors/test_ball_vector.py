"""The vector in a ball, z = beta (v - S D) and the sum of all z's, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.lazy_vectors.ball_vector import D_D, RADIUS, SMALLEST, make_ball
from fastcrf.lazy_vectors.lazy_vector import advance, collect_values, flush, settle, turn
from fastcrf.lazy_vectors.reading import gather
from reference.lazy_ground import Ground

RIDGE = 0.7


@pytest.fixture
def ground(monkeypatch):
    return Ground(monkeypatch)


class Pair:
    """A lazy vector in a ball and its dense twin, which make the same moves."""

    def __init__(self, ground, radius, seed=1):
        self.ground, self.radius, self.rng = ground, radius, np.random.default_rng(seed)
        self.centre, self.d = self.rng.normal(size=(2, ground.n_weights))
        self.z, self.total = np.zeros((2, ground.n_weights))
        self.lazy, self.places, self.centre_places = make_ball(
            ground.layout, ground.features, (self.z, self.d), (self.centre, self.total), RIDGE, radius
        )
        flush(self.lazy, ground.lanes)
        self.projections = 0

    def move(self, shrink, amount, step):
        """A draw: read a sequence's weights, z -= step g; then z <- shrink z - amount D, nearest point in the ball."""
        ground, space, i = self.ground, self.ground.space, int(self.rng.integers(self.ground.n_sequences))
        support, K, lanes = ground.blocks.support, ground.layout.n_labels, ground.lanes
        gather(self.lazy, support, i, space.weights, space.edges.scores, lanes)
        expected = (self.centre + self.z) * ground.touched(i)
        np.testing.assert_allclose(ground.gathered(i), expected, rtol=1e-12, atol=1e-11)
        g = self.rng.normal(size=ground.n_weights) * ground.touched(i)
        self.z = shrink * (self.z - step * g) - amount * (self.d + RIDGE * self.centre)
        if np.linalg.norm(self.z) > self.radius:
            self.z, self.projections = self.z * self.radius / np.linalg.norm(self.z), self.projections + 1
        self.total = self.total + self.z
        turn(self.lazy, support, i, 0.0, step, *ground.spread(i, g), K, lanes)
        advance(self.lazy, shrink, amount, lanes)

    def assert_equal(self):
        z, d, centre, total = np.empty((4, self.ground.n_weights))
        settle(self.lazy, self.places, 0.0, z, d, self.ground.lanes)
        collect_values(self.centre_places, 0.0, centre, total)
        np.testing.assert_allclose(z, self.z, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(total, self.total, rtol=1e-11, atol=1e-10)
        np.testing.assert_array_equal(d, self.d)
        np.testing.assert_array_equal(centre, self.centre)
        assert self.lazy.state[D_D] == pytest.approx(np.sum((d + RIDGE * centre) ** 2))
        assert self.lazy.state[RADIUS] == self.radius


@pytest.mark.parametrize("shrink", [1.0, 0.95])
@pytest.mark.parametrize("radius", [np.inf, 2.0, 0.3])
def test_it_equals_dense_vectors_for_random_steps(ground, shrink, radius):
    pair = Pair(ground, radius)
    for _ in range(60):
        pair.move(shrink, pair.rng.uniform(0.0, 0.1), pair.rng.uniform(0.0, 0.3))
    pair.assert_equal()
    assert (pair.projections > 0) == (radius < np.inf)


def test_it_equals_dense_vectors_through_flushes_for_underflow(ground):
    pair, flushes = Pair(ground, 0.5), 0
    for _ in range(60):
        pair.move(pair.rng.uniform(1e-3, 1e-2), 0.05, 0.2)
        flushes += pair.lazy.state[0] == 1.0
        assert pair.lazy.state[0] >= SMALLEST
    assert flushes > 5
    pair.assert_equal()


def test_settling_at_any_time_does_not_change_the_course(ground):
    often, never = Pair(ground, 1.0), Pair(ground, 1.0)
    for _ in range(40):
        for pair in (often, never):
            pair.move(0.95, 0.05, 0.2)
        often.assert_equal()
    never.assert_equal()
