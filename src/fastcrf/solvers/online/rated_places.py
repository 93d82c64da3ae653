"""Between the compact vectors of a run's memory, one number a weight, and the rows and cells of a rated vector."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fastcrf.chain.layout import Layout
from fastcrf.draws.lazy_vector import places_of
from fastcrf.kernel import borrowing_kernel
from fastcrf.memory import WEIGHTS, Kept
from fastcrf.solvers.online.rated_vector import (
    CELL_MARK,
    CELL_STAMP,
    COLUMNS,
    MARK,
    N_CELLS,
    N_ROWS,
    PARTS,
    STAMP,
    UNSEEN,
    PayingVector,
    RatedVector,
    ShrinkingVector,
    make_rated,
)
from fastcrf.types import FeatureMap, Floats

OWED = ("due", "paid")  # what an L1 penalty adds
BY_PART = ("weights", "rate", "start", "half", *OWED)  # in the order of the parts of a row
KEEPS = {
    "weights": WEIGHTS,  # each as its last look left it
    "rate": Kept("weights", fill=1.0, low=0.0, high=1.0 + 1e-9),
    "start": WEIGHTS,
    "half": WEIGHTS,
    **dict.fromkeys(OWED, Kept("weights", optional=True)),
    "stamp": Kept("weights", low=0.0),
    "seen": Kept("weights", dtype="uint8", high=2),
}


class RatedWeights:
    """A rated vector, and where in it each weight lies."""

    def __init__(self, layout: Layout, features: FeatureMap, state: Mapping[str, np.ndarray]) -> None:
        kind = PayingVector if "due" in state else ShrinkingVector
        n_rows, self.parts, self.padded = layout.n_rows + layout.n_histories, PARTS[kind], layout.padded
        self.vector: RatedVector
        self.vector, self.flat = make_rated(kind, n_rows, layout.n_cells, layout.padded)
        self.n_row_slots = self.vector.rows.size
        self.place = places_of(layout, features, self.parts, COLUMNS)
        self.load(state)

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the values of compact vectors."""
        for part, name in enumerate(BY_PART[: self.parts]):
            spread_part(state[name], self.place, self.n_row_slots, part * self.padded, part, self.flat)
        seen = state["seen"].astype(np.float64)
        spread_marks(state["stamp"], seen, self.place, self.n_row_slots, self.parts * self.padded, self.vector)
        self.list_seen()

    def list_seen(self) -> None:
        """List what this double period looked at in the order of places, as a run would have it that starts here."""
        seen_rows = np.flatnonzero(self.vector.marks[:, MARK] != UNSEEN)
        seen_cells = np.flatnonzero(self.vector.cells[:, CELL_MARK] != UNSEEN)
        self.vector.seen_rows[: len(seen_rows)], self.vector.seen_cells[: len(seen_cells)] = seen_rows, seen_cells
        self.vector.counts[N_ROWS], self.vector.counts[N_CELLS] = len(seen_rows), len(seen_cells)

    def state(self) -> dict[str, np.ndarray]:
        """The compact vectors, fresh."""
        state = {}
        for part, name in enumerate(BY_PART[: self.parts]):
            state[name] = np.empty(len(self.place))
            collect_part(self.flat, self.place, self.n_row_slots, part * self.padded, part, state[name])
        stamp, seen = np.empty(len(self.place)), np.empty(len(self.place))
        collect_marks(self.vector, self.place, self.n_row_slots, self.parts * self.padded, stamp, seen)
        return {**state, "stamp": stamp, "seen": seen.astype(np.uint8)}


def new_state(weights: Floats, sparse: bool) -> dict[str, np.ndarray]:
    """Compact vectors of a run that begins: as every weight is before anyone looks at it."""
    names = [name for name, kept in KEEPS.items() if sparse or not kept.optional]
    filled = {name: np.full(len(weights), KEEPS[name].fill, KEEPS[name].dtype) for name in names}
    return {**filled, "weights": weights}


def settled(state: Mapping[str, np.ndarray], clock: float) -> Floats:
    """The weights with all that they have to catch up on, fresh; nothing else changes."""
    time = state["rate"] * (clock - state["stamp"])
    if "due" not in state:
        return state["weights"] * np.exp(-time)
    due, paid, weights = state["due"] + time, state["paid"], state["weights"]
    return weights - np.maximum(np.minimum(weights, due + paid), paid - due)


@borrowing_kernel
def spread_part(values, place, n_row_slots, in_row, in_cell, flat):
    """Writes: flat."""
    for f in range(len(values)):
        flat[place[f] + (in_row if place[f] < n_row_slots else in_cell)] = values[f]


@borrowing_kernel
def collect_part(flat, place, n_row_slots, in_row, in_cell, values):
    """Writes: values."""
    for f in range(len(values)):
        values[f] = flat[place[f] + (in_row if place[f] < n_row_slots else in_cell)]


@borrowing_kernel
def spread_marks(stamp, seen, place, n_row_slots, row_size, vector):
    """A row is as its weight that was looked at last: one that is new, zero until now, has missed nothing.

    Writes: vector.marks, vector.cells.
    """
    vector.marks[:] = 0.0
    for f in range(len(place)):
        if place[f] < n_row_slots:
            r = place[f] // row_size
            vector.marks[r, STAMP] = max(vector.marks[r, STAMP], stamp[f])
            vector.marks[r, MARK] = max(vector.marks[r, MARK], seen[f])
        else:
            c = (place[f] - n_row_slots) // COLUMNS
            vector.cells[c, CELL_STAMP], vector.cells[c, CELL_MARK] = stamp[f], seen[f]


@borrowing_kernel
def collect_marks(vector, place, n_row_slots, row_size, stamp, seen):
    """Writes: stamp, seen."""
    for f in range(len(place)):
        if place[f] < n_row_slots:
            r = place[f] // row_size
            stamp[f], seen[f] = vector.marks[r, STAMP], vector.marks[r, MARK]
        else:
            c = (place[f] - n_row_slots) // COLUMNS
            stamp[f], seen[f] = vector.cells[c, CELL_STAMP], vector.cells[c, CELL_MARK]
