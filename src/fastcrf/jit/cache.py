"""The cache of machine code, keyed by the sources of the code and by signature."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
from numba.core.caching import CompileResultCacheImpl

from fastcrf.jit.cache_files import CheckedCache
from fastcrf.jit.implementations import IMPLEMENTATIONS
from fastcrf.jit.source_closure import closure, closure_hash
from fastcrf.system.cache_folder import CACHE_FOLDER, version_folder


class Need(NamedTuple):
    """An outlined kernel that some machine code calls by name."""

    module: str
    name: str
    signature: tuple[Any, ...]
    symbol: str

    def is_met(self) -> bool:
        """Load the kernel or compile it; return False if its name has changed or if it does not exist."""
        standing = getattr(importlib.import_module(self.module), self.name, None)
        if standing is None or not getattr(standing, "outlined", False):  # no kernel, or a copied one
            return False
        standing.compile(self.signature)
        return bool(standing.overloads[self.signature].fndesc.mangled_name == self.symbol)


def needs_of(library: Any) -> set[Need]:
    """Return the outlined kernels that the code of a library calls by name."""
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


class VersionFolder:
    """The folder of a function's machine code, chosen by the content of the sources, not by their path or date.

    Environments that hold the same version therefore share it.
    """

    def __init__(self, function: Any) -> None:
        self.line = function.__code__.co_firstlineno
        self.folder = version_folder(CACHE_FOLDER, function.__module__, closure_hash([file_of(function)]))

    @classmethod
    def from_function(cls, function: Any, _file: str) -> VersionFolder:
        return cls(function)

    def get_cache_path(self) -> str:
        return str(self.folder)

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> int:
        """Return the same stamp for all functions: the folder is the version."""
        return 0

    def get_disambiguator(self) -> str:
        return str(self.line)


class VersionedCode(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's cached code of a function, in VersionFolder."""

    _locator_classes = (VersionFolder,)


class SourceCache(CheckedCache):
    """Numba's cache of a function, keyed by the sources behind the types of a signature, with the kernels that the code
    needs.
    """

    _impl_class = VersionedCode

    def __init__(self, function: Any, face: str) -> None:
        super().__init__(function, str(CACHE_FOLDER))
        self._face = face

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return a key of plain strings: reading the index would import classes, which may have moved since."""
        of_function = super()._index_key(sig, codegen)[1:]
        return (self._face, str(sig), sources_behind(file_of(self._py_func), sig), *of_function)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        kept = self._cache_file.load(self._index_key(sig, target_context.codegen()))
        if kept is None or not all(need.is_met() for need in kept[0]):
            return None
        result = self._impl.rebuild(target_context, kept[1])
        result.library.needs = kept[0]
        return result

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._impl.check_cachable(data):
            self._impl.locator.ensure_cache_path()
            kept = needs_of(data.library), self._impl.reduce(data)
            self._cache_file.save(self._index_key(sig, data.codegen), kept)


def with_cache(dispatcher: Any, face: str) -> Any:
    if CACHE_FOLDER is not None:
        dispatcher._cache = SourceCache(dispatcher.py_func, face)
    return dispatcher


def sources_behind(module: str, signature: Any) -> str:
    """Return a hash of the sources of a signature's types and of all kernels registered for them or for types of
    `module`.
    """
    classes = list(classes_in(signature))
    files = {module, *map(file_of, classes)}
    known: set[str] = set()
    while files - known:
        known |= files
        reached = frozenset().union(*map(closure, known))
        files = {
            file_of(implementation.py_func)
            for implementations in IMPLEMENTATIONS.values()
            for data, implementation in implementations.items()
            if file_of(data) in reached
        }
    return " ".join([closure_hash(known), *(f"{each.__module__}.{each.__qualname__}" for each in classes)])


def classes_in(signature: Any) -> Iterator[type]:
    """Return the NamedTuples among Numba's types, nested ones included."""
    for each in signature:
        if hasattr(each, "instance_class"):
            yield each.instance_class
        if isinstance(each, numba.types.BaseTuple):
            yield from classes_in(each.types)


def file_of(thing: Any) -> str:
    """Return the source file of a function or a class."""
    if hasattr(thing, "__code__"):
        return str(thing.__code__.co_filename)
    return str(getattr(sys.modules[thing.__module__], "__file__", "<unknown>"))
