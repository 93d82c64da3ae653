"""The registry of generic functions: the kernel for each function and each type of data (generic.py)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types

IMPLEMENTATIONS: dict[Any, dict[type, Any]] = {}  # for each generic function, by the type of its first argument


def implementation_for(function: Any, implementations: dict[type, Any], argument: Any) -> Any:
    """Return the kernel of a generic function for an argument of this type (the compiler's)."""
    cls = kind_of(argument)
    if cls not in implementations:
        raise numba.TypingError(f"{function.__name__} has no implementation for {cls.__name__}.")
    return implementations[cls]


def kind_of(argument: Any) -> type:
    """Return the class that a kernel is registered for: a NamedTuple, or the type of an array's numbers."""
    if isinstance(argument, types.Array):
        return np.dtype(str(argument.dtype)).type
    return getattr(argument, "instance_class", type(None))
