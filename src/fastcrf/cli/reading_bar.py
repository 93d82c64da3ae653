"""The progress of reading a large file: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fastcrf.cli.command_errors import tell
from fastcrf.cli.data_files import DataFiles, Labeled
from fastcrf.data.files.text_lines import name_of

LONGEST_NAME = 40  # characters of a path next to the bar
SOON = 0.5  # seconds: what takes less needs no bar, nor the time to load it
INTERVAL = 30.0  # seconds between two lines where there is no terminal


def read_labeled(files: DataFiles, path: str, quiet: bool = False) -> Labeled:
    """Read a file with labels and show the progress."""
    bar = Bar(name_of(path), quiet)
    labeled = files.labeled(path, bar)
    return labeled._replace(X=watched(labeled.X, bar))


def watched(sequences: Iterable[Any], bar: Bar) -> Iterator[Any]:
    """Return the sequences; the bar goes away after the last one, before training has a display of its own."""
    try:
        yield from sequences
    finally:
        bar.close()


def shortened(name: str) -> str:
    """Return the end of a long name, after three dots."""
    return name if len(name) <= LONGEST_NAME else f"...{name[3 - LONGEST_NAME :]}"


class Bar:
    """The share of a file that has been read, on standard error. Small files show nothing."""

    def __init__(
        self, name: str, quiet: bool, clock: Callable[[], float] = time.monotonic, verb: str = "reading"
    ) -> None:
        self.name, self.quiet, self.clock, self.verb = name, quiet, clock, verb
        self.shown: Any = None
        self.began = self.printed = clock()

    def __call__(self, share: float | None) -> None:
        if self.quiet or (self.shown is None and (share == 1.0 or self.clock() - self.began < SOON)):
            return
        self.shown = self.shown or self.show()
        if self.shown.disable:
            self.print_line(share)
        else:
            self.shown.update(0, completed=share, total=None if share is None else 1.0)

    def show(self) -> Any:
        from rich.console import Console  # imported here: small files do not need it
        from rich.progress import Progress

        console = Console(stderr=True)
        shown = Progress(console=console, transient=True, disable=not console.is_terminal)
        shown.add_task(f"{self.verb} {shortened(self.name)}", total=1.0)
        shown.start()
        return shown

    def print_line(self, share: float | None) -> None:
        """Print the share on a line of its own, unless the last line is recent."""
        now = self.clock()
        if now - self.printed >= INTERVAL:
            self.printed = now
            tell(f"{self.verb} {self.name}" + ("" if share is None else f": {share:.0%}"))

    def close(self) -> None:
        if self.shown is not None:
            self.shown.stop()
            self.shown = None
