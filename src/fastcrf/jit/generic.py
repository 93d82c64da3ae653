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
all (`tests/test_generic.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate
from numba.np.numpy_support import as_dtype

from fastcrf.jit.cache import MEANINGS
from fastcrf.jit.kernel import inlined_kernel, noalloc_kernel

Function = TypeVar("Function", bound=Callable[..., Any])


def kind_of(argument: Any) -> type:
    """What a meaning is registered for, from the compiler's type: a NamedTuple, or the type of an array's numbers."""
    if isinstance(argument, types.Array):
        return as_dtype(argument.dtype).type
    return getattr(argument, "instance_class", type(None))


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

    class Choice(AbstractTemplate):  # type: ignore[misc]
        """How the compiler chooses: a call means a call of the kernel that is registered for the type of the data."""

        key = call

        def generic(self, args: Any, kws: Any) -> Any:
            cls = kind_of(args[0])
            if cls not in meanings:
                raise TypingError(f"{declared.__name__} has no meaning for {cls.__name__}.")
            self.meaning = types.Dispatcher(meanings[cls])
            return self.meaning.get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            return self.meaning.get_impl_key(sig)

    def register(*classes: type) -> Callable[[Function], Function]:
        """Decorator of what the function means for `classes`: a kernel, or a function, which becomes one."""

        def as_meaning(function: Function) -> Function:
            compiled = function if hasattr(function, "py_func") else become(function)
            meanings.update(dict.fromkeys(classes, compiled))
            return compiled

        return as_meaning

    call.register = register  # type: ignore[attr-defined]
    cpu_target.typing_context.insert_global(call, types.Function(Choice))
    MEANINGS[call] = meanings  # the cache of machine code must know what a loop may run
    return call


inlined_generic = functools.partial(generic, inlined=True)
