"""Compile kernels in the plain mode: by Numba's documented API only, `njit` and `overload`, with any version of it.

Numba's cache does not notice an edit of a callee in another file. So each version of the package, by the hash of all
its sources, has a cache folder: any edit recompiles everything.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.extending import overload

from fastcrf.jit.implementations import implementation_for
from fastcrf.jit.source_closure import PACKAGE, closure_hash, modules_of
from fastcrf.system.cache_folder import CACHE_FOLDER, version_folder

LOCK = threading.Lock()  # Numba's setting applies to the entire process


def make_kernel(
    function: Any, outlined: bool = False, counted: bool = False, inlined: bool = False, **flags: Any
) -> Any:
    """Return the kernel of a function; with NUMBA_DISABLE_JIT=1, the function itself.

    outlined, counted and inlined are for the tuned mode only.
    """
    is_kept = CACHE_FOLDER is not None and os.path.isfile(function.__code__.co_filename)
    with numbas_cache():
        return numba.njit(cache=is_kept, **flags)(function)


def make_lazy_kernel(function: Any, returns: Any, **flags: Any) -> Any:
    """Return a kernel that is compiled with its callers."""
    return make_kernel(function, **flags)


def register_choice(function: Any, implementations: dict[type, Any]) -> None:
    """Make the compiler choose the implementation of a generic function."""

    @overload(function)
    def choose(data, *others):  # without types, because Numba requires the same signature twice
        kernel = implementation_for(function, implementations, data)
        return lambda data, *others: kernel(data, *others)


@contextmanager
def numbas_cache() -> Iterator[None]:
    """Make Numba cache functions that are decorated within, in the folder of this version of the package."""
    if CACHE_FOLDER is None:
        yield
        return
    with LOCK:
        before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        numba.config.CACHE_DIR = str(package_folder())  # type: ignore[attr-defined]
        try:
            yield
        finally:
            numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


@functools.cache
def package_folder() -> Any:
    assert CACHE_FOLDER is not None
    return version_folder(CACHE_FOLDER, "plain", closure_hash(modules_of(PACKAGE).values()))
