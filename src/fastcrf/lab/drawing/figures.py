"""Figures of a comparison, drawn from rows alone: png, svg or pdf by matplotlib, html by hand (`page.py`)."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from fastcrf.displays import ConvergenceDisplay, import_pyplot
from fastcrf.lab.drawing.page import page
from fastcrf.lab.store import Row, Rows
from fastcrf.lab.summary import by_problem
from fastcrf.system.atomic_write import replace_file

KINDS = (".png", ".svg", ".pdf", ".html")
SPENT = ("passes", "seconds")
HIGHEST_ERROR = 3.0  # times the lowest: what is above is not shown
PANEL = (6.0, 4.0)  # inches


def check_figure(path: str | os.PathLike[str]) -> None:
    """Raise one sentence if no figure can be drawn there, before the work is done."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"The name of a figure must end in {', '.join(KINDS)}; got {os.fspath(path)!r}.")
    if kind != ".html":
        try:
            import_pyplot()
        except ImportError as error:
            raise ValueError(f"{error} A figure in .html needs no extra package.") from None


def save_figure(rows: Rows, path: str | os.PathLike[str]) -> None:
    """Draw the rows into a file; its ending says what kind."""
    kind = Path(path).suffix.lower()
    replace_file(path, page(rows).encode() if kind == ".html" else image(rows, kind.removeprefix(".")))


def image(rows: Rows, kind: str) -> bytes:
    """The bytes of an image: for each problem, gap and error against passes and against seconds."""
    from matplotlib.figure import Figure

    lines = [(own, measure) for own in by_problem(rows) for measure in measures(own)]
    width, height = PANEL
    figure = Figure(figsize=(width * len(SPENT), height * len(lines)), layout="constrained")
    panels: Any = figure.subplots(len(lines), len(SPENT), squeeze=False)
    for line, (own, measure) in zip(panels, lines, strict=True):
        for ax, spent in zip(line, SPENT, strict=True):
            ConvergenceDisplay.from_rows(own, x=spent, y=measure, ax=ax)
            show_the_end(ax, own, measure)
            ax.grid(alpha=0.3)
            ax.set_title(title(own[-1]), fontsize="medium")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=120)
    return buffer.getvalue()


def measures(rows: Rows) -> list[str]:
    """The gap, and the error where there are held-out data."""
    return ["suboptimality", *(["error"] if any(row.get("error") is not None for row in rows) else [])]


def show_the_end(ax: Any, rows: Rows, measure: str) -> None:
    """Errors begin near 1, and what matters is their last percent: leave the beginning out."""
    lowest = min((row["error"] for row in rows if row.get("error")), default=0.0)
    if measure == "error" and lowest > 0.0:
        ax.set_ylim(0.9 * lowest, min(1.0, HIGHEST_ERROR * lowest))


def title(row: Row) -> str:
    return f"{row['dataset']}, c1={row['c1']:g}, c2={row['c2']:g}"
