"""Conversion between a run's state (compact vectors, one number per weight) and the rows and cells of a rated
vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.solver_state import WEIGHTS, StateField
from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.feature_space.layout import Layout
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.lazy_vector import places_of
from fastcrf.solvers.online.rated_vector import (
    CELL_DUE,
    CELL_MARK,
    CELL_PAID,
    CELL_STAMP,
    COLUMNS,
    DUE,
    MARK,
    PAID,
    PARTS,
    RATE,
    STAMP,
    UNSEEN,
    WEIGHT,
    PayingVector,
    RatedVector,
    ShrinkingVector,
    make_rated,
)

OWED = ("due", "paid")  # additional entries with an L1 penalty
BY_PART = {"weights": (WEIGHT, WEIGHT), "rate": (RATE, RATE), "due": (DUE, CELL_DUE), "paid": (PAID, CELL_PAID)}
STATE_FIELDS = {
    "weights": WEIGHTS,  # each as its last lazy update left it
    "rate": StateField("weights", fill=1.0, low=0.0, high=1.0 + 1e-9),
    "start": WEIGHTS,
    "half": WEIGHTS,
    **dict.fromkeys(OWED, StateField("weights", optional=True)),
    "stamp": StateField("weights", low=0.0),
    "seen": StateField("weights", dtype="uint8", high=2),
}


class Places(NamedTuple):
    """The places of a compact vector's weights in the array of rows and cells."""

    place: Longs  # [p] of the weight itself; its rate and other numbers follow
    n_row_slots: int  # numbers in that array before the first cell
    row_size: int  # numbers of a row, all of its parts
    padded: int
    columns: int  # of a cell


class RatedWeights:
    """A rated vector, and the place of each weight in it."""

    def __init__(self, layout: Layout, features: FeatureMap, state: Mapping[str, np.ndarray]) -> None:
        kind = PayingVector if "due" in state else ShrinkingVector
        parts, columns, padded = PARTS[kind], COLUMNS[kind], layout.padded
        self.vector: RatedVector
        self.vector, self.flat = make_rated(kind, layout.n_rows + layout.n_contexts, layout.n_cells, padded)
        place = places_of(layout, features, parts, columns)
        self.places = Places(place, self.vector.rows.size, parts * padded, padded, columns)
        self.load(state)

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Load the values of compact vectors."""
        place, in_rows = self.places.place, self.places.place < self.places.n_row_slots
        for name, (part, column) in BY_PART.items():
            if name in state:
                self.flat[place + np.where(in_rows, part * self.places.padded, column)] = state[name]
        self.mark(in_rows, state["stamp"], state["seen"].astype(np.float64))
        for count, (marks, seen, _) in enumerate(self.tables()):
            found = np.flatnonzero(marks)
            seen[: len(found)], self.vector.counts[count] = found, len(found)
            marks[found] = np.where(marks[found] == 2.0, -1.0, 1.0) * np.arange(1.0, len(found) + 1.0)
        for seen_weights, kept, which in self.kept(np.flatnonzero(state["seen"])):
            kept[which] = np.column_stack((state["start"][seen_weights], state["half"][seen_weights]))

    def mark(self, in_rows: np.ndarray, stamp: Floats, seen: Floats) -> None:
        """Mark a row as its last used weight: a new weight, zero until now, has no deferred updates."""
        marks, cells = self.vector.marks, self.vector.cells
        rows = self.places.place[in_rows] // self.places.row_size
        in_cells = (self.places.place[~in_rows] - self.places.n_row_slots) // self.places.columns
        marks[:] = 0.0
        np.maximum.at(marks[:, STAMP], rows, stamp[in_rows])
        np.maximum.at(marks[:, MARK], rows, seen[in_rows])
        cells[in_cells, CELL_STAMP], cells[in_cells, CELL_MARK] = stamp[~in_rows], seen[~in_rows]

    def list_by_place(self) -> None:
        """Sort the records of this double period by place, as in a run that starts here."""
        for count, (marks, seen, kept) in enumerate(self.tables()):
            n = self.vector.counts[count]
            order = np.argsort(seen[:n])
            seen[:n], kept[:n] = seen[order], kept[order]
            marks[seen[:n]] = np.copysign(np.arange(1.0, n + 1.0), marks[seen[:n]])

    def tables(self) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
        """Return (marks, which of them the double period used, its table) of rows and of cells."""
        vector = self.vector
        return (
            (vector.marks[:, MARK], vector.seen_rows, vector.kept_rows.reshape(-1, 2, self.places.padded)),
            (vector.cells[:, CELL_MARK], vector.seen_cells, vector.kept_cells),
        )

    def kept(self, seen: Longs) -> Iterator[tuple[Longs, np.ndarray, Any]]:
        """Return (weights, table, places of their two numbers) for those of the weights `seen` in rows, and for those
        in cells.
        """
        place, padded = self.places.place[seen], self.places.padded
        (marks, _, kept_rows), (cell_marks, _, kept_cells) = self.tables()
        in_rows = place < self.places.n_row_slots
        rows, cells = place[in_rows], (place[~in_rows] - self.places.n_row_slots) // self.places.columns
        in_table = places_of_marks(marks[rows // self.places.row_size])
        yield seen[in_rows], kept_rows, (in_table, slice(None), rows % padded)
        yield seen[~in_rows], kept_cells, places_of_marks(cell_marks[cells])

    def state(self) -> dict[str, np.ndarray]:
        """Return the compact vectors, in new arrays."""
        n = len(self.places.place)
        names = ["weights", "rate", "stamp", *(OWED if isinstance(self.vector, PayingVector) else ())]
        state = dict(zip(names, np.empty((len(names), n)), strict=True))  # one allocation soon gets large pages
        state |= {"start": np.zeros(n), "half": np.zeros(n)}
        seen = np.zeros(n, np.uint8)
        collect(self.vector, self.flat, self.places, state["weights"], state["rate"], state["stamp"], seen)
        for name in names[3:]:
            part, column = BY_PART[name]
            collect_part(self.flat, self.places, part * self.places.padded, column, state[name])
        for seen_weights, kept, which in self.kept(np.flatnonzero(seen)):
            state["start"][seen_weights], state["half"][seen_weights] = kept[which].T
        return {**state, "seen": seen}


def new_state(weights: Floats, sparse: bool) -> dict[str, np.ndarray]:
    """Return the compact vectors of a new run, before any weight is used."""
    names = [name for name, kept in STATE_FIELDS.items() if sparse or not kept.optional]
    filled = {name: np.full(len(weights), STATE_FIELDS[name].fill, STATE_FIELDS[name].dtype) for name in names}
    return {**filled, "weights": weights}


def settled(state: Mapping[str, np.ndarray], clock: float) -> Floats:
    """Return the weights with all lazy updates applied, in a new array; nothing else changes."""
    time = state["stamp"] - clock
    time *= state["rate"]  # in place: a new array would cost as much as the arithmetic
    if "due" not in state:
        np.exp(time, out=time)
        time *= state["weights"]
        return time
    due, paid, weights = state["due"] - time, state["paid"], state["weights"]
    return weights - np.maximum(np.minimum(weights, due + paid), paid - due)


def places_of_marks(marks: Floats) -> Longs:
    """Return the places of these marks in a table of the double period, like `place_of` for one."""
    return np.abs(marks).astype(np.int64) - 1


@noalloc_kernel
def collect_part(flat, places, in_row, in_cell, values):
    """Collect one part of rows and cells as a compact vector. Writes: values."""
    for f in range(len(values)):
        at = places.place[f]
        values[f] = flat[at + (in_row if at < places.n_row_slots else in_cell)]


@noalloc_kernel
def collect(vector, flat, places, weights, rate, stamp, seen):
    """Collect the parts of every rated vector. Writes: weights, rate, stamp, seen."""
    for f in range(len(weights)):
        at = places.place[f]
        weights[f] = flat[at]
        if at < places.n_row_slots:
            r = at // places.row_size
            rate[f], stamp[f], mark = flat[at + places.padded], vector.marks[r, STAMP], vector.marks[r, MARK]
        else:
            rate[f], stamp[f], mark = flat[at + RATE], flat[at + CELL_STAMP], flat[at + CELL_MARK]
        if mark != UNSEEN:
            seen[f] = 1 if mark > UNSEEN else 2
