"""Pieces of HTML: tables, tables with shaded cells, and the style that they have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any


def text_of(value: Any) -> str:
    """Return a value as HTML text. Bytes that are not UTF-8 are replaced."""
    return escape(str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table; the cells of `rows` are HTML already."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{named}<thead><tr>{titles}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and values, one pair per line, without pairs that have no value."""
    lines = (f"<dt>{escape(name)}</dt><dd>{text_of(value)}</dd>" for name, value in pairs if value)
    return f"<dl>{''.join(lines)}</dl>"


def matrix(labels: Sequence[Any], cells: Sequence[Sequence[float]], corner: str, digits: int) -> str:
    """Return a table with a row and a column per label; cells are shaded by size, with two colors for the signs."""
    largest = max((abs(value) for row in cells for value in row), default=0.0) or 1.0
    head = "".join(f'<th scope="col">{text_of(label)}</th>' for label in labels)
    rows = "\n".join(
        f'<tr><th scope="row">{text_of(label)}</th>{"".join(shaded(value, largest, digits) for value in row)}</tr>'
        for label, row in zip(labels, cells, strict=True)
    )
    return (
        f'<div class="wide"><table class="matrix"><thead><tr><th>{escape(corner)}</th>{head}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def shaded(value: float, largest: float, digits: int) -> str:
    if value == 0.0:
        return "<td></td>"
    sign, share = "minus" if value < 0.0 else "plus", abs(value) / largest
    return f'<td class="{sign}" style="--share:{share:.2f}">{value:,.{digits}f}</td>'


def style() -> str:
    """Return the style sheet of the pieces."""
    return files("fastcrf.markup").joinpath("parts.css").read_text("utf-8")
