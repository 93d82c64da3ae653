"""The scaled vector w = c v against a dense one."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.lazy_vectors import scaled_vector
from fastcrf.lazy_vectors.reading import gather
from fastcrf.lazy_vectors.scaled_vector import (
    load_scaled,
    make_scaled,
    settle_scaled,
    shrink_scaled,
    square_scaled,
)
from fastcrf.lazy_vectors.turning import turn_attributes, turn_edges
from reference.lazy_ground import Ground


@pytest.fixture
def ground(monkeypatch):
    return Ground(monkeypatch)


class Pair:
    """A scaled vector and its dense twin, which make the same moves."""

    def __init__(self, ground, seed=1):
        self.ground, self.rng = ground, np.random.default_rng(seed)
        self.dense = self.rng.normal(size=ground.n_weights)
        self.lazy = make_scaled(ground.layout, ground.features, self.dense)

    def move(self, factor, step):
        """w <- factor w - step g, g of a random sequence."""
        ground, i = self.ground, int(self.rng.integers(self.ground.n_sequences))
        g = self.rng.normal(size=ground.n_weights) * ground.touched(i)
        self.dense = factor * self.dense - step * g
        table, edges = ground.spread(i, g)
        shrink_scaled(self.lazy, factor)
        of_v = step / self.lazy.factor[0]
        turn_attributes(self.lazy, ground.blocks.support, i, 0.0, of_v, table, ground.lanes)
        masks, K = ground.blocks.support.masks, ground.layout.n_labels
        turn_edges(self.lazy, masks, 0.0, of_v, edges, K, ground.lanes)

    def settled(self):
        weights = np.empty(self.ground.n_weights)
        settle_scaled(self.lazy, self.ground.layout, self.ground.features, weights)
        return weights

    def assert_equal(self):
        scale = max(1.0, np.abs(self.dense).max())
        np.testing.assert_allclose(self.settled(), self.dense, rtol=1e-12, atol=1e-12 * scale)
        assert square_scaled(self.lazy) == pytest.approx(self.dense @ self.dense, rel=1e-12)


@pytest.mark.parametrize("factors", [(0.5, 1.0), (1e-3, 1e-2), (1.0, 4.0), (-3.0, 1.5), (-0.2, 0.1)])
def test_it_equals_the_dense_vector_whatever_the_factors(ground, factors):
    pair = Pair(ground)
    for _ in range(60):
        pair.move(pair.rng.uniform(*factors), pair.rng.uniform(0.0, 2.0))
        pair.assert_equal()


def test_a_factor_of_zero_begins_anew(ground):
    pair = Pair(ground)
    for factor in (0.5, 0.0, 0.25, 0.0, 1.0):
        pair.move(factor, 0.7)
        pair.assert_equal()


@pytest.mark.parametrize("factor", [1e-3, 1e3, -1e-3, -1e3])
def test_c_stays_in_its_range(ground, factor):
    pair = Pair(ground)
    for _ in range(20):
        pair.move(factor, 0.0)
        assert scaled_vector.SMALLEST <= abs(pair.lazy.factor[0]) <= scaled_vector.LARGEST


def test_a_sequence_sees_the_weights_of_its_attributes_and_the_transitions(ground):
    pair = Pair(ground)
    for k in range(20):
        pair.move(0.3, 0.5)
        i, space = k % ground.n_sequences, ground.space
        support = ground.blocks.support
        gather(pair.lazy, support, i, space.weights, space.edges.scores, ground.lanes)
        np.testing.assert_allclose(ground.gathered(i), pair.dense * ground.touched(i), rtol=1e-12, atol=1e-14)


def test_slots_without_a_feature_stay_zero(ground):
    pair = Pair(ground)
    for _ in range(20):
        pair.move(0.9, 0.5)
    pair.lazy.rows.reshape(-1)[ground.layout.place[ground.layout.place < ground.layout.n_row_slots]] = 0.0
    pair.lazy.rows[ground.layout.n_rows + ground.features.sources, ground.features.targets] = 0.0
    assert not pair.lazy.rows.any()


def test_loading_settled_weights_goes_on_bit_for_bit_like_a_new_vector(ground):
    pair = Pair(ground)
    for _ in range(10):
        pair.move(0.7, 0.3)
    weights = pair.settled()
    load_scaled(pair.lazy, ground.layout, ground.features, weights)
    other = Pair(ground)
    other.lazy, other.dense = make_scaled(ground.layout, ground.features, weights), pair.dense
    for each in (pair, other):
        each.rng = np.random.default_rng(5)
        for _ in range(10):
            each.move(0.7, 0.3)
    np.testing.assert_array_equal(pair.settled(), other.settled())
