"""What lazy vectors are tested on: sequences with dense rows and single cells, and compact changes of their weights."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.feature_space import layout as layout_module
from fastcrf.lazy_vectors.drifting_vector import make_drifting
from fastcrf.lazy_vectors.lazy_vector import advance, settle, turn
from fastcrf.lazy_vectors.reading import gather
from fastcrf.objective.blocks import make_blocks, make_workspace
from reference.plain_proximal import soft
from reference.random_corpora import random_corpus, random_features

JUNK = 7.0  # where a local table has no feature


class Ground:
    """A small corpus by sequence; attributes with one label are cells, the others are rows."""

    def __init__(self, monkeypatch, seed=0):
        monkeypatch.setattr(layout_module, "dense_threshold", lambda padded: 2)
        self.features = random_features(seed, n_attributes=9)
        self.corpus = random_corpus(seed, lengths=(3, 1, 4, 2, 3), n_attributes=9)
        self.layout = layout_module.make_layout(self.features)
        positions = layout_module.make_positions(self.corpus, self.features, self.layout)
        self.blocks = make_blocks(self.corpus, self.features, positions, self.layout)
        self.space = make_workspace(self.blocks)
        self.lanes = (0,) * self.layout.width
        assert self.layout.n_rows > 0 < self.layout.n_cells

    @property
    def n_sequences(self):
        return self.corpus.n_sequences

    @property
    def n_weights(self):
        return self.features.n_weights

    def touched(self, i):
        """Which weights sequence i can move: those of its attributes, and all transitions."""
        found = np.zeros(self.n_weights, bool)
        found[self.features.n_state :] = True
        for a in self.corpus.attributes[slice(*self.corpus.offsets[self.corpus.starts[[i, i + 1]]])]:
            found[self.features.offsets[a] : self.features.offsets[a + 1]] = True
        return found

    def places(self, i, table):
        """(f, array, index): where the local `table` of sequence i holds its state weights."""
        support, layout = self.blocks.support, self.layout
        rows = list(support.rows[slice(*support.row_starts[[i, i + 1]])])
        cells = list(support.cells[slice(*support.cell_starts[[i, i + 1]])])
        for f in np.flatnonzero(self.touched(i)[: self.features.n_state]):
            row, slot = divmod(int(layout.place[f]), layout.padded)
            if row < layout.n_rows:
                yield f, table.rows, (rows.index(row), slot)
            else:
                yield f, table.cells, cells.index(int(layout.place[f]) - layout.n_row_slots)

    def spread(self, i, change):
        """A compact change as local table and transition matrix of sequence i."""
        table, edges = self.space.change, self.space.edge_change
        table.rows[:], table.cells[:], edges[:] = JUNK, JUNK, JUNK
        for f, array, index in self.places(i, table):
            array[index] = change[f]
        edges[self.features.sources, self.features.targets] = change[self.features.n_state :]
        return table, edges

    def gathered(self, i):
        """The compact weights that space.weights and space.edges hold for sequence i; 0 for all others."""
        found = np.zeros(self.n_weights)
        for f, array, index in self.places(i, self.space.weights):
            found[f] = array[index]
        found[self.features.n_state :] = self.space.edges.scores[self.features.sources, self.features.targets]
        return found


class Pair:
    """A lazy vector and its dense twins, which make the same moves; c1 is that of a vector with soft thresholds."""

    def __init__(self, ground, make=make_drifting, c1=0.0, seed=1):
        self.ground, self.c1, self.rng = ground, c1, np.random.default_rng(seed)
        self.w, self.d = self.rng.normal(size=(2, ground.n_weights))
        self.lazy, self.places = make(ground.layout, ground.features, self.w, self.d)

    def move(self, shrink, amount, step=0.0, growth=1.0):
        """A draw: read a sequence's weights, d += growth g, w -= step g; then w <- soft(shrink w - amount d)."""
        ground, space, i = self.ground, self.ground.space, int(self.rng.integers(self.ground.n_sequences))
        support, K, lanes = ground.blocks.support, ground.layout.n_labels, ground.lanes
        gather(self.lazy, support, i, space.weights, space.edges.scores, lanes)
        scale = max(1.0, np.abs(self.w).max())
        np.testing.assert_allclose(ground.gathered(i), self.w * ground.touched(i), rtol=1e-12, atol=1e-12 * scale)
        g = self.rng.normal(size=ground.n_weights) * ground.touched(i)
        self.d = self.d + growth * g
        self.w = soft(shrink * (self.w - step * g) - amount * self.d, amount * self.c1)
        turn(self.lazy, support, i, growth, step, *ground.spread(i, g), K, lanes)
        advance(self.lazy, shrink, amount, lanes)

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
