"""Folders of files that outlive a process: compiled kernels, the checkpoint secret, records of experiments."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

KEPT_VERSIONS = 8  # per module, of machine code: a new version deletes older ones


def user_cache_folder() -> Path:
    """Return this user's folder for cached files of fastcrf, by the convention of the operating system."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "fastcrf" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fastcrf"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fastcrf"


def kernel_cache_folder() -> Path | None:
    """Return a writable folder for compiled kernels, or None. NUMBA_CACHE_DIR takes precedence."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_folder())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


def lab_folder() -> Path:
    """Return the default folder of experiments. NUMBA_CACHE_DIR does not change it."""
    return user_cache_folder() / "lab"


@functools.cache
def version_folder(base: Path, module: str, version: str) -> Path:
    """Return the folder for the machine code of one version of a module. Code with bounds checks has a separate
    folder.
    """
    checks_bounds = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")
    folder = base / module / (f"{version}-checked" if checks_bounds else version)
    with suppress(OSError):
        if not folder.is_dir():
            folder.mkdir(parents=True)
            for old in sorted(folder.parent.iterdir(), key=os.path.getmtime, reverse=True)[KEPT_VERSIONS:]:
                shutil.rmtree(old, ignore_errors=True)
    return folder


CACHE_FOLDER = kernel_cache_folder()
