"""The door to the pages on papers, of which there may be none."""

from __future__ import annotations

from pathlib import Path

from _generate.markdown import write_if_changed

TEXT = """# Papers

Papers whose experiments fastcrf repeats. The [bibliography](/{bibliography}) lists all works that the solvers follow.
"""


def write_page(docs: Path) -> None:
    """Write papers.md with links to all pages of docs/papers."""
    found = sorted((docs / "papers").glob("*.md"), key=lambda path: (path.stem != "index", path.stem))
    pages = [path.relative_to(docs).with_suffix("").as_posix() for path in found]
    tree = "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n" if pages else ""
    bibliography = next(docs.rglob("bibliography.md")).relative_to(docs).as_posix()
    write_if_changed(docs / "papers.md", TEXT.format(bibliography=bibliography) + tree)
