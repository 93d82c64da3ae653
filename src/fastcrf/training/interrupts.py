"""Handle Ctrl-C: the first asks the run to end after the current step, the second interrupts it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """A flag that records Ctrl-C."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def catch_interrupt() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C within into `asked`. Outside the main thread, signal handlers stay unchanged."""
    interrupt = Interrupt()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield interrupt  # before is None: a handler that Python did not install and could not put back
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
