"""Where machine code comes from and is kept: the cache of compiled kernels, and their two faces.

Numba's own cache does not notice that a callee in another file was edited, and it fails where the source folder is not
writable. So machine code is kept in ``<user cache>/fastcrf/<module>/<hash>``, by the sources that it was made from:

* the folder's hash is that of the kernel's module and of all modules of the package that it imports, directly or not;
* the signature brings the rest: a kernel may receive types that its module never imports, and through a generic
  function it runs what other modules say that means for them. So a signature's entry also has a hash of the modules
  that define its types, of those that give these a meaning, and of what they import.

An edit thus recompiles what depends on it and nothing else. Where no such folder can be made, kernels are compiled anew
in each process and one warning says so. No file there is trusted (`cache_files.py`).

A kernel has two faces. Code that takes Python's objects apart is as long as a kernel that receives a few NamedTuples of
arrays, and most kernels are called by other kernels only; so what kernels call is compiled without it, and a second
time with it if Python calls, too.

Numba copies the code of whatever a kernel calls into the kernel, and optimizes and translates it there once more, at
each level of a tree of calls. An *outlined* kernel is not copied: its callers call it by its name. When such a caller
is loaded from the cache, those that it calls are loaded first.
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
    """A compiled function as kernels see it; when Python calls, `for_python` answers."""

    options: dict[str, Any]
    outlined: bool

    def __call__(self, *args: Any) -> Any:
        return self.for_python(*args)

    @functools.cached_property
    def for_python(self) -> Any:
        """The face with the code that takes Python's objects apart."""
        dispatcher = numba.njit(no_cfunc_wrapper=True, **self.options)(self.py_func)
        dispatcher.__class__ = ForPython
        return with_cache(dispatcher, "for Python")

    def add_overload(self, cres: Any) -> None:
        if self.outlined:
            library, name = cres.library, self.py_func.__name__
            library.standing = Need(self.py_func.__module__, name, tuple(cres.signature.args), cres.fndesc.mangled_name)
            library._shared_module = binding.parse_assembly("")  # what callers would copy
        self.overloads[tuple(cres.signature.args)] = cres  # and nothing for Python, which calls the other face

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """As Numba asks for it when another kernel calls; refuses what would lose count of references."""
        template = super().get_call_template(args, kws)
        result = self.overloads[tuple(template[2])].signature.return_type
        caller = ConfigStack.top_or_none()
        if caller is not None and caller.nrt != self.options["_nrt"] and holds_arrays(result):
            raise numba.TypingError(
                f"{self.py_func.__name__} returns {result} to a kernel of the other kind: of the two, one counts "
                "references to arrays and one borrows them; make both a kernel, or both a noalloc_kernel."
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

    outlined: callers call it by name instead of copying it; counted: it counts references to arrays; inlined: it is
    part of its callers.
    """
    options = {"_nrt": counted, "forceinline": inlined, **flags}
    dispatcher = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    dispatcher.__class__ = Kernel
    dispatcher.options, dispatcher.outlined = options, outlined
    return with_cache(dispatcher, "for kernels")
