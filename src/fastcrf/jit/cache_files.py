"""A cache of machine code that heals itself.

Numba keeps an index and data files for each function, and trusts them: a file that was cut off (a full disk, a machine
that lost power) makes every later process fail, and a flipped byte would be executed. Here every file carries the
SHA-256 of its content. What does not match it, or cannot be read, counts as not there: the kernel is compiled again and
the file replaced. What cannot be written costs the next process the time to compile, and nothing else; one warning
names the folder.
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

logger = logging.getLogger("fastcrf")

DIGEST = hashlib.sha256().digest_size
WARNED: set[str] = set()  # folders of which a warning has been given


class CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and data files, each with the checksum of its content before it."""

    def _load_index(self) -> dict[Any, str]:
        try:
            version, stamp, overloads = pickle.loads(self._checked(self._index_path))
        except Exception:  # whatever it is: an index that cannot be used is an empty one, and is replaced by the next
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        try:
            return pickle.loads(self._checked(self._data_path(name)))
        except Exception as error:
            raise OSError(f"{name} cannot be used: {error}") from None  # which Numba takes for: not there

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest())
            file.write(content)

    def _checked(self, path: str) -> bytes:
        """The content of a file, if it is what was written."""
        with open(path, "rb") as file:
            digest, content = file.read(DIGEST), file.read()
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("it does not match its checksum")
        return content


class CheckedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, which no fault of a file can turn into a failure."""

    def __init__(self, py_func: Any, base: str) -> None:
        super().__init__(py_func)
        self.base = base  # the folder of the whole cache, for the warning
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As in Numba, but without all that only a compiler needs, which takes a seventh of a second to import; it does
        that by itself when there is something to compile."""
        with self._forgiving(), self._guard_against_spurious_io_errors():
            rtsys.initialize(target_context)  # counts of references, which loaded code calls
            return self._load_overload(sig, target_context)
        return None  # as if it were not there

    def save_overload(self, sig: Any, data: Any) -> None:
        with self._forgiving():
            super().save_overload(sig, data)

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """Within, loading or saving may fail: then there is no machine code yet, or none is kept."""
        try:
            yield
        except Exception as error:
            if self.base not in WARNED:
                WARNED.add(self.base)
                logger.warning(
                    "The kernel cache in %s cannot be used (%s), so kernels are compiled anew in each process; make "
                    "room there, or set NUMBA_CACHE_DIR to another folder.",
                    self.base,
                    getattr(error, "strerror", None) or error,
                )
