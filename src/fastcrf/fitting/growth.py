"""Features that a stream brings, and what a solver remembers of those before them.

New attributes come behind the old ones and new labels behind the old labels, but in the flat vector of weights a new
label of an old attribute lies in the middle. So features are merged by what they are, and everything that has a place
for each weight moves along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Longs


def extended(array: np.ndarray, places: Longs, n_weights: int, fill: float = 0.0) -> np.ndarray:
    """An array whose last axis has a place for each weight, with `fill` for the weights that are new."""
    grown = np.full((*array.shape[:-1], n_weights), fill, array.dtype)
    grown[..., places] = array
    return grown


def extended_memory(
    state_fields: Mapping[str, StateField], state: Mapping[str, Any], places: Longs, n_weights: int
) -> dict[str, Any]:
    """A solver's memory for more weights, by the axes that it declares."""
    along = {name for name in state if state_fields[name].axis == "weights"}
    return {
        name: extended(value, places, n_weights, state_fields[name].fill) if name in along else value
        for name, value in state.items()
    }
