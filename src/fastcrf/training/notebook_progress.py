"""The progress of a run in a notebook: the newest row, and the certified gap as it falls."""

from __future__ import annotations

import time
from collections.abc import Iterable
from html import escape
from typing import Any

from fastcrf.training.progress import line
from fastcrf.training.time_left import TimeLeft, in_words
from fastcrf.training.trace import Row

REFRESH = 0.5  # seconds between two states
MOST_POINTS = 200  # of the curve
PART = """<div class="fastcrf"><style>{style}</style><p>{text}</p><figure>{curve}</figure></div>"""


class NotebookProgress:
    """Draw below the cell. The last state stays, with the reason why the run ended."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []  # passes, certified relative gap
        self._handle: Any = None
        self._drawn = 0.0

    def start(self, title: str, stop: Iterable[Any] = ()) -> None:
        from IPython.display import HTML, display

        self._title, self._left = title, TimeLeft(stop)
        self._handle = display(HTML(self._part(title)), display_id=True)

    def update(self, row: Row) -> None:
        self._left.add(row)
        gap = row["relative_gap"]
        if gap is not None and 0.0 < gap <= 1.0 and row["passes"] > 0.0:
            self.points.append((row["passes"], gap))
        if time.monotonic() - self._drawn >= REFRESH:
            self._drawn = time.monotonic()
            left = in_words(self._left.estimate(row).seconds)
            self._draw("  ".join(filter(None, (self._title, line(row), left))))

    def finish(self, row: Row | None, reason: str) -> None:
        if self._handle is not None:
            self._draw("  ".join(filter(None, (self._title, line(row) if row else "", reason))))

    def _draw(self, text: str) -> None:
        from IPython.display import HTML

        self._handle.update(HTML(self._part(text)))

    def _part(self, text: str) -> str:
        from fastcrf.markup.parts import style
        from fastcrf.report.charts import training_curve

        every = max(1, len(self.points) // MOST_POINTS)
        shown = [*self.points[:-1:every], *self.points[-1:]]
        curve = training_curve(shown) if len(shown) > 1 else ""
        return PART.format(style=style(), text=escape(text.replace("  ", " \N{MIDDLE DOT} ")), curve=curve)
