"""The pages of the repository: those at its root and those of the documentation, without what the site generates."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
GENERATED = [
    REPOSITORY / line.rstrip("/")
    for line in (REPOSITORY / ".gitignore").read_text().splitlines()
    if line.startswith("docs/")
]


def is_generated(path: Path) -> bool:
    return any(path.is_relative_to(generated) for generated in GENERATED)


PAGES = [page for page in sorted([*REPOSITORY.glob("*.md"), *DOCS.rglob("*.md")]) if not is_generated(page)]
