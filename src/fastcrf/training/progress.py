"""Show the progress of a run: a bar with the time left on a terminal, a falling curve in a notebook, little elsewhere.

Any object with `start(title, stop)`, `update(row)` and `finish(row, reason)` can replace `Progress`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, Protocol

from fastcrf.training.time_left import Estimate, TimeLeft, in_words
from fastcrf.training.trace import COLUMNS, ESTIMATE, Row

BAR = 16  # columns
BESIDE = 8  # columns of spaces, and of the percentage
REFRESH = 0.1  # seconds between two states of a bar


class Display(Protocol):
    """An object that shows the progress of a run. All calls are outside the solver's clock; `finish` is always
    called. `stop` are the rules that end the run.
    """

    def start(self, title: str, stop: Iterable[Any] = ()) -> None: ...

    def update(self, row: Row) -> None: ...

    def finish(self, row: Row | None, reason: str) -> None: ...


class Silent:
    """Show nothing."""

    def start(self, title: str, stop: Iterable[Any] = ()) -> None: ...

    def update(self, row: Row) -> None: ...

    def finish(self, row: Row | None, reason: str) -> None: ...


class Progress:
    """Show the newest row with rich on standard error: beside a bar on a terminal, else one line per `interval`.

    `finish` prints why the run ended, unless `reason` is False because another part of the program prints it.
    """

    def __init__(self, console: Any = None, interval: float = 30.0, reason: bool = True) -> None:
        from rich.console import Console  # here, so that training without a display does not import rich

        self.console = console or Console(stderr=True)
        self.interval, self.reason = interval, reason
        self._bar: Any = None
        self._printed = 0.0

    def start(self, title: str, stop: Iterable[Any] = ()) -> None:
        self._title, self._printed, self._left = title, time.monotonic(), TimeLeft(stop)
        if self.console.is_terminal:
            self._bar = make_bar(self.console)
            self._bar.add_task(title, total=None, line="")
            self._bar.start()

    def update(self, row: Row) -> None:
        self._left.add(row)
        now = time.monotonic()
        if self._bar is None:
            if now - self._printed >= self.interval:
                self._print(row)
        elif now - self._printed >= REFRESH:
            self._printed = now
            self._show(row, self._left.estimate(row))

    def _show(self, row: Row, estimate: Estimate) -> None:
        left = in_words(estimate.seconds)
        width = self.console.width - len(self._title) - BAR - BESIDE - len(left)
        total = None if estimate.share is None else 1.0
        text = "  ".join(filter(None, (left, line(row, width))))
        self._bar.update(0, total=total, completed=estimate.share or 0.0, line=text)

    def finish(self, row: Row | None, reason: str) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if row is not None:
            self._print(row)
        if self.reason:
            self.console.print(f"{self._title}  {reason}", highlight=False, markup=False, soft_wrap=True)

    def _print(self, row: Row) -> None:
        self._printed = time.monotonic()
        self.console.print(f"{self._title}  {line(row)}", highlight=False, markup=False, soft_wrap=True)


def make_bar(console: Any) -> Any:
    """Return a bar that disappears at the end, with a line of text beside it."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(BAR),
        TaskProgressColumn(),
        TextColumn("{task.fields[line]}", markup=False),
    )
    return Bar(*columns, console=console, transient=True)


def line(row: Row, width: float = math.inf) -> str:
    """Format a row as one line of at most `width` characters, with the most important values first."""
    parts = [f"step {row['step']}"]
    objective = row.get(ESTIMATE) if row["objective"] is None else row["objective"]
    if objective is not None:
        parts.append(f"objective {objective:,.2f}")
    if row["relative_gap"] is not None and row["relative_gap"] <= 1.0:  # a larger gap carries no information
        parts.append(f"gap {row['relative_gap']:.1e}")
    parts += [f"{name} {value:.4g}" for name, value in row.items() if name not in (*COLUMNS, ESTIMATE)]
    parts += [f"{row['seconds']:.1f} s", f"passes {row['passes']:.4g}"]
    while len(parts) > 1 and len("  ".join(parts)) > width:
        parts.pop()
    return "  ".join(parts)
