"""`History`: the rows of a run, and the same as columns."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.training.trace import Row


class History(list[Row]):
    """A list of dicts, one per iteration. Row 0 is the start and the last row describes the returned weights."""

    def columns(self) -> dict[str, Floats]:
        """Return an array for each column, with NaN where a row has no value; `pandas.DataFrame` takes the result."""
        names = dict.fromkeys(name for row in self for name in row)
        return {
            name: np.array([np.nan if row.get(name) is None else row[name] for row in self], np.float64)
            for name in names
        }
