"""Gather sequences that are arrays of T x D numbers or SciPy's sparse matrices: column d is the attribute ``f{d}``.

A row means the item ``{"f0": x0, "f1": x1, ...}``, so models, files and every solver need to know nothing of arrays.
Zeros of a sparse matrix take no memory; those of an array do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Ints, Longs
from fastcrf.data.encoding.input_shapes import is_matrix
from fastcrf.data.encoding.items import describe
from fastcrf.data.encoding.plain_gatherer import UNKNOWN, PlainGatherer
from fastcrf.exceptions import DataError

REAL = "fiub"  # kinds of NumPy types that are real numbers


class Rows(NamedTuple):
    """The entries of a matrix, row by row."""

    ends: Longs  # [T] entries before the end of each row
    columns: Ints
    values: Floats
    width: int


class MatrixGatherer(PlainGatherer):
    """A gatherer of arrays, all of the same width."""

    ids_of_columns: Ints | None = None

    def add_sequence(self, sequence: Any, place: str) -> int:
        """Append the rows of an array, which errors call `place`, and return their number."""
        if not is_matrix(sequence):
            raise DataError(f"{place} is {describe(sequence)}, and earlier sequences are arrays; give arrays alone.")
        rows = sparse_rows(sequence, place) if hasattr(sequence, "tocsr") else dense_rows(sequence, place)
        ids, before = self._ids(rows.width, place), len(self.attributes)
        self.attributes.frombytes(ids[rows.columns].tobytes())
        self.values.frombytes(rows.values.tobytes())
        self.offsets.frombytes((rows.ends + before).tobytes())
        return len(rows.ends)

    def _ids(self, width: int, place: str) -> Ints:
        """Return the id of each column, and check that there are as many as before."""
        if self.ids_of_columns is None:
            if self.learning:
                found = [self.ids[f"f{d}"] for d in range(width)]
            else:
                found = [self.ids.get(f"f{d}", UNKNOWN) for d in range(width)]
                if f"f{width}" in self.ids:
                    raise DataError(f"{place} has {width} columns, but the model has weights for more; give all.")
            self.ids_of_columns = np.array(found, np.int32)
        if len(self.ids_of_columns) != width:
            raise DataError(
                f"{place} has {width} columns and earlier arrays have {len(self.ids_of_columns)}; all need as many."
            )
        return self.ids_of_columns


def dense_rows(array: Any, place: str) -> Rows:
    """Return the entries of an array, zeros included."""
    check_shape(array, place)
    T, D = array.shape
    values = checked_values(array, place)
    for t, d in np.argwhere(~np.isfinite(values))[:1]:
        raise DataError(f"{place}, row {t}, column {d} is {values[t, d]}; give finite numbers.")
    columns = np.tile(np.arange(D, dtype=np.int32), T)
    return Rows(np.arange(1, T + 1, dtype=np.int64) * D, columns, values.ravel(), D)


def sparse_rows(matrix: Any, place: str) -> Rows:
    """Return the entries of a sparse matrix of SciPy."""
    check_shape(matrix, place)
    csr = matrix.tocsr()
    values = checked_values(csr.data, place)
    for k in np.flatnonzero(~np.isfinite(values))[:1]:
        t = int(np.searchsorted(csr.indptr, k, "right")) - 1
        raise DataError(f"{place}, row {t}, column {csr.indices[k]} is {values[k]}; give finite numbers.")
    return Rows(csr.indptr[1:].astype(np.int64), csr.indices.astype(np.int32), values, csr.shape[1])


def check_shape(matrix: Any, place: str) -> None:
    if len(matrix.shape) != 2:
        raise DataError(f"{place} is {describe(matrix)}; give a row for each token and a column for each feature.")


def checked_values(array: Any, place: str) -> Floats:
    """Return numbers as float64, if they are real numbers."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in REAL:
        kind = getattr(array, "dtype", type(array).__name__)
        raise DataError(f"{place} holds {kind}; give an array of float32 or float64.")
    return array.astype(np.float64)
