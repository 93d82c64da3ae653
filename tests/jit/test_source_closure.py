"""What a source file depends on: everything that it imports, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fastcrf.jit.source_closure import PACKAGE, closure, closure_hash, file_of_name, imported_files

SOURCES = {
    "__init__.py": '__version__ = "1"',
    "top.py": "from house.middle import (  # both\n    one,  # this, and that\n    two as deux,\n)\n",
    "middle.py": "import os, house.rooms.kitchen as k\n\ndef one():\n    from house.rooms import cellar\n",
    "rooms/__init__.py": "LIGHT = 1",
    "rooms/kitchen.py": "from house import top",
    "rooms/cellar.py": "import numpy",
    "rooms/attic.py": "from house.rooms import LIGHT",
}


@pytest.fixture
def house(tmp_path):
    """A package of our own making."""
    for name, text in SOURCES.items():
        file = tmp_path / "house" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "house"


def names(files, house):
    return {Path(file).relative_to(house).as_posix() for file in files}


def test_a_file_depends_on_what_its_imports_import_also_in_circles_and_within_functions(house):
    circle = {"top.py", "middle.py", "rooms/kitchen.py", "rooms/cellar.py"}
    assert names(closure(str(house / "top.py"), str(house)), house) == circle
    assert names(closure(str(house / "rooms" / "cellar.py"), str(house)), house) == {"rooms/cellar.py"}
    assert names(closure(str(house / "rooms" / "attic.py"), str(house)), house) == {
        "rooms/attic.py",
        "rooms/__init__.py",
    }


def test_the_hash_is_that_of_the_closure(tmp_path):
    """Each house is read once, so each edit has a house of its own."""
    hashes = {}
    for edited in (None, *SOURCES):
        house = tmp_path / str(edited).replace("/", "-") / "house"
        for name, text in SOURCES.items():
            (house / name).parent.mkdir(parents=True, exist_ok=True)
            (house / name).write_text(text + "# edited" * (name == edited))
        hashes[edited] = closure_hash([str(house / "top.py")], str(house))
    same = {name for name, value in hashes.items() if value == hashes[None]}
    assert same == {None, "__init__.py", "rooms/__init__.py", "rooms/attic.py"}


def test_the_package_is_the_one_that_imports_name():
    """Were it a folder within, each closure would be one file, and stale machine code would run after edits."""
    assert Path(PACKAGE).name == "fastcrf"


def test_no_import_of_the_package_is_overlooked():
    """The parser is the slow twin."""
    for path in sorted(Path(PACKAGE).rglob("*.py")):
        imported = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {file_of_name(alias.name) for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported |= {file_of_name(f"{node.module}.{alias.name}") for alias in node.names}
        assert imported - {""} <= imported_files(str(path)), path
