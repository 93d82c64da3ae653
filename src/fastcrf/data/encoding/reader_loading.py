"""Load the compiled reader of items in a thread; no call waits for it.

Loading the machine code takes 0.03 s of CPU time once Numba is loaded, compiling it on a new machine about 2 s. So a
process begins in plain Python; when it has read so much that loading pays, a thread loads the reader, and the next
sequence uses it. Both read the same.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from typing import Any

from fastcrf.data.encoding.items import flatten

READER = "fastcrf.data.encoding.stream_gatherer"
WORTH_LOADING = 300_000  # attributes, 0.06 s of plain Python


class Loading:
    """The state of this process."""

    module: Any = None  # READER, when it may be used
    thread: threading.Thread | None = None
    n_plain = 0  # attributes that were read in plain Python
    lock = threading.Lock()


def reader() -> Any:
    """Return the module of the compiled reader, or None while plain Python reads."""
    return Loading.module


def count_plain(n_attributes: int) -> None:
    """Take note of what plain Python has read; begin to load the reader when that pays."""
    Loading.n_plain += n_attributes
    if Loading.thread is None and Loading.n_plain > WORTH_LOADING and is_possible():
        with Loading.lock:
            if Loading.thread is None:
                Loading.thread = threading.Thread(target=load, name="fastcrf reader")
                Loading.thread.start()


def is_possible() -> bool:
    """Return whether this interpreter can use the reader.

    Without a GIL, marshal may crash when another thread changes what it writes (CPython issue 157108).
    """
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return bool(has_gil) and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def load() -> None:
    """Load the reader, compile it where necessary, and see whether it reads a sample as `flatten` does."""
    try:
        module = import_module(READER)
        if module.reads_like(flatten):
            Loading.module = module
    except Exception:  # plain Python continues to read, more slowly
        return


def wait_until_loaded() -> None:
    """Wait for the thread, if it runs: a process that is forked meanwhile would hold the compiler's lock forever."""
    if Loading.thread is not None and Loading.thread is not threading.current_thread():
        Loading.thread.join()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait_until_loaded)
