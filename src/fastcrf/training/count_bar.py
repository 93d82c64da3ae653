"""A bar over things that are done one after another, such as models or files, with the time left."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class CountBar:
    """Show on standard error how many of `total` are done: a bar on a terminal, nothing elsewhere.

    A context manager; `advance` may be called from any thread.
    """

    def __init__(self, title: str, total: int, quiet: bool = False, console: Any = None) -> None:
        self.title, self.total, self.quiet, self.console = title, total, quiet, console
        self._bar: Any = None

    def __enter__(self) -> CountBar:
        if not self.quiet:
            from rich.console import Console  # here, because a quiet run does not need it

            console = self.console or Console(stderr=True)
            if console.is_terminal:
                self._start(console)
        return self

    def _start(self, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=console, transient=True)
        self._bar.add_task(self.title, total=self.total)
        self._bar.start()

    @property
    def visible(self) -> bool:
        return self._bar is not None

    def advance(self, text: str = "") -> None:
        """Count one more; print `text` above the bar."""
        if self._bar is not None:
            if text:
                self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)
            self._bar.advance(0)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
