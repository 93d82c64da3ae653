"""Show the progress of a run: a live line on a terminal, plain lines at intervals elsewhere.

Any object with `start(title)`, `update(row)` and `finish(row, reason)` can replace `Progress`.
"""

from __future__ import annotations

import math
import time
from typing import Any, Protocol

from fastcrf.training.trace import COLUMNS, ESTIMATE, Row

SPINNER = 4  # columns of a live line before and after its title


class Display(Protocol):
    """An object that shows the progress of a run. All calls are outside the solver's clock; `finish` is always
    called.
    """

    def start(self, title: str) -> None: ...

    def update(self, row: Row) -> None: ...

    def finish(self, row: Row | None, reason: str) -> None: ...


class Silent:
    """Show nothing."""

    def start(self, title: str) -> None: ...

    def update(self, row: Row) -> None: ...

    def finish(self, row: Row | None, reason: str) -> None: ...


class Progress:
    """Show the newest row with rich on standard error: live on a terminal, else at most one line per `interval`.

    `finish` prints why the run ended, unless `reason` is False because another part of the program prints it.
    """

    def __init__(self, console: Any = None, interval: float = 1.0, reason: bool = True) -> None:
        from rich.console import Console  # here, so that training without a display does not import rich

        self.console = console or Console(stderr=True)
        self.interval, self.reason = interval, reason
        self._status: Any = None
        self._printed = 0.0

    def start(self, title: str) -> None:
        self._title, self._printed = title, time.monotonic()
        if self.console.is_terminal:
            self._status = self.console.status(title)
            self._status.start()

    def update(self, row: Row) -> None:
        if self._status is not None:
            width = self.console.width - len(self._title) - SPINNER
            self._status.update(f"{self._title}  {line(row, width)}")
        elif time.monotonic() - self._printed >= self.interval:
            self._print(row)

    def finish(self, row: Row | None, reason: str) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
        if row is not None:
            self._print(row)
        if self.reason:
            self.console.print(f"{self._title}  {reason}", highlight=False, markup=False, soft_wrap=True)

    def _print(self, row: Row) -> None:
        self._printed = time.monotonic()
        self.console.print(f"{self._title}  {line(row)}", highlight=False, markup=False, soft_wrap=True)


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
