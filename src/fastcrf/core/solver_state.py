"""Schema of solver state: the named arrays and numbers that a run needs to resume exactly.

A solver declares the entries of `Step.state` in `state_fields`: axis, type, fill value and valid range of each. Code
that saves a state, validates one from a file, carries it over to another penalty, extends it by new attributes or
distributes it over machines uses only this schema. That code knows nothing else of the solver.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

AXES = ("weights", "sequences", "none")


class StateField(NamedTuple):
    """Describe one array or number of a solver state.

    axis: "weights": the last axis has an entry for each weight. "sequences": the entry describes each sequence or each
        block of sequences, and new sequences invalidate it. "none": the size depends on neither.
    n_axes: the number of axes, if it does not follow from `axis` (1 for "weights", 0 for "none"). An entry of
        "sequences" may have any shape and precision: the solver reads it by `take`, which compares both.
    fill: the value for a new weight or sequence.
    low, high: the least and the largest valid element. Infinity is invalid unless `infinite` is set.
    """

    axis: str = "none"
    dtype: str = "float64"
    fill: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    infinite: bool = False  # whether infinite numbers are valid
    optional: bool = False  # whether a state may lack this entry
    n_axes: int | None = None


WEIGHTS = StateField("weights")
COUNT = StateField(dtype="int64", low=0)
POINT = {"weights": WEIGHTS, "value": StateField(), "gradient": WEIGHTS}  # the current point and the objective there


class StateMismatch(ValueError):
    """A state from which solver `name` cannot resume. fault: what is wrong with it."""

    def __init__(self, name: str, fault: str) -> None:
        super().__init__(name, fault)
        self.name, self.fault = name, fault

    def __str__(self) -> str:
        return f"The saved state of {self.name} cannot be used: {self.fault}; start over without it."


def check_state(name: str, state_fields: Mapping[str, StateField], state: Mapping[str, Any], n_weights: int) -> None:
    """Raise `StateMismatch` unless `state` has exactly the entries of `state_fields`, all valid for `n_weights`
    weights.
    """
    for item in state:
        if item not in state_fields:
            raise StateMismatch(name, f"it has the unknown entry {item!r}")
    for item, kept in state_fields.items():
        if item in state:
            _check_item(name, item, kept, np.asarray(state[item]), n_weights)
        elif not kept.optional:
            raise StateMismatch(name, f"it lacks {item!r}")


def _check_item(name: str, item: str, kept: StateField, array: np.ndarray, n_weights: int) -> None:
    wanted = np.dtype(kept.dtype)
    if array.dtype.kind != wanted.kind and not (wanted.kind == "f" and array.dtype.kind in "iu" and array.ndim == 0):
        raise _mismatch(name, item, f"has the type {array.dtype} instead of {wanted}")
    n_axes = {"weights": 1, "none": 0}.get(kept.axis) if kept.n_axes is None else kept.n_axes
    if n_axes is not None and array.ndim and array.dtype != wanted:
        raise _mismatch(name, item, f"has the type {array.dtype} instead of {wanted}")
    if kept.axis == "weights" and (array.ndim == 0 or array.shape[-1] != n_weights):
        raise _mismatch(name, item, f"has the shape {array.shape}, but the model has {n_weights} weights")
    if n_axes is not None and array.ndim != n_axes:
        raise _mismatch(name, item, f"has the shape {array.shape}, but {n_axes} axes are required")
    if wanted.kind == "f" and (np.isnan(array).any() or not (kept.infinite or np.isfinite(array).all())):
        raise _mismatch(name, item, "holds a number that is not finite")
    if array.size and not (kept.low <= array.min() and array.max() <= kept.high):
        raise _mismatch(name, item, f"holds numbers outside {kept.low:g} to {kept.high:g}")


def take(name: str, item: str, state: Mapping[str, Any], target: np.ndarray) -> None:
    """Copy an array of a state into `target`, which has the required shape and type. Writes: target."""
    array = np.asarray(state[item])
    if array.shape != target.shape or array.dtype != target.dtype:
        found, needed = f"{array.dtype}{list(array.shape)}", f"{target.dtype}{list(target.shape)}"
        raise _mismatch(name, item, f"is {found} but this data and these options require {needed}")
    target[...] = array


def _mismatch(name: str, item: str, what: str) -> StateMismatch:
    return StateMismatch(name, f"{item!r} {what}")
