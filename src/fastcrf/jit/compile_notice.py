"""Saying, once in a process, that the wait is for the compiler. Nothing here needs the compiler to be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


def compilation_begins() -> None:
    """A kernel is about to be compiled."""
    if Notice.asked and not Notice.given:
        Notice.given = True
        import logging  # here: most processes that tag never compile

        logging.getLogger("fastcrf").warning(NOTICE)
