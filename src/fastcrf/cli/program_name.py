"""The name by which this program was called, for messages that the reader can paste into a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

USUAL = "fastcrf"


def program_name() -> str:
    """Return the command that runs this program again: `fastcrf` if the shell finds it, else the path as given."""
    called = sys.argv[0] if sys.argv else ""
    if os.path.basename(called) == "__main__.py":
        return f"{python_name()} -m fastcrf"
    if not os.path.isfile(called) or is_on_path(called):
        return USUAL
    return shlex.quote(called)


def is_on_path(path: str) -> bool:
    """Return whether the shell finds this program by its usual name."""
    found = shutil.which(USUAL)
    return found is not None and os.path.realpath(found) == os.path.realpath(path)


def python_name() -> str:
    """Return `python`, or the path of the interpreter if the shell finds another one by that name."""
    found = shutil.which("python")
    return "python" if found is not None and os.path.samefile(found, sys.executable) else shlex.quote(sys.executable)
