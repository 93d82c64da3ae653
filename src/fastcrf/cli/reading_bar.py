"""A bar that shows how much of a large file has been read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fastcrf.cli.data_files import DataFiles, Labeled
from fastcrf.data.files.text_lines import name_of


def read_labeled(files: DataFiles, path: str, quiet: bool = False) -> Labeled:
    """A file with labels; while it is read, a bar shows how far that is."""
    bar = Bar(name_of(path), quiet)
    labeled = files.labeled(path, bar)
    return labeled._replace(X=watched(labeled.X, bar))


def watched(sequences: Iterable[Any], bar: Bar) -> Iterator[Any]:
    """The sequences themselves; the bar goes away after the last one, before training has a display of its own."""
    try:
        yield from sequences
    finally:
        bar.close()


class Bar:
    """A bar on standard error, if that is a terminal. It appears when there is something to tell."""

    def __init__(self, name: str, quiet: bool) -> None:
        self.name, self.quiet = name, quiet
        self.shown: Any = None

    def __call__(self, share: float | None) -> None:
        if self.quiet or (self.shown is None and share == 1.0):  # a file that was read at once needs no bar
            return
        self.shown = self.shown or self.show()
        self.shown.update(0, completed=share, total=None if share is None else 1.0)

    def show(self) -> Any:
        from rich.console import Console  # here, because small files never need it
        from rich.progress import Progress

        console = Console(stderr=True)
        shown = Progress(console=console, transient=True, disable=not console.is_terminal)
        shown.add_task(f"reading {self.name}", total=1.0)
        shown.start()
        return shown

    def close(self) -> None:
        if self.shown is not None:
            self.shown.stop()
            self.shown = None
