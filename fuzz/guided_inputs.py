"""What Atheris calls: bytes in, and nothing comes out unless something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from fastcrf.data.files.conll import read_columns
from fastcrf.data.files.crfsuite_items import read_items
from fuzz import files, values
from fuzz.verdict import ACCEPTED, REFUSED, verdict

FOLDER = Path(mkdtemp())


def use_columns(data: bytes) -> None:
    list(read_columns(files.written(FOLDER / "columns", data)))


def use_items(data: bytes) -> None:
    list(read_items(files.written(FOLDER / "items", data)))


def use_template(data: bytes) -> None:
    files.use_template(data.decode("utf-8", "surrogateescape"))


def use_regex(data: bytes) -> None:
    regex, _, text = data.partition(b"\0")
    values.match_both(regex.decode("utf-8", "surrogateescape")[:40], text[:500])


USES: dict[str, Callable[[bytes], None]] = {
    "columns": use_columns,
    "items": use_items,
    "templates": use_template,
    "models": files.use_model,
    "regular-expressions": use_regex,
}
SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "columns": lambda: files.COLUMNS,
    "items": lambda: files.ITEMS,
    "templates": lambda: files.TEMPLATES,
    "models": files.saved_models,
    "regular-expressions": lambda: [b"^.*a?$\0banana", b"\\d\\A*\\.\0 1. x", b"a*b*c*\0aabbcc"],
}


def judge(use: Callable[[bytes], None], data: bytes) -> None:
    found = verdict(lambda: use(data))
    if found not in (ACCEPTED, REFUSED):
        raise AssertionError(found)
