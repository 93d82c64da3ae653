"""Small pieces of Markdown."""

from __future__ import annotations

import re
from pathlib import Path

SPECIAL = re.compile(r"([\\*_<>\[\]|#~])")
CODE = re.compile(r"(`+[^`]+`+)")


def escaped(text: str) -> str:
    """Return prose of a docstring as Markdown on one line; what is in backticks stays code."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(part if k % 2 else SPECIAL.sub(r"\\\1", part) for k, part in enumerate(parts))


def table(rows: list[list[str]], header: list[str]) -> str:
    """Return a table; a bar inside a cell is escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("\\|", "|").replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def write_if_changed(path: Path, text: str) -> None:
    """Leave a page alone that is up to date, so that Sphinx need not read it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_folder(folder: Path, pages: dict[str, str]) -> None:
    """Write pages by file name, and remove others that an earlier build wrote."""
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        write_if_changed(folder / name, text)
