"""Where machine code comes from and is kept: the cache of compiled kernels, and their two faces.

Numba's own cache does not notice that a callee in another file was edited, and it fails where the source folder is not
writable. So machine code is kept in ``<user cache>/fastcrf/<module>/<hash>``, by the sources that it was made from:

* the folder's hash is that of the kernel's module and of all modules of the package that it imports, directly or not;
* the signature brings the rest: a kernel may receive types that its module never imports, and through a generic
  function it runs what other modules say that means for them. So a signature's entry also has a hash of the modules
  that define its types, of those that give these a meaning, and of what they import.

An edit thus recompiles what depends on it and nothing else. Where no such folder can be made, kernels are compiled anew
in each process and one warning says so. No file there is trusted (`kernel_cache.py`).

A kernel has two faces. Code that takes Python's objects apart is as long as a kernel that receives a few NamedTuples of
arrays, and most kernels are called by other kernels only; so what kernels call is compiled without it, and a second
time with it if Python calls, too.

Numba copies the code of whatever a kernel calls into the kernel, and optimises and translates it there once more, at
each level of a tree of calls. Here what is copied is not translated by itself (code_library.py), and a *standing*
kernel is not copied: its callers call it by its name. When such a caller is loaded from the cache, those that it calls
are loaded first.
"""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding
from numba.core import event
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.misc.appdirs import user_cache_dir

from fastcrf.code_library import KernelCompiler, rebuilt
from fastcrf.kernel_cache import HealingCache
from fastcrf.notice import compilation_begins
from fastcrf.source_closure import closure, closure_hash

KEPT_VERSIONS = 8  # of a module's machine code: older ones are deleted when a new one is made
MAKING = threading.Lock()  # Numba reads the place of a cache from a global setting

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


class Listener(event.Listener):
    """Hears when Numba really compiles a kernel of ours. (Loading one from the cache is no such event.)"""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.startswith("fastcrf."):
            compilation_begins()

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", Listener())


class Need(NamedTuple):
    """A standing kernel that some machine code calls by name."""

    module: str
    name: str
    signature: tuple[Any, ...]
    symbol: str

    def is_met(self) -> bool:
        """Load it, or compile it; false if that has given it another name since, or if there is no such kernel."""
        standing = getattr(importlib.import_module(self.module), self.name, None)
        if not isinstance(standing, Kernel):
            return False
        standing.compile(self.signature)
        return bool(standing.overloads[self.signature].fndesc.mangled_name == self.symbol)


def needs_of(library: Any) -> set[Need]:
    """The standing kernels that the code of a library calls by name."""
    found: set[Need] = set()
    seen, waiting = set(), [library]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        found |= getattr(each, "needs", set())
        for callee in each._linking_libraries:
            if hasattr(callee, "standing"):
                found.add(callee.standing)
            else:
                waiting.append(callee)
    return found


class SourceCache(HealingCache):
    """Numba's cache of a function, by the sources behind the types of a signature, and with what the code needs."""

    def __init__(self, function: Any, face: str) -> None:
        super().__init__(function, str(CACHE_FOLDER))
        self._face = face

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Of plain words: classes would be looked up when the index is read, and may have moved since."""
        of_function = super()._index_key(sig, codegen)[1:]
        return (self._face, str(sig), sources_behind(file_of(self._py_func), sig), *of_function)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        kept = self._cache_file.load(self._index_key(sig, target_context.codegen()))
        if kept is None or not all(need.is_met() for need in kept[0]):
            return None
        copied = kept[1][0][1] == "copied"
        result = rebuilt(target_context, kept[1]) if copied else self._impl.rebuild(target_context, kept[1])
        result.library.needs = kept[0]
        return result

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._impl.check_cachable(data):
            self._impl.locator.ensure_cache_path()
            kept = needs_of(data.library), self._impl.reduce(data)
            self._cache_file.save(self._index_key(sig, data.codegen), kept)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function as kernels see it; when Python calls, `for_python` answers."""

    options: dict[str, Any]
    stands: bool

    def __call__(self, *args: Any) -> Any:
        return self.for_python(*args)

    @functools.cached_property
    def for_python(self) -> Any:
        """The face with the code that takes Python's objects apart."""
        dispatcher = numba.njit(no_cfunc_wrapper=True, **self.options)(self.py_func)
        dispatcher.__class__ = ForPython
        dispatcher._compiler.__class__ = KernelCompiler
        return with_cache(dispatcher, "for Python")

    def add_overload(self, cres: Any) -> None:
        if self.stands:
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
                "references to arrays and one borrows them; make both a kernel, or both a borrowing_kernel."
            )
        return template


class ForPython(CPUDispatcher):  # type: ignore[misc]
    """A compiled function as Python sees it."""

    def add_overload(self, cres: Any) -> None:
        if not self.targetoptions["_nrt"] and holds_arrays(cres.signature.return_type):
            raise TypeError(f"{self.py_func.__name__} returns arrays without counting references: make it a kernel.")
        super().add_overload(cres)


def holds_arrays(kind: Any) -> bool:
    if isinstance(kind, numba.types.BaseTuple):
        return any(map(holds_arrays, kind.types))
    return isinstance(kind, numba.types.Array)


def make_kernel(function: Any, stands: bool, **options: Any) -> Any:
    """The kernel of a function; without a compiler (NUMBA_DISABLE_JIT=1), the function itself."""
    dispatcher = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    if not isinstance(dispatcher, CPUDispatcher):
        return dispatcher
    dispatcher.__class__ = Kernel
    dispatcher._compiler.__class__ = KernelCompiler
    dispatcher._compiler.copied = not stands
    dispatcher.options, dispatcher.stands = options, stands
    return with_cache(dispatcher, "for kernels")


def with_cache(dispatcher: Any, face: str) -> Any:
    if CACHE_FOLDER is not None:
        function = dispatcher.py_func
        folder = version_folder(CACHE_FOLDER, function.__module__, closure_hash([file_of(function)]))
        with MAKING:
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            try:
                dispatcher._cache = SourceCache(function, face)
            finally:
                numba.config.CACHE_DIR = before
    return dispatcher


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
