"""Validate a user's arguments. Each check returns the converted value or raises `ValueError` with a remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from numbers import Real
from typing import Any

import numpy as np


def whole(name: str, value: Any, least: int) -> int:
    """Return `value` as an integer of at least `least`; accepts 10.0 and NumPy numbers."""
    if not is_number(value) or float(value) != math.floor(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {name}={value!r}.")
    return int(value)


def at_least(name: str, value: Any, least: float) -> float:
    """Return `value` as a finite float of at least `least`."""
    if not is_number(value) or value < least:
        raise ValueError(f"{name} must be a finite number of at least {least:g}; got {name}={value!r}.")
    return float(value)


def above(name: str, value: Any, bound: float) -> float:
    """Return `value` as a finite float above `bound`."""
    if not is_number(value) or value <= bound:
        raise ValueError(f"{name} must be a finite number above {bound:g}; got {name}={value!r}.")
    return float(value)


def finite(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number; got {name}={value!r}.")
    return float(value)


def one_of(name: str, value: Any, choices: Collection[str]) -> str:
    """Return `value` if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {name}={value!r}.")
    return str(value)


def functions(name: str, value: Any) -> tuple[Callable[..., Any], ...]:
    """Return None or an iterable of functions as a tuple."""
    listed = tuple(value) if isinstance(value, Iterable) else () if value is None else (None,)
    if not all(map(callable, listed)):
        raise ValueError(f"{name} must be a list of functions; got {name}={value!r}.")
    return listed


def seed_of(random_state: Any) -> int:
    """Return the seed for a `random_state`: the number itself, or a number from a generator; None gives a new seed."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return whole("random_state", random_state, least=0)


def is_number(value: Any) -> bool:
    """Return whether `value` is a finite number; True and False do not count."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)
