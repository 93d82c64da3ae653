"""Countable work that may be interrupted: the samples of an epoch, the sequences of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol


class Interruptible(Protocol):
    """A problem whose flag for long work is set by the caller of the solver."""

    asked_to_stop: Callable[[], bool]


class Slices:
    """`n` pieces of work in slices that take well under a second; `done` of them are done.

    size: of a slice; unit: divisor of the sizes (the sequences of an update);
    stops: number of Steps while they are processed.

    The iteration ends when a Step is due or, after a slice, when `problem` asks to stop.
    """

    def __init__(self, problem: Interruptible, n: int, size: int, stops: int = 1, unit: int = 1, done: int = 0) -> None:
        self.problem, self.n, self.done = problem, n, done
        self.size = max(1, size // unit) * unit
        self.until_step = -(-n // (stops * unit)) * unit  # pieces between two Steps

    @property
    def finished(self) -> bool:
        return self.done == self.n

    def __iter__(self) -> Iterator[slice]:
        last = min(self.n, (self.done // self.until_step + 1) * self.until_step)
        while self.done < last:
            some = slice(self.done, min(self.done + self.size, last))
            yield some
            self.done = some.stop
            if self.problem.asked_to_stop():
                break

    def start_again(self) -> None:
        self.done = 0
