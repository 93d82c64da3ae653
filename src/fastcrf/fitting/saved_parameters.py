"""Which parameters of an estimator a model file holds: one list for saving and for loading.

A file from a stranger may say anything. What it may set are the parameters that `save` writes, of plain types; above
all no path, because the next `fit` would write there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

TYPES = (str, int, float, bool)  # parameters of other types (objects, functions) are not kept in a model file
NEVER_SAVED = frozenset({"model_filename", "warm_start", "callbacks", "trainer_cls", "template", "engine", "prior"})


def permitted(parameters: Any, names: Iterable[str]) -> dict[str, Any]:
    """Those of the parameters, by name, that a model file may hold and set."""
    if not isinstance(parameters, Mapping):
        return {}
    values = {name: plain(parameters[name]) for name in sorted(set(names) - NEVER_SAVED) if name in parameters}
    return {name: value for name, value in values.items() if type(value) in TYPES}


def plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value
