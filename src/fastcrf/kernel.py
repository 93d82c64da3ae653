"""The one decorator for compiled code, and where its machine code is kept.

Every compiled function of the package is a `kernel`: a module-level function that receives numbers, arrays and
NamedTuples of arrays (data, never behaviour) and is compiled by Numba at its first call. Where data differ in kind, a
`verb` has a meaning for each type of NamedTuple.

Flags, and why:

* ``nogil``: threads are plain Python threads that meet only at the end of a shard;
* ``error_model="numpy"``: a division by zero gives inf, which the caller tests, instead of a branch per division;
* ``fastmath`` without ``nnan`` and ``ninf``: sums may be re-ordered and fused, but a NaN stays a NaN, so that
  divergence can be seen (plain ``fastmath=True`` makes ``isfinite`` always true);
* ``cache``: a second process loads machine code in a fraction of a second instead of compiling for seconds.

Numba's own cache does not notice that a callee in another file was edited, and it fails where the source folder is not
writable. So the cache lives in ``<user cache>/fastcrf/<hash of every source with kernels>``; where no such folder can
be made, kernels are compiled anew in each process and one warning says so. The constants that kernels read must live
in files with kernels or in ``types.py``, because only those are hashed. No file there is trusted (`kernel_cache.py`).
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.extending import overload
from numba.misc.appdirs import user_cache_dir

from fastcrf.kernel_cache import HealingCache

Function = TypeVar("Function", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}

PACKAGE = Path(__file__).parent


def source_hash(package: Path = PACKAGE) -> str:
    """Hash of every source that holds compiled code, or data types that compiled code is specialised on."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if b"fastcrf.kernel" in text or path.name in ("types.py", "kernel.py"):
            digest.update(str(path.relative_to(package)).encode() + b"\0" + text)
    return digest.hexdigest()[:20]


def cache_folder() -> Path | None:
    """A writable folder for machine code made from exactly these sources, or None."""
    base = os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("fastcrf", appauthor=False)
    folder = Path(base) / source_hash()
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


def flags(fastmath: set[str]) -> dict[str, Any]:
    return {"nogil": True, "error_model": "numpy", "fastmath": fastmath}


def compiled(function: Function, fastmath: set[str], **more: Any) -> Function:
    options = flags(fastmath) | more
    if CACHE_FOLDER is None:
        return numba.njit(**options)(function)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)  # read once, by the decoration
    try:
        dispatcher = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:
            dispatcher._cache = HealingCache(function)
        return dispatcher
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, with the flags that the whole package shares."""
    return compiled(function, FASTMATH)


def inlined_kernel(function: Function) -> Function:
    """A kernel that becomes part of its callers: for parts of hot loops with many arguments, whose call would cost."""
    return compiled(function, FASTMATH, forceinline=True)


def ordered_kernel(function: Function) -> Function:
    """A kernel whose operations keep their order (fused at most), for arithmetic that cancels on purpose."""
    return compiled(function, {"contract"})


MEANINGS: dict[Any, dict[type, Any]] = {}  # of each verb, by the type of its first argument


def verb(declared: Function) -> Function:
    """A function for kernels to call whose meaning depends on the type of its first argument, a NamedTuple.

    `declared` is a name, arguments and a docstring; each type's own file says what it means there, by `means`. Compiled
    code chooses when it is compiled, so a verb costs nothing; Python, where there is no compiler, at each call.
    """

    @functools.wraps(declared)
    def call(data: Any, *others: Any) -> Any:
        return MEANINGS[call][type(data)](data, *others)

    def choose(data: Any, *others: Any) -> Any:
        meaning = MEANINGS[call].get(getattr(data, "instance_class", type(None)))
        return meaning and meaning.py_func

    MEANINGS[call] = {}
    overload(call, jit_options=flags(FASTMATH), strict=False)(choose)
    return call  # type: ignore[return-value]


def means(declared: Any, data: type) -> Callable[[Function], Function]:
    """Decorator of a kernel that is what the verb `declared` means for `data`."""

    def register(function: Function) -> Function:
        MEANINGS[declared][data] = kernel(function)
        return function

    return register
