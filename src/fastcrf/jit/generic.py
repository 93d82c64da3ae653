"""Functions for kernels to call whose meaning depends on the type of their first argument: `functools.singledispatch`
for compiled code.

    @generic
    def length(data): \"\"\"In metres.\"\"\"

    @length.register(Feet)
    def length_of_feet(data):
        return 0.3048 * data.feet

A type is a NamedTuple of arrays and numbers or, of an array, that of its numbers (np.float32). Compiled code chooses
when it is compiled, so that a generic function costs nothing; Python, where there is no compiler, at each call. A
meaning that is long is a standing kernel: then it is compiled once, not once for each loop that calls it. Generic
functions that are declared in one file belong together: every type that has a meaning for one of them has a meaning for
all (`tests/jit/test_generic.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fastcrf.jit.kernel import MODE, inlined_kernel, noalloc_kernel
from fastcrf.jit.meanings import MEANINGS

Function = TypeVar("Function", bound=Callable[..., Any])


def generic(declared: Function, inlined: bool = False) -> Any:
    """`declared` is a name, arguments and a docstring; `.register(type)` decorates what it means for a type.

    inlined: whether it becomes part of its callers where it does not stand, as `inlined_kernel` does.
    """
    meanings: dict[type, Any] = {}
    become = inlined_kernel if inlined else noalloc_kernel

    @functools.wraps(declared)
    def call(data: Any, *others: Any) -> Any:
        kind = data.dtype.type if isinstance(data, np.ndarray) else type(data)
        if kind not in meanings:
            raise TypeError(f"{declared.__name__} has no meaning for {kind.__name__}.")
        return meanings[kind](data, *others)

    def register(*classes: type) -> Callable[[Function], Function]:
        """Decorator of what the function means for `classes`: a kernel, or a function, which becomes one."""

        def as_meaning(function: Function) -> Function:
            compiled = function if hasattr(function, "py_func") else become(function)
            meanings.update(dict.fromkeys(classes, compiled))
            return compiled

        return as_meaning

    call.register = register  # type: ignore[attr-defined]
    MODE.register_choice(call, meanings)
    MEANINGS[call] = meanings  # the cache of machine code must know what a loop may run
    return call


inlined_generic = functools.partial(generic, inlined=True)
