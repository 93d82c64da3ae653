"""The loss along a direction, and the search for a Lipschitz constant, against enumeration."""

import numpy as np
import pytest

from fastcrf.inference.expectations import score_block
from fastcrf.inference.forward_backward import make_edges
from fastcrf.solvers.sag.schemes.lipschitz_search import Ray, loss_along, make_direction, search_lipschitz
from fastcrf.stochastic.local_change import mask_change
from reference import brute_force
from reference.dense_sag import SequenceLoss, line_search
from reference.lazy_ground import Ground


class Aimed:
    """A ray from weights w along a direction g, for sequence i of the ground."""

    def __init__(self, ground, i, w, g):
        self.ground, self.i, layout = ground, i, ground.layout
        table, edge_change = ground.spread(i, g)
        self.square = mask_change(ground.blocks.support, i, table, edge_change, layout.n_labels, ground.lanes)
        direction = make_direction(ground.blocks)
        scores = brute_force.label_scores(ground.corpus, ground.features, w, i)
        direction.scores[:] = ground.space.lattice.bias[0]
        direction.scores[: len(scores), : layout.n_labels] = scores
        score_block(ground.blocks.local, table, direction.bias, i, i + 1, direction.slopes, ground.lanes)
        direction.edge_slopes[:] = edge_change
        edges = make_edges(brute_force.transition_scores(ground.features, w), layout.padded).scores
        self.ray = Ray(ground.blocks.chains, direction, edges, ground.space.lattice, layout.n_labels)

    def loss(self, step, weight=1.0):
        chains = self.ray.chains._replace(weights=np.full(self.ground.n_sequences, weight))
        return loss_along(self.ray._replace(chains=chains), self.i, step, self.ground.lanes)

    def search(self, loss, L, down):
        return search_lipschitz(self.ray, self.i, loss, self.square, L, down, self.ground.lanes)


@pytest.fixture
def ground(monkeypatch):
    return Ground(monkeypatch)


@pytest.mark.parametrize("i", range(5))
def test_the_loss_along_a_direction_equals_enumeration(ground, i):
    rng = np.random.default_rng(i)
    w, g = rng.normal(size=ground.n_weights), rng.normal(size=ground.n_weights) * ground.touched(i)
    aimed, plain = Aimed(ground, i, w, g), SequenceLoss(ground.corpus, ground.features)
    assert aimed.square == pytest.approx(g @ g, rel=1e-12)
    for step in (0.0, 1e-3, 1.0, 40.0):
        assert aimed.loss(step) == pytest.approx(plain.value(i, w - step * g), rel=1e-12, abs=1e-12)
    assert aimed.loss(1.0, weight=2.5) == pytest.approx(2.5 * plain.value(i, w - g), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e3])
def test_the_search_finds_what_algorithm_2_finds_and_counts_its_trials(ground, start, down):
    plain = SequenceLoss(ground.corpus, ground.features)
    w = np.random.default_rng(3).normal(size=ground.n_weights)
    for i in range(ground.n_sequences):
        loss, g = plain.value(i, w), plain.gradient(i, w)
        found = Aimed(ground, i, w, g).search(loss, start, down)
        assert found == line_search(plain, i, w, loss, g, start, down)


def test_at_a_flat_point_the_search_ends_in_spite_of_rounding(ground):
    w, plain = np.zeros(ground.n_weights), SequenceLoss(ground.corpus, ground.features)
    g = 1e-9 * plain.gradient(0, w)
    L, trials = Aimed(ground, 0, w, g).search(plain.value(0, w), 1.0, down=False)
    assert np.isfinite(L)
    assert trials <= 60
