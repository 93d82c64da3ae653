"""Functions for kernels to call whose meaning depends on the type of their first argument: `functools.singledispatch`
for compiled code.

    @generic
    def length(data): \"\"\"In metres.\"\"\"

    @length.register(Feet)
    def length_of_feet(data):
        return 0.3048 * data.feet

A type is a NamedTuple of arrays and numbers. Compiled code chooses when it is compiled, so that a generic function
costs nothing; Python, where there is no compiler, at each call. A meaning that is long is a standing kernel: then it is
compiled once, not once for each loop that calls it. Generic functions that are declared in one file belong
together: every type that has a meaning for one of them has a meaning for all (`tests/test_generic.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from numba.core.errors import TypingError
from numba.extending import overload

from fastcrf.kernel import FASTMATH, borrowing_kernel, flags
from fastcrf.machine_code import MEANINGS

Function = TypeVar("Function", bound=Callable[..., Any])


def generic(declared: Function, inlined: bool = False) -> Any:
    """`declared` is a name, arguments and a docstring; `.register(type)` decorates what it means for a type.

    inlined: whether it becomes part of its callers where it does not stand, as `inlined_kernel` does.
    """
    meanings: dict[type, Any] = {}
    names = ", ".join(inspect.signature(declared).parameters)

    @functools.wraps(declared)
    def call(data: Any, *others: Any) -> Any:
        if type(data) not in meanings:
            raise TypeError(f"{declared.__name__} has no meaning for {type(data).__name__}.")
        return meanings[type(data)](data, *others)

    def choose(data: Any, *others: Any) -> Any:
        cls = getattr(data, "instance_class", type(None))
        if cls not in meanings:
            raise TypingError(f"{declared.__name__} has no meaning for {cls.__name__}.")
        meaning = meanings[cls]
        if not meaning.stands:
            return meaning.py_func
        # Numba wants a function with the declared names; this one calls the kernel that stands.
        return eval(f"lambda {names}: meaning({names})", {"meaning": meaning, "__name__": declared.__module__})

    def register(*types: type) -> Callable[[Function], Function]:
        """Decorator of what the function means for `types`: a kernel, or a function, which becomes one."""

        def as_meaning(function: Function) -> Function:
            compiled = function if hasattr(function, "py_func") else borrowing_kernel(function)
            meanings.update(dict.fromkeys(types, compiled))
            return compiled

        return as_meaning

    overload(call, jit_options={**flags(FASTMATH), "_nrt": False, "forceinline": inlined}, strict=False)(choose)
    call.register = register  # type: ignore[attr-defined]
    MEANINGS[call] = meanings  # the cache of machine code must know what a loop may run
    return call


inlined_generic = functools.partial(generic, inlined=True)
