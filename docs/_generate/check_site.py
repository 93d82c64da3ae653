"""Check a built site: it loads nothing from other servers, and its links lead to pages and headings that exist.

python docs/_generate/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {  # attributes from which a browser loads files
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
}
IN_STYLES = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)")
REMOTE = re.compile(r"\s*(?:https?:)?//")


class Page(HTMLParser):
    """What a page loads, where its links lead, and the targets it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.remote: list[str] = IN_STYLES.findall(text)
        self.links: list[str] = []
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "link" and given.get("rel") in ("canonical", "alternate"):
            return
        self.remote += [given[name] for name in LOADED.get(tag, ()) if REMOTE.match(given.get(name, ""))]
        self.targets |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])


def faults(site: Path) -> Iterator[str]:
    """Yield a line for each remote file and each link that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path in sorted(site.rglob("*.css")):
        for address in IN_STYLES.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {address}"
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for address in page.remote:
            yield f"{name} loads {address}"
        for link in page.links:
            if not leads_somewhere(link, path, pages):
                yield f"{name} links to {link}"


def leads_somewhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    """Return whether a link leaves the site, or leads to a file and, in a page, to a target."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    fragment = unquote(parts.fragment)
    if target not in pages:
        return target.exists()
    return not fragment or fragment in pages[target].targets


def main() -> None:
    found = list(faults(Path(sys.argv[1])))
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
