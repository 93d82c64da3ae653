"""What a solver remembers between two Steps, declared once.

The `state` of a Step holds named arrays and numbers, all that is needed to go on exactly. A solver declares them in
`state_fields`: what their length follows, their type, the value of what is new, and the range outside of which no run
can have left them. Whoever saves a memory, checks one that comes from a file, carries it over to another penalty,
extends it by attributes that turn up late or spreads it over machines relies on this list and knows nothing of the
solver.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

AXES = ("weights", "sequences", "none")


class StateField(NamedTuple):
    """One array or number of a memory.

    axis:  "weights", its last axis has a place for each weight; "sequences", it says something of each sequence or of
           each block of them, and new sequences make it useless; "none", its size has to do with neither.
    n_axes: how many axes it has, where that is not what its axis says: 1 for weights, 0 (a number) for none. What is of
           sequences may have any shape and precision: the solver takes it by `take`, which compares both.
    fill:  what stands for a weight or sequence that is new.
    low, high: the least and the largest that any element can be. Infinity is out of range unless it is named.
    """

    axis: str = "none"
    dtype: str = "float64"
    fill: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    infinite: bool = False  # whether a number may be infinite
    optional: bool = False  # whether a memory may lack it
    n_axes: int | None = None


WEIGHTS = StateField("weights")
COUNT = StateField(dtype="int64", low=0)
POINT = {"weights": WEIGHTS, "value": StateField(), "gradient": WEIGHTS}  # where a solver is, with the objective there


class StateMismatch(ValueError):
    """A memory that `name` cannot go on from; the message is one sentence. fault: what is wrong with it."""

    def __init__(self, name: str, fault: str) -> None:
        super().__init__(name, fault)
        self.name, self.fault = name, fault

    def __str__(self) -> str:
        return f"The saved state of {self.name} cannot be used: {self.fault}; start afresh without it."


def check_state(name: str, state_fields: Mapping[str, StateField], state: Mapping[str, Any], n_weights: int) -> None:
    """Raise unless `state` is what `name` keeps for so many weights, and nothing else. Reads every number."""
    for item in state:
        if item not in state_fields:
            raise StateMismatch(name, f"it has {item!r}, which {name} does not know")
    for item, kept in state_fields.items():
        if item in state:
            _check_item(name, item, kept, np.asarray(state[item]), n_weights)
        elif not kept.optional:
            raise StateMismatch(name, f"it lacks {item!r}")


def _check_item(name: str, item: str, kept: StateField, array: np.ndarray, n_weights: int) -> None:
    wanted = np.dtype(kept.dtype)
    if array.dtype.kind != wanted.kind and not (wanted.kind == "f" and array.dtype.kind in "iu" and array.ndim == 0):
        raise _mismatch(name, item, f"holds {array.dtype} where {wanted} belongs")
    n_axes = {"weights": 1, "none": 0}.get(kept.axis) if kept.n_axes is None else kept.n_axes
    if n_axes is not None and array.ndim and array.dtype != wanted:
        raise _mismatch(name, item, f"holds {array.dtype} where {wanted} belongs")
    if kept.axis == "weights" and (array.ndim == 0 or array.shape[-1] != n_weights):
        raise _mismatch(name, item, f"has the shape {array.shape}, but there are {n_weights} weights")
    if n_axes is not None and array.ndim != n_axes:
        raise _mismatch(name, item, f"has the shape {array.shape}, but {n_axes} axes belong there")
    if wanted.kind == "f" and (np.isnan(array).any() or not (kept.infinite or np.isfinite(array).all())):
        raise _mismatch(name, item, "holds a number that is not finite")
    if array.size and not (kept.low <= array.min() and array.max() <= kept.high):
        raise _mismatch(name, item, f"holds numbers outside of {kept.low:g} to {kept.high:g}")


def take(name: str, item: str, state: Mapping[str, Any], room: np.ndarray) -> None:
    """Copy an array of a memory into `room`, which has the shape and type that this run needs. Writes: room."""
    array = np.asarray(state[item])
    if array.shape != room.shape or array.dtype != room.dtype:
        found, needed = f"{array.dtype}{list(array.shape)}", f"{room.dtype}{list(room.shape)}"
        raise _mismatch(name, item, f"is {found} where these data and options need {needed}")
    room[...] = array


def _mismatch(name: str, item: str, what: str) -> StateMismatch:
    return StateMismatch(name, f"{item!r} {what}")
