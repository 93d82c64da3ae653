"""Announce compilation once per process. Importing this module does not load the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fastcrf.system.cache_folder import CACHE_FOLDER

COMPILING = "fastcrf is compiling the kernels for this combination of model and algorithm, which takes 5 to 20 s; "
KEPT = "later runs load them from {folder}."
NOT_KEPT = "they cannot be saved, so each process compiles them again."


class Notice:
    """The state of the notice: how many callers asked for it, and whether it has been given."""

    asked = 0  # the number of active `announce_compilation` contexts
    given = False
    saves = CACHE_FOLDER is not None  # whether compiled kernels are saved


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

        logging.getLogger("fastcrf").warning(notice())


def notice() -> str:
    """Return the text of the notice: what is compiled, how long it takes, and whether it is saved."""
    return COMPILING + (KEPT.format(folder=CACHE_FOLDER) if Notice.saves else NOT_KEPT)
