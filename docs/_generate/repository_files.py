"""Files at the root of the repository as pages, and links from pages to files that are no pages."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from _generate.markdown import write_if_changed

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOME = "https://github.com/fastcrf/fastcrf"
COPIED = {"CONTRIBUTING.md": "contributing", "SECURITY.md": "security", "CHANGELOG.md": "changelog"}
LINK = re.compile(r"(?<=\]\()(?!https?:|#|/)([^)#\s]+)")


def write_pages(folder: Path) -> None:
    """Copy the root's pages to `folder`, with links that lead from there to the same files."""
    for name, page in COPIED.items():
        write_if_changed(folder / f"{page}.md", with_links((ROOT / name).read_text(), ROOT, folder))


def rewrite_links(app: Any, page: str, text: list[str]) -> None:
    """Let links of a page to files outside the documentation lead to the repository."""
    source = Path(app.env.doc2path(page))
    if source.suffix == ".md" and not source.name.startswith(tuple(COPIED.values())):
        text[0] = with_links(text[0], source.parent, source.parent)


def with_links(text: str, before: Path, after: Path) -> str:
    """Return a text that stood in one folder and now stands in another, with the same targets."""
    return LINK.sub(lambda link: target(before / link[1], after), text)


def target(path: Path, folder: Path) -> str:
    """Return the link to a file of the repository from a page in `folder`."""
    file = Path(os.path.normpath(path.absolute()))
    if file.parent == ROOT and file.name in COPIED:
        file = DOCS / "develop" / f"{COPIED[file.name]}.md"
    if file.parent == ROOT / "examples" and file.suffix == ".py":
        file = DOCS / "tutorials" / f"{file.stem}.rst"
    if file.is_relative_to(DOCS) and not file.is_dir():
        return Path(os.path.relpath(file, folder)).as_posix()
    return f"{HOME}/{'tree' if file.is_dir() else 'blob'}/main/{file.relative_to(ROOT).as_posix()}"
