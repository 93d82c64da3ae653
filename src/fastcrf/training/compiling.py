"""Saying, once in a process, that the wait is for the compiler."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from typing import Any

from numba.core import event

logger = logging.getLogger("fastcrf")

NOTICE = "fastcrf is compiling its kernels for this machine; that takes some seconds and happens once."


class Announcer(event.Listener):
    """Logs the notice when Numba really compiles a kernel of ours. (Loading one from the cache is no such event.)"""

    def __init__(self) -> None:
        self.announced = False

    def on_start(self, event: Any) -> None:
        ours = event.data["dispatcher"].py_func.__module__.startswith("fastcrf.")
        if ours and not self.announced:
            self.announced = True
            logger.warning(NOTICE)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


ANNOUNCER = Announcer()


def announce_compilation() -> AbstractContextManager[Any]:
    """Within, the first compilation of a kernel in this process is announced through the logger `fastcrf`."""
    return event.install_listener("numba:compile", ANNOUNCER)
