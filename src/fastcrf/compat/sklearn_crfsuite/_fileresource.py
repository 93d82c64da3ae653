"""The model file of an estimator: one that the user named, or a temporary one that a pickle takes along.

A pickle has the layout of sklearn-crfsuite's, so that those made by it can be read. The temporary file of an unpickled
model is written only when its name is asked for; what was read from the pickle serves as well.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import Any

CONTENT = "__FILE_RESOURCE_DATA__"


class FileResource:
    """The place of a model file. Temporary files are deleted with this object."""

    def __init__(self, filename: Any = None, keep_tempfiles: bool = False, suffix: str = "", prefix: str = "") -> None:
        self.auto = filename is None
        self.keep_tempfiles, self.suffix, self.prefix = keep_tempfiles, suffix, prefix
        self._path, self._content = filename, None

    @property
    def name(self) -> Any:
        """Return the path, or None while there is no model."""
        if self._path is None and self._content is not None:
            self.ensure_name()
            with open(self._path, "wb") as file:
                file.write(self._content)
        return self._path

    @property
    def is_there(self) -> bool:
        """Return whether there is a model, or at least a path."""
        return self._path is not None or self._content is not None

    def content(self) -> bytes:
        """Return the content of the file."""
        if self._content is not None:
            return self._content
        with open(self._path, "rb") as file:
            return file.read()

    def ensure_name(self) -> None:
        """Make a temporary file if no file was named."""
        if self._path is None:
            descriptor, self._path = tempfile.mkstemp(self.suffix, self.prefix)
            os.close(descriptor)

    def cleanup(self) -> None:
        """Remove a temporary file."""
        if self.auto:
            self._content = None
            if self._path is not None and not self.keep_tempfiles:
                with suppress(OSError):  # somebody was faster
                    os.unlink(self._path)
                self._path = None

    def refresh(self) -> None:
        """Use another file for another model."""
        self.cleanup()
        self.ensure_name()

    def __del__(self) -> None:
        with suppress(Exception):  # Python is shutting down, or the constructor failed
            self.cleanup()

    def __getstate__(self) -> dict[str, Any]:
        state = {"name": self._path, "auto": self.auto, "keep_tempfiles": self.keep_tempfiles}
        state |= {"suffix": self.suffix, "prefix": self.prefix}
        if self.auto:
            state["name"] = None
            if self.is_there:
                state[CONTENT] = self.content()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.auto = state.get("auto", True)
        self.keep_tempfiles = state.get("keep_tempfiles", False)
        self.suffix, self.prefix = state.get("suffix", ""), state.get("prefix", "")
        self._path, self._content = state.get("name"), state.get(CONTENT)
