"""Decorators for compiled code.

Every compiled function of the package is a `kernel`: a module-level function that receives numbers, arrays and
NamedTuples of arrays (data, never behavior) and is compiled by Numba at its first call. Where data differ in kind, a
generic function has an implementation for each type of NamedTuple (generic.py).

Flags and their reasons:

* ``nogil``: threads are plain Python threads that meet only at the end of a shard;
* ``error_model="numpy"``: a division by zero gives inf, which the caller tests, instead of a branch per division;
* ``fastmath`` without ``nnan`` and ``ninf``: sums may be re-ordered and fused, but a NaN stays a NaN, so that
  divergence can be seen (plain ``fastmath=True`` makes ``isfinite`` always true).

dispatcher.py describes the cache of machine code and the measures that shorten compilation. All of them are optional:
see mode.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from numba import types

from fastcrf.jit.compile_notice import listen_to_compiler
from fastcrf.jit.mode import choose_mode
from fastcrf.system.cache_folder import CACHE_FOLDER

Function = TypeVar("Function", bound=Callable[..., Any])

MODE = choose_mode()
listen_to_compiler()
if CACHE_FOLDER is None:
    warnings.warn(
        "fastcrf found no writable cache folder, so each process compiles its kernels again (some seconds). "
        "Set NUMBA_CACHE_DIR to a writable folder to keep them.",
        RuntimeWarning,
        stacklevel=2,
    )

NOTHING, NUMBER = types.none, types.float64  # the types that lazy kernels may return
FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


def flags(fastmath: set[str]) -> dict[str, Any]:
    return {"nogil": True, "error_model": "numpy", "fastmath": fastmath}


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, with the flags that the entire package shares."""
    return MODE.make_kernel(function, counted=True, **flags(FASTMATH))


def noalloc_kernel(function: Function) -> Function:
    """Compile a kernel without reference counting: it allocates no arrays and returns none to other kinds of kernels.

    This halves the code to compile where NamedTuples of arrays are passed on.
    """
    return MODE.make_kernel(function, **flags(FASTMATH))


def outlined_kernel(function: Function) -> Function:
    """Compile a kernel without reference counting once; callers call it by its name instead of copying it.

    Use it for functions that take a microsecond or more and are worth compiling separately.
    """
    return MODE.make_kernel(function, outlined=True, **flags(FASTMATH))


def inlined_kernel(function: Function) -> Function:
    """Compile a kernel that becomes part of its callers: for parts of hot loops with many arguments, where a call is
    slow.
    """
    return MODE.make_kernel(function, inlined=True, **flags(FASTMATH))


def strict_kernel(function: Function) -> Function:
    """Compile an outlined kernel whose operations keep their order (fused at most), for intentional cancellation."""
    return MODE.make_kernel(function, outlined=True, **flags({"contract"}))


def gil_kernel(function: Function) -> Function:
    """Compile a kernel that keeps the GIL, for calls of microseconds.

    A thread that releases the GIL while another one is busy waits milliseconds to get it back.
    """
    return MODE.make_kernel(function, **flags(set()) | {"nogil": False})


def lazy_kernel(returns: Any) -> Callable[[Function], Function]:
    """Decorate a strict kernel that is compiled when it first runs: for rare data.

    returns: the type that the kernel returns, NOTHING or NUMBER.
    """

    def as_kernel(function: Function) -> Function:
        return MODE.make_lazy_kernel(function, returns, **flags({"contract"}))

    return as_kernel
