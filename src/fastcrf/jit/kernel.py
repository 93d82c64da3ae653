"""The one decorator for compiled code, and where its machine code is kept.

Every compiled function of the package is a `kernel`: a module-level function that receives numbers, arrays and
NamedTuples of arrays (data, never behavior) and is compiled by Numba at its first call. Where data differ in kind, a
generic function has a meaning for each type of NamedTuple (generic.py).

Flags, and why:

* ``nogil``: threads are plain Python threads that meet only at the end of a shard;
* ``error_model="numpy"``: a division by zero gives inf, which the caller tests, instead of a branch per division;
* ``fastmath`` without ``nnan`` and ``ninf``: sums may be re-ordered and fused, but a NaN stays a NaN, so that
  divergence can be seen (plain ``fastmath=True`` makes ``isfinite`` always true);

Where machine code is kept, and how the compiler is kept from doing things twice: see
``dispatcher.py``; all of that can be done without, see ``mode.py``.
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
        "fastcrf found no writable cache folder, so its kernels are compiled anew in each process (some seconds). "
        "Set NUMBA_CACHE_DIR to a writable folder to keep them.",
        RuntimeWarning,
        stacklevel=2,
    )

NOTHING, NUMBER = types.none, types.float64  # what rare kernels may return
FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


def flags(fastmath: set[str]) -> dict[str, Any]:
    return {"nogil": True, "error_model": "numpy", "fastmath": fastmath}


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, with the flags that the whole package shares."""
    return MODE.make_kernel(function, counted=True, **flags(FASTMATH))


def noalloc_kernel(function: Function) -> Function:
    """A kernel that makes no arrays and returns none to other kinds of kernels: it need not count references to those
    that it is given, which is half of what there is to compile where NamedTuples of arrays are handed on."""
    return MODE.make_kernel(function, **flags(FASTMATH))


def outlined_kernel(function: Function) -> Function:
    """A borrowing kernel that is compiled once, and called by its name instead of being copied into each caller: for
    whatever takes a microsecond or more and is worth compiling by itself."""
    return MODE.make_kernel(function, outlined=True, **flags(FASTMATH))


def inlined_kernel(function: Function) -> Function:
    """A kernel that becomes part of its callers: for parts of hot loops with many arguments, whose call would cost."""
    return MODE.make_kernel(function, inlined=True, **flags(FASTMATH))


def strict_kernel(function: Function) -> Function:
    """A standing kernel whose operations keep their order (fused at most), for arithmetic that cancels on purpose."""
    return MODE.make_kernel(function, outlined=True, **flags({"contract"}))


def gil_kernel(function: Function) -> Function:
    """A kernel that keeps the GIL, for calls of microseconds: a thread that lets go of it beside a busy one waits
    milliseconds to have it back."""
    return MODE.make_kernel(function, **flags(set()) | {"nogil": False})


def lazy_kernel(returns: Any) -> Callable[[Function], Function]:
    """Decorator of an ordered kernel that is compiled when it is first run: for what hardly any data need. `returns` is
    the type of what it returns, NOTHING or NUMBER."""

    def as_kernel(function: Function) -> Function:
        return MODE.make_lazy_kernel(function, returns, **flags({"contract"}))

    return as_kernel
