"""The one decorator for compiled code, and where its machine code is kept.

Every compiled function of the package is a `kernel`: a module-level function that receives numbers, arrays and
NamedTuples of arrays (data, never behaviour) and is compiled by Numba at its first call. Where data differ in kind, a
generic function has a meaning for each type of NamedTuple (generic.py).

Flags, and why:

* ``nogil``: threads are plain Python threads that meet only at the end of a shard;
* ``error_model="numpy"``: a division by zero gives inf, which the caller tests, instead of a branch per division;
* ``fastmath`` without ``nnan`` and ``ninf``: sums may be re-ordered and fused, but a NaN stays a NaN, so that
  divergence can be seen (plain ``fastmath=True`` makes ``isfinite`` always true);
* ``cache``: a second process loads machine code in a fraction of a second instead of compiling for seconds.

Numba's own cache does not notice that a callee in another file was edited, and it fails where the source folder is not
writable. So machine code is kept in ``<user cache>/fastcrf/<module>/<hash>``, by the sources that it was made from:

* the folder's hash is that of the kernel's module and of all modules of the package that it imports, directly or not;
* the signature brings the rest: a kernel may receive types that its module never imports, and through a generic
  function it runs what other modules say that means for them. So a signature's entry also has a hash of the modules
  that define its types, of those that give these a meaning, and of what they import.

An edit thus recompiles what depends on it and nothing else. Where no such folder can be made, kernels are compiled anew
in each process and one warning says so.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.misc.appdirs import user_cache_dir

from fastcrf.source_closure import closure, closure_hash

Function = TypeVar("Function", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
KEPT_VERSIONS = 8  # of a module's machine code: older ones are deleted when a new one is made

MEANINGS: dict[Any, dict[type, Any]] = {}  # of each generic function (generic.py), by the type of its first argument


def cache_folder() -> Path | None:
    """A writable folder for machine code, or None."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("fastcrf", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


CACHE_FOLDER = cache_folder()
if CACHE_FOLDER is None:
    warnings.warn(
        "fastcrf found no writable cache folder, so its kernels are compiled anew in each process (some seconds). "
        "Set NUMBA_CACHE_DIR to a writable folder to keep them.",
        RuntimeWarning,
        stacklevel=2,
    )


class SourceCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, with a key that knows the sources behind the types of a signature."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Of plain words: classes would be looked up when the index is read, and may have moved since."""
        of_function = super()._index_key(sig, codegen)[1:]
        return (str(sig), sources_behind(file_of(self._py_func), sig), *of_function)


def sources_behind(module: str, signature: Any) -> str:
    """Hash of the sources of a signature's types and of all that is registered for them, or for types of `module`."""
    classes = list(classes_in(signature))
    files = {module, *map(file_of, classes)}
    known: set[str] = set()
    while files - known:
        known |= files
        reached = frozenset().union(*map(closure, known))
        files = {
            file_of(meaning.py_func)
            for meanings in MEANINGS.values()
            for data, meaning in meanings.items()
            if file_of(data) in reached
        }
    return " ".join([closure_hash(known), *(f"{each.__module__}.{each.__qualname__}" for each in classes)])


def classes_in(signature: Any) -> Iterator[type]:
    """The NamedTuples among Numba's types, and those within them."""
    for each in signature:
        if hasattr(each, "instance_class"):
            yield each.instance_class
        if isinstance(each, numba.types.BaseTuple):
            yield from classes_in(each.types)


def file_of(thing: Any) -> str:
    """The source of a function or a class."""
    if hasattr(thing, "__code__"):
        return str(thing.__code__.co_filename)
    return str(getattr(sys.modules[thing.__module__], "__file__", "<unknown>"))


@functools.cache
def version_folder(base: Path, module: str, version: str) -> Path:
    """Where the machine code of a version of a module is kept."""
    folder = base / module / version
    with suppress(OSError):
        if not folder.is_dir():
            folder.mkdir(parents=True)
            for old in sorted(folder.parent.iterdir(), key=os.path.getmtime, reverse=True)[KEPT_VERSIONS:]:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def flags(fastmath: set[str]) -> dict[str, Any]:
    return {"nogil": True, "error_model": "numpy", "fastmath": fastmath}


def compiled(function: Function, fastmath: set[str], **more: Any) -> Function:
    dispatcher = numba.njit(**flags(fastmath), **more)(function)
    if CACHE_FOLDER is None or numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dispatcher
    folder = version_folder(CACHE_FOLDER, function.__module__, closure_hash([file_of(function)]))
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)  # read once, when the cache is made
    try:
        dispatcher._cache = SourceCache(function)
    finally:
        numba.config.CACHE_DIR = before
    return dispatcher


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, with the flags that the whole package shares."""
    return compiled(function, FASTMATH)


def inlined_kernel(function: Function) -> Function:
    """A kernel that becomes part of its callers: for parts of hot loops with many arguments, whose call would cost."""
    return compiled(function, FASTMATH, forceinline=True)


def ordered_kernel(function: Function) -> Function:
    """A kernel whose operations keep their order (fused at most), for arithmetic that cancels on purpose."""
    return compiled(function, {"contract"})
