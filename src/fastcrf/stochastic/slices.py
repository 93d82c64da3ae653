"""Work that is counted and may be broken off: the draws of an epoch, the sequences of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol


class Interruptible(Protocol):
    """A problem: whoever runs the solver sets what long work asks."""

    asked_to_stop: Callable[[], bool]


class Slices:
    """`n` pieces of work, handed out in slices that take well under a second; `done` of them are.

    size:  of a slice; unit: what sizes are multiples of (the sequences of an update);
    stops: how often a Step is due while they are worked through.
    Going through the slices ends where a Step is due, or, after a slice, when `problem` says that it is asked to stop.
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
