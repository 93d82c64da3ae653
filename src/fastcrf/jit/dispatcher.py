"""Dispatchers and the cache of compiled kernels.

Numba's own cache does not notice that a callee in another file was edited, and it fails where the source folder is not
writable. Machine code is therefore stored in ``<user cache>/fastcrf/<module>/<hash>``, keyed by its sources:

* the folder's hash is that of the kernel's module and of all modules of the package that it imports, directly or not;
* the signature adds the rest: a kernel may receive types that its module never imports, and through a generic
  function it runs kernels that other modules register for them. A signature's entry therefore also has a hash of the
  modules that define its types, of those that register kernels for these, and of their imports.

An edit recompiles only the code that depends on it. Where no such folder can be created, each process compiles kernels
again and one warning reports this. Every file there is verified before use (`cache_files.py`).

A kernel is compiled in two variants. Code that unpacks Python objects is as long as a kernel that receives a few
NamedTuples of arrays, and most kernels are called by other kernels only. The variant for kernels omits that code; the
variant for Python has it and is compiled only if Python calls.

Numba copies the code of every callee into the kernel, and optimizes and translates it there again, at each level of a
call tree. An *outlined* kernel is not copied: its callers call it by name. When such a caller is loaded from the cache,
its callees are loaded first.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import binding
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack

from fastcrf.jit.cache import Need, with_cache


@contextmanager
def no_collector() -> Iterator[None]:
    """Pause Python's collector of cycles, which would traverse all objects of the compiler many times."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Quick(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher that compiles without Python's collector of cycles."""

    def compile(self, sig: Any) -> Any:
        with no_collector():
            return super().compile(sig)


class Kernel(Quick):
    """A compiled function as kernels see it; `for_python` handles calls from Python."""

    options: dict[str, Any]
    outlined: bool

    def __call__(self, *args: Any) -> Any:
        return self.for_python(*args)

    @functools.cached_property
    def for_python(self) -> Any:
        """Return the variant with the code that unpacks Python objects."""
        dispatcher = numba.njit(no_cfunc_wrapper=True, **self.options)(self.py_func)
        dispatcher.__class__ = ForPython
        return with_cache(dispatcher, "for Python")

    def add_overload(self, cres: Any) -> None:
        if self.outlined:
            library, name = cres.library, self.py_func.__name__
            library.standing = Need(self.py_func.__module__, name, tuple(cres.signature.args), cres.fndesc.mangled_name)
            library._shared_module = binding.parse_assembly("")  # the code that callers would copy
        self.overloads[tuple(cres.signature.args)] = cres  # without code for Python, which calls the other variant

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the template for a call by another kernel; raise `TypingError` for a call that would lose
        references.
        """
        template = super().get_call_template(args, kws)
        result = self.overloads[tuple(template[2])].signature.return_type
        caller = ConfigStack.top_or_none()
        if caller is not None and caller.nrt != self.options["_nrt"] and holds_arrays(result):
            raise numba.TypingError(
                f"{self.py_func.__name__} returns {result} to a kernel of the other kind: only one of the two counts "
                "references to arrays; make both a kernel, or both a noalloc_kernel."
            )
        return template


class ForPython(Quick):
    """A compiled function as Python sees it."""

    def add_overload(self, cres: Any) -> None:
        if not self.targetoptions["_nrt"] and holds_arrays(cres.signature.return_type):
            raise TypeError(f"{self.py_func.__name__} returns arrays without counting references: make it a kernel.")
        super().add_overload(cres)


def holds_arrays(kind: Any) -> bool:
    if isinstance(kind, numba.types.BaseTuple):
        return any(map(holds_arrays, kind.types))
    return isinstance(kind, numba.types.Array)


def make_kernel(
    function: Any, outlined: bool = False, counted: bool = False, inlined: bool = False, **flags: Any
) -> Any:
    """Return the kernel of a function.

    outlined: callers call it by name instead of copying it;
    counted: it counts references to arrays;
    inlined: it is part of its callers.
    """
    options = {"_nrt": counted, "forceinline": inlined, **flags}
    dispatcher = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    dispatcher.__class__ = Kernel
    dispatcher.options, dispatcher.outlined = options, outlined
    return with_cache(dispatcher, "for kernels")
