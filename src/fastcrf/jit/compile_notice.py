"""Saying, once in a process, that the wait is for the compiler. To be imported, this needs no compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

NOTICE = "fastcrf is compiling its kernels for this machine; this takes a few seconds and happens only once."


class Notice:
    """Whether somebody asked for the notice, and whether it has been given."""

    asked = 0  # by so many who are within `announce_compilation`
    given = False


@contextmanager
def announce_compilation() -> Iterator[None]:
    """Within, the first compilation of a kernel in this process is announced through the logger `fastcrf`."""
    Notice.asked += 1
    try:
        yield
    finally:
        Notice.asked -= 1


def listen_to_compiler() -> None:
    """Listen to Numba's event of compiling a kernel of ours. Loading one from the cache is no such event."""
    with suppress(ImportError, AttributeError):  # without this event there is no notice
        from numba.core import event

        class Listener(event.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                if event.data["dispatcher"].py_func.__module__.startswith("fastcrf."):
                    compilation_begins()

            def on_end(self, event: Any) -> None:
                """Nothing to say."""

        event.register("numba:compile", Listener())


def compilation_begins() -> None:
    """A kernel is about to be compiled."""
    if Notice.asked and not Notice.given:
        Notice.given = True
        import logging  # here: most processes that tag never compile

        logging.getLogger("fastcrf").warning(NOTICE)
