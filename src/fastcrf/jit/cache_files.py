"""An on-disk cache of machine code that recompiles corrupt entries.

Numba keeps an index and data files for each function and trusts them. A truncated file (after a full disk or a power
failure) makes every later process fail, and a flipped byte would be executed. Here every file carries the SHA-256 of
its content. A file that does not match its checksum, or cannot be read, counts as missing: the kernel is compiled again
and the file replaced. A file that cannot be written only costs the next process the compile time; one warning names the
folder.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

from fastcrf.jit.compile_notice import Notice

logger = logging.getLogger("fastcrf")

DIGEST = hashlib.sha256().digest_size
WARNED: set[str] = set()  # folders that a warning has named


class CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and data files, each preceded by the checksum of its content."""

    def _load_index(self) -> dict[Any, str]:
        try:
            version, stamp, overloads = pickle.loads(self._checked(self._index_path))
        except Exception:  # any fault: an unusable index counts as empty, and the next one replaces it
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        try:
            return pickle.loads(self._checked(self._data_path(name)))
        except Exception as error:
            raise OSError(f"{name} cannot be used: {error}") from None  # which Numba takes for a missing file

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest())
            file.write(content)

    def _checked(self, path: str) -> bytes:
        """Return the content of a file if it matches its checksum."""
        with open(path, "rb") as file:
            digest, content = file.read(DIGEST), file.read()
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("it does not match its checksum")
        return content


class CheckedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, tolerant of every fault of its files."""

    def __init__(self, py_func: Any, base: str) -> None:
        super().__init__(py_func)
        self.base = base  # the folder of the whole cache, for the warning
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled kernel as Numba does, but without the imports that only compiling needs.

        Those take 0.14 s, and the compiler imports them when there is something to compile.
        """
        with self._forgiving(), self._guard_against_spurious_io_errors():
            rtsys.initialize(target_context)  # reference counting functions, which loaded code calls
            return self._load_overload(sig, target_context)
        return None  # as if it were missing

    def save_overload(self, sig: Any, data: Any) -> None:
        with self._forgiving():
            super().save_overload(sig, data)

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """Tolerate failures of loading and saving within: there is then no machine code, or none is saved."""
        try:
            yield
        except Exception as error:
            Notice.saves = False
            if self.base not in WARNED:
                WARNED.add(self.base)
                logger.warning(
                    "The kernel cache in %s cannot be used (%s), so each process compiles its kernels again; "
                    "free space there, or set NUMBA_CACHE_DIR to another folder.",
                    self.base,
                    getattr(error, "strerror", None) or error,
                )
