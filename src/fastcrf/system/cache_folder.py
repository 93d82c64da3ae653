"""Folders of files that outlive a process: compiled kernels, the secret of checkpoints, rows of experiments."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def user_cache_folder() -> Path:
    """This user's folder for cached files of fastcrf, by the convention of the operating system."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "fastcrf" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fastcrf"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fastcrf"


def kernel_cache_folder() -> Path | None:
    """A writable folder for compiled kernels, or None. NUMBA_CACHE_DIR comes first."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_folder())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


def lab_folder() -> Path:
    """Where runs are kept unless somebody says where. NUMBA_CACHE_DIR does not move it."""
    return user_cache_folder() / "lab"


CACHE_FOLDER = kernel_cache_folder()
