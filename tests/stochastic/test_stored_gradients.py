"""Whatever the form in which gradients are kept: what changes adds up to what is kept."""

import numpy as np
import pytest

from fastcrf.feature_space import layout as layout_module
from fastcrf.inference.edges import refresh_edges
from fastcrf.inference.expectations import score_block
from fastcrf.inference.forward_backward import WIDEST_SPREAD
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.objective.blocks import collect_change, infer_block, make_blocks, make_workspace
from fastcrf.stochastic.gradient_storage import FORMS, make_gradients, stored_arrays
from fastcrf.stochastic.stored_gradients import exchange
from reference.random_corpora import random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3)
each_form = pytest.mark.parametrize("form", FORMS)
each_precision = pytest.mark.parametrize("precision", ["double", "single"])


@noalloc_kernel
def infer_scored(chains, i, space, n_labels, lanes):
    edges = refresh_edges(space.edges, n_labels, space.lattice.bias, lanes)
    return infer_block(chains, i, edges, space, n_labels, lanes)


class Visits:
    """Blocks of one, two and two sequences, of rows and cells, values and weights, that are visited at random scores.

    The scores of the second block are too wide for the probability domain.
    """

    def __init__(self, monkeypatch):
        monkeypatch.setattr(layout_module, "dense_threshold", lambda padded: 2)
        corpus = random_corpus(1, lengths=LENGTHS, n_attributes=9, values=True, weights=True)
        features = random_features(1, n_attributes=9)
        layout = layout_module.make_layout(features)
        positions = layout_module.make_positions(corpus, features, layout)
        self.blocks = make_blocks(corpus, features, positions, layout, np.array([0, 1, 3, 5]))
        self.space, self.lanes = make_workspace(self.blocks), (0,) * layout.width
        assert layout.n_rows > 0 < layout.n_cells

    def visit(self, seed, i):
        """Leave residuals of block i at random weights in the workspace; return them by attribute, transitions last."""
        rng, (local, support, chains, layout, _), space = np.random.default_rng(seed), self.blocks, self.space
        K, (first, last) = layout.n_labels, chains.bounds[[i, i + 1]]
        for array in (space.weights.rows, space.weights.cells):
            array[:] = rng.normal(size=array.shape) * (3 * WIDEST_SPREAD if i == 1 else 1.0)
        space.edges.scores[:K, :K] = rng.normal(size=(K, K))
        score_block(local, space.weights, space.lattice.bias, first, last, space.lattice.scores, self.lanes)
        infer_scored(chains, i, space, K, self.lanes)
        assert space.wide_edges.any() == (i == 1)
        collect_change(local, chains.bounds, support, i, space.lattice.scores, space.change, self.lanes)
        return self.flat(i, space.change, space.edge_sums)

    def exchange(self, gradients, i, growth=1.0):
        exchange(gradients, self.blocks, i, growth, self.space, self.lanes)
        return self.flat(i, gradients.change, gradients.edge_change)

    def flat(self, i, table, edges):
        support, K = self.blocks.support, self.blocks.layout.n_labels
        rows, cells = (starts[i + 1] - starts[i] for starts in (support.row_starts, support.cell_starts))
        return np.concatenate((table.rows[:rows, :K].ravel(), table.cells[:cells], edges[:K, :K].ravel()))


@pytest.fixture
def visits(monkeypatch):
    return Visits(monkeypatch)


@each_form
@each_precision
def test_changes_add_up_to_the_gradient_of_the_last_visit(visits, form, precision):
    gradients, sums, last = make_gradients(visits.blocks, form, precision), {}, {}
    for seed, i in enumerate((0, 1, 2, 1, 0, 0, 2)):
        last[i] = visits.visit(seed, i)
        sums[i] = sums.get(i, 0.0) + visits.exchange(gradients, i)
    for i in range(3):
        np.testing.assert_allclose(sums[i], last[i], rtol=0, atol=1e-13 if precision == "double" else 1e-5)


@each_form
def test_rounding_is_a_part_of_the_change(visits, form):
    """Then changes add up to what is kept, rounded as it is; at growth 0 the same weights again show the difference."""
    gradients, total = make_gradients(visits.blocks, form, "single"), 0.0
    for seed in range(5):
        new = visits.visit(seed, 2)
        total = total + visits.exchange(gradients, 2)
    np.testing.assert_allclose(visits.exchange(gradients, 2, growth=0.0), new - total, rtol=0, atol=1e-14)
    assert np.abs(new - total).max() > 1e-10


@each_form
def test_without_growth_nothing_kept_changes(visits, form):
    gradients = make_gradients(visits.blocks, form, "double")
    for i in range(3):
        visits.visit(i, i)
        visits.exchange(gradients, i)
    kept = {name: array.copy() for name, array in stored_arrays(gradients).items()}
    for _ in range(2):
        before, after = visits.visit(1, 1), visits.visit(7, 1)
        np.testing.assert_allclose(visits.exchange(gradients, 1, growth=0.0), after - before, rtol=0, atol=1e-13)
    for name, array in stored_arrays(gradients).items():
        assert array.any() or array.size == 0
        np.testing.assert_array_equal(array, kept[name])
