"""Generic functions for kernels: the type of the first argument selects the implementation.

This is `functools.singledispatch` for compiled code.

    @generic
    def length(data): \"\"\"In metres.\"\"\"

    @length.register(Feet)
    def length_of_feet(data):
        return 0.3048 * data.feet

A type is a NamedTuple of arrays and numbers or, for an array, the type of its numbers (np.float32). Compiled code
chooses when it is compiled, so that a generic function has no cost at run time; Python without a compiler chooses at
each call. A long implementation is an outlined kernel: it is compiled once, not once for each loop that calls it. The
generic functions declared in one file form an interface: a type registered for one of them is registered for all
(`tests/jit/test_generic.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fastcrf.jit.implementations import IMPLEMENTATIONS
from fastcrf.jit.kernel import MODE, inlined_kernel, noalloc_kernel

Function = TypeVar("Function", bound=Callable[..., Any])


def generic(declared: Function, inlined: bool = False) -> Any:
    """Declare a generic function by name, arguments and docstring; `.register(type)` decorates an implementation.

    inlined: whether implementations that are not outlined become part of their callers, as `inlined_kernel` does.
    """
    implementations: dict[type, Any] = {}
    become = inlined_kernel if inlined else noalloc_kernel

    @functools.wraps(declared)
    def call(data: Any, *others: Any) -> Any:
        kind = data.dtype.type if isinstance(data, np.ndarray) else type(data)
        if kind not in implementations:
            raise TypeError(f"{declared.__name__} has no implementation for {kind.__name__}.")
        return implementations[kind](data, *others)

    def register(*classes: type) -> Callable[[Function], Function]:
        """Register an implementation for `classes`: a kernel, or a function, which becomes one."""

        def as_implementation(function: Function) -> Function:
            compiled = function if hasattr(function, "py_func") else become(function)
            implementations.update(dict.fromkeys(classes, compiled))
            return compiled

        return as_implementation

    call.register = register  # type: ignore[attr-defined]
    MODE.register_choice(call, implementations)
    IMPLEMENTATIONS[call] = implementations  # the cache of machine code must include the kernels that a loop may run
    return call


inlined_generic = functools.partial(generic, inlined=True)
