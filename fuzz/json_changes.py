"""Arrays and JSON headers that were changed and then signed again, as somebody would who knows the format."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np

ODD = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    10**30,
    1e308,
    -0.0,
    math.nan,
    math.inf,
    "",
    "\ud800",
    "x" * 300,
    [],
    {},
    [[]],
]
NUMBERS = (0, 1, -1, 2, 255, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1e300, 1e308, 1e-308, math.nan, math.inf, -math.inf)


def changed(
    arrays: dict[str, np.ndarray], header: dict[str, Any], rng: random.Random
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Copies with one to four changes."""
    arrays, header = {name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(header))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if arrays and rng.random() < 0.7:
            change_array(arrays, rng)
        else:
            header = change_json(header, rng)
    return arrays, header


def change_array(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    """Writes: arrays."""
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    kind = rng.randrange(8)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array[: rng.randrange(len(array) + 1)].copy() if array.ndim else array
    elif kind == 2:
        arrays[name] = np.concatenate([array, array[: rng.randint(1, 3)]]) if array.ndim else array
    elif kind == 3:
        arrays[name] = array.astype(rng.choice((np.float64, np.int64, np.int32, np.uint8, np.float32)))
    elif kind == 4:
        arrays[name] = arrays[rng.choice(sorted(arrays))].copy()
    elif kind == 5:
        arrays[name] = array.reshape(-1, 1) if rng.random() < 0.5 else array.reshape(-1)
    elif array.size:
        values: tuple[float, ...] = FLOATS if array.dtype.kind == "f" else NUMBERS
        with np.errstate(all="ignore"):
            place = rng.randrange(array.size)
            array.reshape(-1)[place] = np.array(rng.choice(values)).astype(array.dtype)


def change_json(value: Any, rng: random.Random, depth: int = 0) -> Any:
    """The value with something in it changed, removed, added or replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.15:
            del value[key]
        elif kind < 0.25:
            value[rng.choice(("x", "", "kind", "model_filename", "parameters", "n_columns"))] = rng.choice(ODD)
        else:
            value[key] = change_json(value[key], rng, depth + 1)
        return value
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        kind = rng.random()
        if kind < 0.2:
            del value[place]
        elif kind < 0.4:
            value.insert(place, value[rng.randrange(len(value))])
        else:
            value[place] = change_json(value[place], rng, depth + 1)
        return value
    return rng.choice(ODD)
