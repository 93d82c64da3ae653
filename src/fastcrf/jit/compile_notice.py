"""Announce compilation once per process. Importing this module does not load the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

NOTICE = "fastcrf is compiling its kernels for this machine; this takes a few seconds and happens only once."


class Notice:
    """The state of the notice: how many callers asked for it, and whether it has been given."""

    asked = 0  # the number of active `announce_compilation` contexts
    given = False


@contextmanager
def announce_compilation() -> Iterator[None]:
    """Announce the first compilation of a kernel within, through the logger `fastcrf`."""
    Notice.asked += 1
    try:
        yield
    finally:
        Notice.asked -= 1


def listen_to_compiler() -> None:
    """Listen to Numba's event of compiling a kernel of this package. Loading one from the cache is no such event."""
    with suppress(ImportError, AttributeError):  # without this event there is no notice
        from numba.core import event

        class Listener(event.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                if event.data["dispatcher"].py_func.__module__.startswith("fastcrf."):
                    compilation_begins()

            def on_end(self, event: Any) -> None:
                """Do nothing."""

        event.register("numba:compile", Listener())


def compilation_begins() -> None:
    """Announce that a kernel is about to be compiled."""
    if Notice.asked and not Notice.given:
        Notice.given = True
        import logging  # imported here: most processes that tag never compile

        logging.getLogger("fastcrf").warning(NOTICE)
