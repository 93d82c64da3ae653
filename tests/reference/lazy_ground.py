"""What lazy vectors are tested on: sequences with dense rows and single cells, and compact changes of their weights."""

from __future__ import annotations

import numpy as np

from fastcrf.chain import layout as layout_module
from fastcrf.chain.sequences import make_sequences, make_workspace
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
        self.sequences = make_sequences(self.corpus, self.features, positions, self.layout)
        self.space = make_workspace(self.sequences)
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
        support, layout = self.sequences.support, self.layout
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
